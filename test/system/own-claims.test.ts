/** Hosts that many claim at once: none is ever given to two. On the embedded API and, with all systems, on a real one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog, type Random, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { installCrds } from "../../src/kinds/install.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { createInventoryDriver } from "../../src/machines/drivers/inventory/driver.ts";
import type { MachineDriver, Order } from "../../src/machines/machine.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { ensureNamespace, METAL3_KINDS } from "../../src/systems/netboot/led-netboot.ts";
import { beginApi, numbers, sampled, type WorldApi } from "./api.ts";

const CLAIMERS = 20;
const OFFER = { namespaces: [DISCOVERY_NAMESPACE], plans: { any: {} }, setAsideAfter: 2 };

const order = (n: number): Order => ({
  claim: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
  claimant: { apiVersion: "v1", kind: "ConfigMap", name: `claimer-${n}`, namespace: "elsewhere" },
  group: "rack",
  hostname: `claimer-${n}`,
  placement: { plan: "any", metro: undefined },
  operatingSystem: "custom_ipxe",
  boot: { scriptUrl: `http://boot.invalid/${n}`, userData: "" },
  tags: [],
});

/** Loses the answers to some writes, which have had their effect. */
function lossy(inner: Transport, random: Random): Transport {
  return {
    ...inner,
    watch: (request) => inner.watch(request),
    async request(request) {
      const answer = await inner.request(request);
      if (request.method === "PATCH" && answer.status < 300 && random.fraction() < 0.3)
        throw new Fault("LostAnswer", "kubernetes API", "the connection broke");
      return answer;
    },
  };
}

async function createHosts(client: Client, count: number): Promise<void> {
  for (const number of numbers(1, count)) {
    const metadata = { name: `node-${number}`, namespace: DISCOVERY_NAMESPACE };
    const spec = { online: true, automatedCleaningMode: "metadata" as const };
    const host = await client.create(BareMetalHost, { metadata, spec });
    const provisioning = { state: "available", ID: "" };
    const status = { operationalStatus: "OK" as const, errorMessage: "", poweredOn: true, provisioning };
    await client.updateStatus(BareMetalHost, { ...host, status: status as never });
  }
}

/** Every change of a host's claim, as a watch shows it. */
async function watchClaims(api: WorldApi, tell: (host: string, uid: string | undefined) => void): Promise<void> {
  const path = "/apis/metal3.io/v1alpha1/baremetalhosts";
  const answer = await api.transport("administrator").watch({ method: "GET", path, query: { watch: "true" } });
  if (!(Symbol.asyncIterator in answer)) return;
  for await (const event of answer) {
    const host = "object" in event ? (event.object as BareMetalHost) : undefined;
    if (host?.metadata?.name !== undefined) tell(host.metadata.name, host.spec.consumerRef?.uid);
  }
}

/** As the executor does: looks for what an order without an answer has brought before it orders again. */
async function claim(driver: MachineDriver, n: number): Promise<string | undefined> {
  for (;;) {
    const [found] = await driver.find(order(n).claim);
    if (found !== undefined) return found.id;
    try {
      return (await driver.create(order(n))).id;
    } catch (error) {
      const { code } = error as Fault;
      if (code === "NoCapacity") return undefined;
      if (code !== "LostAnswer") throw error;
    }
  }
}

async function giveBack(driver: MachineDriver, id: string): Promise<void> {
  for (;;)
    try {
      return await driver.release(id, { force: true });
    } catch (error) {
      if (!["LostAnswer", "Conflict"].includes((error as Fault).code)) throw error;
    }
}

async function play(seed: number): Promise<void> {
  const api: { of?: WorldApi } = {};
  const clock = new VirtualClock(undefined, () => api.of?.outside());
  const random = seededRandom(seed);
  const whileTimePasses = async <T>(promise: Promise<T>): Promise<T> => {
    let isSettled = false;
    const done = promise.finally(() => {
      isSettled = true;
    });
    done.catch(() => {});
    assert.ok(await clock.run(600_000, () => isSettled), "it does not end");
    return done;
  };
  const world = await beginApi(clock, random);
  api.of = world;
  try {
    const ports = { clock, random, log: quietLog };
    const client = createClient(world.transport("administrator"), ports);
    const { signal } = new AbortController();
    await whileTimePasses(installCrds(client, clock, signal, METAL3_KINDS));
    await whileTimePasses(ensureNamespace(client, DISCOVERY_NAMESPACE, signal));
    const count = 1 + random.int(25);
    await whileTimePasses(createHosts(client, count));
    const held = new Map<string, string>();
    const twice: string[] = [];
    void watchClaims(world, (host, uid) => {
      const before = held.get(host);
      if (before !== undefined && uid !== undefined && before !== uid) twice.push(`${host}: ${before}, then ${uid}`);
      if (uid === undefined) held.delete(host);
      else held.set(host, uid);
    });
    // Operators that know nothing of each other, each with a list of its own that grows old.
    const { items: listed } = await whileTimePasses(client.list(BareMetalHost));
    const drivers = numbers(1, 3).map(() => {
      const own = createClient(lossy(world.transport("administrator"), random), ports);
      const hosts = { client: own, list: async () => listed };
      const account = { endpoint: undefined, token: "", project: "", planMapping: {}, metroMapping: {} };
      const http = async () => assert.fail("no cloud is asked");
      return createInventoryDriver({ ...account, inventory: OFFER }, { clock, log: quietLog, http, hosts });
    });
    const claimers = numbers(1, CLAIMERS);
    const got = await whileTimePasses(Promise.all(claimers.map((n) => claim(drivers[n % 3]!, n))));
    const turns = got.filter((id) => id !== undefined);
    const hostOf = (id: string): string => id.split("/")[1]!;
    assert.equal(turns.length, Math.min(count, CLAIMERS));
    assert.equal(new Set(turns.map(hostOf)).size, turns.length, "a host was given twice");

    // Half of them give back while as many others claim: what is free goes to one, what is held to none.
    const leaving = claimers.filter((n) => n % 2 === 0 && got[n - 1] !== undefined);
    const coming = leaving.map((n) => n + CLAIMERS);
    const [, later] = await whileTimePasses(
      Promise.all([
        Promise.all(leaving.map((n) => giveBack(drivers[n % 3]!, got[n - 1]!))),
        Promise.all(coming.map((n) => claim(drivers[(n + 1) % 3]!, n))),
      ]),
    );
    const staying = claimers.flatMap((n) => (n % 2 === 0 ? [] : (got[n - 1] ?? [])));
    const having = [...staying, ...later.filter((id) => id !== undefined)];
    assert.equal(new Set(having.map(hostOf)).size, having.length, "a host was given twice");
    const { items } = await whileTimePasses(client.list(BareMetalHost));
    const shown = items.flatMap(({ metadata, spec }) => (spec.consumerRef === undefined ? [] : [metadata.name]));
    assert.deepEqual(shown.toSorted(), having.map(hostOf).toSorted());
    await clock.run(1_000);
    assert.deepEqual(twice, []);
  } finally {
    await world.close();
  }
}

test("no host is ever given to two of 20 who claim at once through three operators, though answers get lost", async (t) => {
  for (const seed of sampled(numbers(1, 5)))
    await t.test(`seed ${seed}`, async () => {
      await play(seed);
    });
});
