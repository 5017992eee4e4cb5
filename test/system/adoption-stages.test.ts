/** Live objects of harvester-equinix-addon are taken over from every stage of its state machine (point 16). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, plain } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { API_KEY, assertNoSecretOutsideSecrets, poolOfAddon, STATES, using } from "./addon-objects.ts";
import type { HarvesterWorld, HarvesterWorldOptions } from "./harvester-world.ts";
import { condition } from "./using.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

interface Stage {
  name: string;
  /** Where the addon's machine stood, and what it had written of it. */
  machine: (typeof STATES)[number];
  wrote?: { status: string; instanceID?: string };
  /** What happened at the provider since. */
  since?: (world: HarvesterWorld, id: string) => Promise<void> | void;
  /** Machines bought in all, and reinstallations that Slipway asks for. */
  bought: number;
  reinstalls: number;
}

const failed = (world: HarvesterWorld, id: string): void => world.equinix.fail(id, "disk error");
const active = (world: HarvesterWorld, id: string): Promise<void> =>
  world.until("it waits in the shell", () => world.equinix.device(id)?.state === "active");

const STAGES: readonly Stage[] = [
  {
    name: "ordered, its id not written",
    machine: "queued",
    wrote: { status: "", instanceID: "" },
    bought: 1,
    reinstalls: 1,
  },
  { name: "ordered", machine: "queued", bought: 1, reinstalls: 1 },
  { name: "submitted", machine: "submitted", bought: 1, reinstalls: 1 },
  {
    name: "provisioning, for which the addon has no case",
    machine: "queued",
    wrote: { status: "provisioning" },
    bought: 1,
    reinstalls: 1,
  },
  { name: "in the shell of its first pass", machine: "queued", since: active, bought: 1, reinstalls: 1 },
  {
    name: "sent into its second pass, not written",
    machine: "reinstalling",
    wrote: { status: "queued" },
    bought: 1,
    reinstalls: 1,
  },
  { name: "in its second pass", machine: "reinstalling", bought: 1, reinstalls: 0 },
  { name: "ready", machine: "ready", bought: 1, reinstalls: 0 },
  { name: "managed", machine: "managed", bought: 1, reinstalls: 0 },
  { name: "failed at the provider", machine: "queued", since: failed, bought: 2, reinstalls: 1 },
  {
    name: "failed, as the create call answered",
    machine: "queued",
    wrote: { status: "failed" },
    since: failed,
    bought: 2,
    reinstalls: 1,
  },
];

const actions = (world: HarvesterWorld): number => world.equinix.counters().performAction ?? 0;

async function wrote(world: HarvesterWorld, name: string, status: object): Promise<void> {
  await world.client.patch(Instance, { name }, { type: "merge", body: { status } }, { subresource: "status" });
}

for (const stage of STAGES) {
  test(`an addon's instance that is ${stage.name} comes into service, and RollingUpdate leaves it alone`, () =>
    using(async (world) => {
      const spec = { updateStrategy: { type: "RollingUpdate" }, managementInterface: null };
      const [taken] = await poolOfAddon(world, [stage.machine], spec);
      const { name, id } = taken!;
      if (stage.wrote) await wrote(world, name, stage.wrote);
      await stage.since?.(world, id);
      const before = actions(world);

      await world.operator();
      await world.until("the pool is in service", () => world.converged(), 4 * HOUR);
      await world.clock.run(2 * HOUR);
      assert.ok(await world.converged());
      assert.equal(world.equinix.boughtEver().length, stage.bought);
      assert.equal(actions(world) - before, stage.reinstalls);
      assert.equal((await world.pools())[0]!.status!.drifted, 0);
      if (stage.bought === 1) assert.equal((await world.instances())[0]!.metadata.name, name);
      await assertNoSecretOutsideSecrets(world);
    }));
}

test("an addon's instance for which nothing was ordered yet is ordered once, by the pool as it is now", () =>
  using(async (world) => {
    const [taken] = await poolOfAddon(world, ["queued"], { count: 1 });
    const { name, id } = taken!;
    const headers = { "x-auth-token": API_KEY };
    const url = `https://api.equinix.com/metal/v1/devices/${id}`;
    await world.equinix.handle({ method: "DELETE", url, headers, remote: "192.0.2.1" });
    await world.until("no machine is there", () => world.equinix.device(id) === undefined);
    await wrote(world, name, { status: "", instanceID: "" });
    await world.client.patch(Instance, { name }, { type: "merge", body: { metadata: { finalizers: null } } });
    await world.operator();
    await world.until("in service", () => world.converged());
    assert.equal(world.equinix.boughtEver().length, 2);
    assert.equal((await world.instances())[0]!.metadata.name, name);
  }));

