/**
 * Machines of Latitude.sh.
 *
 * Promises what `MachineDriver` promises. The claim's mark is a user data object that the order names (`mark.ts`), since the
 * API has no other field of the caller's in an order. The calls follow the API's OpenAPI document; the key goes to
 * the endpoint only. Limits: no spot market, no reservations, no facilities; virtual networks belong to the server,
 * not to a port, and their numbers are Latitude's choice. Knows nothing of Kubernetes objects.
 */
import { Fault, isFault } from "@slipway/base";
import type { Machine, MachineDriver } from "../../machine.ts";
import type { DriverFactory } from "../../provider.ts";
import { Claims } from "./claims.ts";
import { latitudeClient } from "./client.ts";
import { type Mark, markText } from "./mark.ts";
import { NETWORK_MODES, settled, setVlans, type VlanNumbers } from "./network.ts";
import { machineOf } from "./observe.ts";
import { concernsAbout, planOf, wireOrder } from "./order.ts";
import { priceAt } from "./prices.ts";
import { projectFinder } from "./project.ts";
import { openSession } from "./session.ts";
import type { OrderAttributes, WireServer } from "./wire.ts";

export const PUBLIC_ENDPOINT = "https://api.latitude.sh";

const POWER = { on: "power_on", off: "power_off", cycle: "reboot" } as const;

