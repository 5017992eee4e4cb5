/**
 * Machines of Equinix Metal, or of any endpoint that speaks its API (the service itself was retired on 30 June 2026).
 *
 * Promises what `MachineDriver` promises. A device carries the tag `slipway:claim:<claim>` from its order on. The
 * calls follow the API's OpenAPI document; links in answers are never followed, so the key goes to the endpoint only.
 * Knows nothing of Kubernetes objects.
 */
import { Fault, isFault } from "@slipway/base";
import { type Machine, type MachineDriver, NETWORK_MODES } from "../../machine.ts";
import type { DriverFactory } from "../../provider.ts";
import { claimOf, claimTag } from "./claim-tag.ts";
import { type MetalClient, metalClient } from "./client.ts";
import { elasticAddresses } from "./elastic.ts";
import { numbered, setNetwork } from "./network.ts";
import { machineOf, presentMachine, type VlanNumbers } from "./observe.ts";
import { concernsAbout, wireOrder } from "./order.ts";
import { portSteps, unmet } from "./ports.ts";
import { priceAmong } from "./prices.ts";
import { projectFinder } from "./project.ts";
import { openSession } from "./session.ts";
import type { WireDevice } from "./wire.ts";

export const PUBLIC_ENDPOINT = "https://api.equinix.com/metal/v1";

const POWER = { on: "power_on", off: "power_off", cycle: "reboot" } as const;

/** The driver of one Equinix Metal account. Nothing is requested before the first call. */
export const createEquinixDriver: DriverFactory = (account, { http, clock, log }): MachineDriver => {
  const endpoint = account.endpoint ?? PUBLIC_ENDPOINT;
  const session = openSession({ endpoint, token: account.token, http, clock });
  const client = metalClient(session);
  const project = projectFinder(account.project, client);
  const numbers: VlanNumbers = new Map();

  const machine = (device: WireDevice): Machine | undefined => presentMachine(device, numbers);
  const machines = async (filter: { tag?: string }, signal?: AbortSignal): Promise<Machine[]> => {
    const found = await client.devices(await project(signal), { ...filter, read: machine }, signal);
    return found.filter((one) => one !== undefined);
  };

  const read = async (id: string, signal?: AbortSignal): Promise<Machine | undefined> => {
    try {
      return machine(await client.device(id, signal));
    } catch (error) {
      if (isFault(error, "NotFound") || (await isForeign(error, signal))) return undefined;
      throw error;
    }
  };

  /** The API answers 403 for a device that has left the project: that is so when the same key still opens the project itself. */
  const isForeign = async (error: unknown, signal?: AbortSignal): Promise<boolean> => {
    if (!isFault(error, "BadCredentials") || (error.details as { status?: number }).status !== 403) return false;
    await machines({ tag: claimTag("none") }, signal);
    return true;
  };

  return {
    type: "equinix",
    capabilities: {
      networkModes: NETWORK_MODES,
      spot: true,
      reservations: true,
      reinstall: true,
      locks: true,
      userData: true,
    },
    check: (order) => concernsAbout(order, account),
    priceOf: async (placement, signal) =>
      priceAmong(await client.plans(await project(signal), signal), placement, account),
    elastic: elasticAddresses({ session, project, metroMapping: account.metroMapping }),

    list: (signal) => machines({}, signal),
    read,

    async find(claim, signal) {
      // The API's filter may match more than the whole tag.
      return (await machines({ tag: claimTag(claim) }, signal)).filter((one) => one.claim === claim);
    },

    async create(order, signal) {
      const problem = concernsAbout(order, account).find((concern) => concern.fatal);
      const on = `device ${order.hostname}`;
      if (problem !== undefined) {
        throw new Fault("Invalid", on, `${problem.field}: ${problem.message}`, { remedy: "correct the manifest" });
      }
      const projectId = await project(signal);
      if (order.projectId && order.projectId !== projectId) {
        throw new Fault("Invalid", on, `spec.projectID: the provider's account serves project ${projectId}`);
      }
      const machine = machineOf(await client.createDevice(projectId, wireOrder(order, account), signal), numbers);
      log.info({ device: machine.id, hostname: machine.hostname, plan: machine.plan, metro: machine.metro }, "bought");
      return machine;
    },

    ...bootsOf(client),

    async power(id, action, signal) {
      try {
        await client.act(id, { type: POWER[action] }, signal);
      } catch (error) {
        if (!isFault(error, "AlreadyConfigured")) throw error;
      }
    },

    networkSettled: ({ ports }, wish) =>
      unmet(ports, wish).length === 0 && portSteps(ports, numbered(wish, numbers)).length === 0,
    setNetwork: (machine, wish, signal) => setNetwork(machine, wish, { client, numbers, project, read }, signal),

    async release(id, { force }, signal) {
      try {
        await client.deleteDevice(id, force, signal);
        log.info({ device: id, force }, "released");
      } catch (error) {
        if (isFault(error, "NotFound", "AlreadyConfigured")) return;
        // A key that may only read also gets 403: the device then still answers.
        if (isFault(error, "BadCredentials") && (await read(id, signal)) === undefined) return;
        throw error;
      }
    },
  };
};

/** What existing devices boot with, and whose they are. */
function bootsOf(client: MetalClient): Required<Pick<MachineDriver, "configure" | "reinstall" | "tag">> {
  return {
    async configure(id, boot, signal) {
      const update = {
        ...(boot.userData === undefined ? {} : { userdata: boot.userData }),
        ...(boot.scriptUrl === undefined ? {} : { ipxe_script_url: boot.scriptUrl }),
      };
      if (Object.keys(update).length > 0) await client.updateDevice(id, update, signal);
    },

    async reinstall(id, boot, signal) {
      // The action takes no user data.
      await client.updateDevice(id, { userdata: boot.userData, ipxe_script_url: boot.scriptUrl }, signal);
      await client.act(id, { type: "reinstall", preserve_data: true, deprovision_fast: true }, signal);
    },

    async tag(id, claim, signal) {
      const tags = (await client.device(id, signal)).tags ?? [];
      // The update replaces the whole list.
      const others = tags.filter((tag) => claimOf([tag]) === undefined);
      await client.updateDevice(id, { tags: [claimTag(claim), ...others] }, signal);
    },
  };
}