for (const machine of STATES) {
  test(`an addon's instance that is ${machine} and being deleted goes with its machine`, () =>
    using(async (world) => {
      const [taken] = await poolOfAddon(world, [machine], { count: 0 });
      await world.client.delete(Instance, { name: taken!.name });
      await world.operator();
      await world.until("gone", async () => (await world.instances()).length === 0);
      await world.until("so is its machine", () => world.equinix.devices().length === 0);
    }));
}

test("an addon's prices are the pool's in another spelling: no machine is replaced for them", () =>
  using(async (world) => {
    const spot = { spotInstance: true, spotPriceMax: "0.5", updateStrategy: { type: "RollingUpdate" } };
    const [taken] = await poolOfAddon(world, ["managed"], spot);
    const body = { spec: { spotInstance: true, spotPriceMax: "500m" } };
    await world.client.patch(Instance, { name: taken!.name }, { type: "merge", body });
    await world.operator();
    await world.clock.run(4 * HOUR);
    assert.equal((await world.instances())[0]!.metadata.name, taken!.name);
    assert.equal((await world.pools())[0]!.status!.drifted, 0);
  }));

test("what was not seen is not reported: an adopted machine was installed by the addon, and joins when its Node is seen", () =>
  using(async (world) => {
    const [taken] = await poolOfAddon(world, ["queued"]);
    const { name } = taken!;
    await wrote(world, name, { status: "managed" });
    await world.operator();
    await world.clock.run(5 * MINUTE);
    const instance = await world.client.get(Instance, { name });
    assert.equal(condition(instance, "Installed")!.reason, "TakenOver");
    assert.match(condition(instance, "Installed")!.message, /harvester-equinix-addon/);
    assert.equal(instance.status!.node?.joined ?? undefined, undefined);
    assert.equal(condition(instance)!.reason, "NodeMissing");
    const reasons = (await world.events()).map((event) => event.reason);
    assert.ok(!reasons.includes("Installed") && !reasons.includes("Joined"), reasons.join());
    assert.notEqual((await world.pools())[0]!.status!.status, "ready");
    await world.client.delete(InstancePool, { name: "rack" });
  }));

test("a reinstallation is sent once, also when the machine reports on the object at that very moment", () => {
  let interfere: (() => Promise<void>) | undefined;
  const transport = (inner: Transport): Transport => ({
    ...inner,
    request: async (request) => {
      const { status } = (request.body ?? {}) as { status?: { boot?: { pass?: number; sent?: boolean } } };
      if (request.method === "PUT" && status?.boot?.pass === 2 && status.boot.sent) await interfere?.();
      return await inner.request(request);
    },
  });
  return using(
    async (world) => {
      const [taken] = await poolOfAddon(world, ["queued"]);
      interfere = async () => {
        interfere = undefined;
        const body = { metadata: { annotations: { note: "from somebody else" } } };
        await world.client.patch(Instance, { name: taken!.name }, { type: "merge", body });
      };
      await world.operator();
      await world.until("in service", () => world.converged());
      assert.equal(actions(world), 1);
    },
    { transport },
  );
});

test("a reinstallation whose answer was lost is not sent again to a machine that has begun it", () => {
  let lost = 0;
  const clouds: HarvesterWorldOptions["clouds"] = (inner) => async (request) => {
    const answer = await inner(request);
    if (!request.url.includes("/actions") || lost++ > 0) return answer;
    throw new Fault("LostAnswer", "the provider", "the connection ended without an answer");
  };
  return using(
    async (world) => {
      await poolOfAddon(world, ["queued"]);
      await world.operator();
      await world.until("in service", () => world.converged());
      assert.equal(actions(world), 1);
    },
    { clouds },
  );
});

test("a provider that refuses is asked ever more slowly, whatever else changes, and the refusal is on the object", () => {
  const asked: number[] = [];
  let at: HarvesterWorld | undefined;
  const clouds: HarvesterWorldOptions["clouds"] = (inner) => async (request) => {
    if (!request.url.includes("/actions")) return await inner(request);
    asked.push(at!.clock.now());
    return plain(422, `{"errors":["Device can't be reinstalled: maintenance ${asked.length}"]}`);
  };
  return using(
    async (world) => {
      at = world;
      const [taken] = await poolOfAddon(world, ["queued"]);
      await world.operator();
      await world.until("it is asked", () => asked.length > 0);
      for (let second = 0; second < 600; second += 2) {
        const annotations = { note: String(second) };
        const ref = { name: taken!.name };
        await world.client.patch(Instance, ref, { type: "merge", body: { metadata: { annotations } } });
        await world.clock.run(2 * SECOND);
      }
      assert.ok(asked.filter((moment) => moment < asked[0]! + 4 * SECOND).length === 1, "once in the first 4 s");
      assert.ok(asked.length > 2 && asked.length <= 12, `${asked.length} times in 10 minutes`);
      const instance = await world.client.get(Instance, { name: taken!.name });
      assert.match(condition(instance, "Stalled")!.message, /maintenance/);
      assert.match(instance.status!.waitingFor!, /maintenance/);
    },
    { clouds },
  );
});