/** The driver of one Latitude.sh account. Nothing is requested before the first call. */
export const createLatitudeDriver: DriverFactory = (account, { http, clock, log }): MachineDriver => {
  const endpoint = account.endpoint ?? PUBLIC_ENDPOINT;
  const client = latitudeClient(openSession({ endpoint, token: account.token, http, clock }));
  const project = projectFinder(account.project, client);
  const claims = new Claims(client, clock);
  const numbers: VlanNumbers = new Map();
  const released = new Set<string>();

  const sighted = (server: WireServer, vlans: readonly string[]): Machine => {
    const claim = claims.known(server.id)?.claim;
    return machineOf(server, { claim, vlans, now: clock.now(), released: released.has(server.id) });
  };

  const vlansOf = async (id: string, signal?: AbortSignal): Promise<string[]> =>
    (await client.assignments(id, signal)).map((one) => String(one.attributes?.vid));

  const read = async (id: string, signal?: AbortSignal): Promise<Machine | undefined> => {
    try {
      const server = await client.server(id, signal);
      await markOf(server, signal);
      return sighted(server, await vlansOf(id, signal));
    } catch (error) {
      if (isFault(error, "NotFound")) return undefined;
      throw error;
    }
  };

  const markOf = async (server: WireServer, signal?: AbortSignal): Promise<Mark | undefined> =>
    claims.known(server.id) ?? claims.markOf(server, await claims.marks(await project(signal)), signal);

  const markById = async (id: string, signal?: AbortSignal): Promise<Mark | undefined> =>
    claims.known(id) ?? markOf(await client.server(id, signal), signal);

  /** Gives the server's user data object new content and returns its id. */
  const storeUserData = async (id: string, content: string, signal?: AbortSignal): Promise<string> => {
    const mark = await markById(id, signal);
    if (mark === undefined) {
      const message = "it does not carry a mark of Slipway: it is left as it is";
      throw new Fault("Refused", `server ${id}`, message, { remedy: "order a new one through Slipway" });
    }
    await client.updateUserData(mark.id, content, signal);
    return mark.id;
  };

  /** The claim's mark, from an earlier try or new. */
  const markFor = async (claim: string, hostname: string, content: string, signal?: AbortSignal): Promise<Mark> => {
    const kept = claims.unused(claim, hostname);
    if (kept !== undefined) {
      try {
        await client.updateUserData(kept.id, content, signal);
        return kept;
      } catch (error) {
        if (!isFault(error, "NotFound")) throw error;
      }
    }
    const description = markText(claim, hostname);
    const { id } = await client.createUserData({ project: await project(signal), description, content }, signal);
    return { id, claim, hostname, createdAt: clock.now(), updatedAt: clock.now() };
  };

  const buy = async (attributes: OrderAttributes, mark: Mark, signal?: AbortSignal): Promise<WireServer> => {
    claims.keep(mark);
    try {
      return await client.createServer(attributes, signal);
    } catch (error) {
      // Refused for good: nothing will ever name this mark.
      if (isFault(error, "Invalid")) await claims.drop(mark.id, signal);
      throw error;
    }
  };

  return {
    type: "latitude",
    capabilities: {
      networkModes: NETWORK_MODES,
      spot: false,
      reservations: false,
      reinstall: true,
      locks: true,
      userData: true,
    },
    check: (order) => concernsAbout(order, account),
    priceOf: async (placement, signal) =>
      priceAt(await client.plan(planOf(placement.plan, account), signal), placement, account),

    async list(signal) {
      const id = await project(signal);
      const servers = await client.servers(id, undefined, signal);
      // Marks last: a server that was seen had its mark before, so the mark is seen too.
      const marks = await claims.marks(id);
      const vlans = Map.groupBy(await client.assignments(undefined, signal), assignedTo);
      await claims.learn(servers, marks, signal);
      await claims.sweep(servers, marks, signal);
      const present = new Set(servers.map((server) => server.id));
      for (const gone of released) if (!present.has(gone)) released.delete(gone);
      return servers.map((one) =>
        sighted(
          one,
          (vlans.get(one.id) ?? []).map(({ attributes }) => String(attributes?.vid)),
        ),
      );
    },
    read,

    async find(claim, signal) {
      const id = await project(signal);
      const marks = (await claims.marks(id)).filter((mark) => mark.claim === claim);
      // Every order is preceded by its mark.
      if (marks.length === 0) return [];
      const carrying = async (servers: readonly WireServer[]): Promise<WireServer[]> => {
        if (servers.length > 0) await claims.learn(servers, await claims.marks(id), signal);
        return servers.filter((server) => claims.known(server.id)?.claim === claim);
      };
      const hostnames = [...new Set(marks.map((mark) => mark.hostname))];
      const namesakes = await Promise.all(hostnames.map((hostname) => client.servers(id, hostname, signal)));
      let found = await carrying(namesakes.flat());
      // It may have been given another name since.
      if (found.length === 0) found = await carrying(await client.servers(id, undefined, signal));
      return Promise.all(found.map(async (server) => sighted(server, await vlansOf(server.id, signal))));
    },

    async create(order, signal) {
      const problem = concernsAbout(order, account).find((concern) => concern.fatal);
      if (problem !== undefined) {
        const message = `${problem.field}: ${problem.message}`;
        throw new Fault("Invalid", `server ${order.hostname}`, message, { remedy: "correct the manifest" });
      }
      const projectId = await project(signal);
      if (order.projectId && order.projectId !== projectId) {
        const message = `spec.projectID: the provider's account serves project ${projectId}`;
        throw new Fault("Invalid", `server ${order.hostname}`, message, { remedy: "name another MachineProvider" });
      }
      const mark = await markFor(order.claim, order.hostname, order.boot.userData, signal);
      const server = await buy(wireOrder(order, account, { project: projectId, userData: mark.id }), mark, signal);
      claims.bind(server.id, mark);
      const machine: Machine = { ...sighted(server, []), phase: "building" };
      log.info({ server: machine.id, hostname: machine.hostname, plan: machine.plan, metro: machine.metro }, "bought");
      return machine;
    },

    async configure(id, boot, signal) {
      const userData = boot.userData === undefined ? undefined : await storeUserData(id, boot.userData, signal);
      const attributes = {
        ...(boot.scriptUrl === undefined ? {} : { ipxe_url: boot.scriptUrl }),
        ...(userData === undefined ? {} : { user_data: userData }),
      };
      if (Object.keys(attributes).length > 0) await client.setDeployConfig(id, attributes, signal);
    },

    async reinstall(id, boot, signal) {
      const userData = await storeUserData(id, boot.userData, signal);
      await client.reinstall(id, { ipxe: boot.scriptUrl, user_data: userData }, signal);
    },

    async power(id, action, signal) {
      try {
        await client.act(id, POWER[action], signal);
      } catch (error) {
        if (!isFault(error, "AlreadyConfigured")) throw error;
      }
    },

    networkSettled: (machine, wish) => settled(machine, wish, numbers),

    async setNetwork(machine, wish, signal) {
      if (!(await setVlans(machine, wish, { client, numbers, project }, signal))) return machine;
      const now = await read(machine.id, signal);
      if (now === undefined)
        throw new Fault("NotFound", `server ${machine.hostname}`, "vanished while its networks were set");
      return now;
    },

    async release(id, _options, signal) {
      let mark = claims.known(id);
      try {
        // Read before the server is deleted: later the owner of the user data is unknown.
        mark ??= await markById(id, signal);
        await client.deleteServer(id, signal);
        log.info({ server: id }, "released");
      } catch (error) {
        if (!isFault(error, "NotFound", "AlreadyConfigured")) throw error;
      }
      released.add(id);
      if (mark !== undefined) await claims.drop(mark.id, signal);
    },
  };
};

function assignedTo({
  attributes,
}: {
  attributes?: Partial<{ server_id: string; server: { id?: string } }> | undefined;
}): string {
  return attributes?.server?.id ?? attributes?.server_id ?? "";
}
