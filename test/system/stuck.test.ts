/** Ways out of what is stuck (points 17 to 19): a corrected pool, a provider that is gone, and what a user reads meanwhile. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, plain } from "@slipway/base";
import { ConfigMap, Secret } from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import type { TestCloud } from "./cloud.ts";
import type { HarvesterWorld, HarvesterWorldOptions } from "./harvester-world.ts";
import { condition, using } from "./using.ts";
import { HOUR, MINUTE } from "./world.ts";

const PROVIDERS: readonly TestCloud["name"][] = ["equinix", "latitude"];
const LEFT = { namespace: "harvester-system", name: "slipway-abandoned-machines" };

const patchPool = (world: HarvesterWorld, spec: object) =>
  world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec } });
const annotate = (world: HarvesterWorld, name: string, annotations: object) =>
  world.client.patch(Instance, { name }, { type: "merge", body: { metadata: { annotations } } });

for (const provider of PROVIDERS) {
  const on = (options: HarvesterWorldOptions, work: (world: HarvesterWorld) => Promise<void>): Promise<void> =>
    using({ provider, ...options }, work);

  for (const updateStrategy of [undefined, { type: "OnDelete" }, { type: "RollingUpdate" }]) {
    test(`what was never ordered follows its corrected pool, with updateStrategy ${updateStrategy?.type} (${provider})`, () =>
      on({}, async (world) => {
        await world.pool("rack", { count: 2, plan: "no-such-plan", ...(updateStrategy && { updateStrategy }) });
        await world.clock.run(10 * MINUTE);
        const names = (await world.instances()).map(({ metadata }) => metadata.name);
        assert.equal(names.length, 2);
        await patchPool(world, { plan: "c3.small.x86" });
        await world.until("ready", () => world.converged());
        assert.deepEqual(
          (await world.instances()).map(({ metadata }) => metadata.name),
          names,
          "no object is replaced for it",
        );
        assert.equal(world.cloud.bought(), 2);
        assert.equal((await world.pools())[0]!.status!.drifted, 0);
      }));
  }

  test(`a machine for which there was no capacity is ordered by the corrected specification at once (${provider})`, () =>
    on({}, async (world) => {
      await world.cloud.setCapacity(0);
      await world.pool("rack", {});
      await world.clock.run(HOUR);
      await patchPool(world, { metro: "NY" });
      await world.until("it is ordered", () => world.cloud.bought() === 1, MINUTE);
      await world.until("ready", () => world.converged());
    }));

  test(`an instance that can't be ordered says so in STATUS and WAITING, and so does its pool (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("rack", { plan: "no-such-plan" });
      await world.clock.run(10 * MINUTE);
      const [instance] = await world.instances();
      assert.equal(instance!.status!.status, "stalled");
      assert.match(instance!.status!.waitingFor!, /no-such-plan|[Pp]lan/);
      assert.ok(instance!.status!.waitingSince);
      const [pool] = await world.pools();
      assert.equal(condition(pool)!.reason, "Stalled");
      assert.match(condition(pool)!.message, new RegExp(`${instance!.metadata.name}.*[Pp]lan`));
      await patchPool(world, { plan: "c3.small.x86" });
      await world.until("ready", () => world.converged());
      assert.equal((await world.instances())[0]!.status!.waitingFor, undefined);
    }));

  for (const trouble of ["unreachable", "refuses the key", "has no Secret"] as const) {
    test(`a provider that ${trouble}: the way out is named, and lists what may be left (${provider})`, () => {
      let broken = false;
      const clouds: HarvesterWorldOptions["clouds"] = (inner) => async (request) => {
        if (!broken) return await inner(request);
        if (trouble === "refuses the key") return plain(401, '{"errors":["Invalid authentication token"]}');
        throw new Fault("Unavailable", "the provider", "connection refused");
      };
      return on({ clouds }, async (world) => {
        await world.pool("rack", { count: 2 });
        await world.until("ready", () => world.converged());
        const [first, second] = await world.instances();
        const name = first!.metadata.name;
        if (trouble === "has no Secret") await world.client.delete(Secret, world.accountSecret);
        else broken = true;
        await world.clock.run(2 * MINUTE);
        await world.client.delete(InstancePool, { name: "rack" });
        await annotate(world, name, { "slipway.dev/force-delete": "true" });
        await world.clock.run(30 * MINUTE);

        const stuck = await world.client.get(Instance, { name });
        assert.equal(stuck.status!.status, "releasing");
        assert.match(stuck.status!.waitingFor!, /slipway\.dev\/abandon-machine=true/);
        assert.match(condition(stuck, "Stalled")!.message, /slipway\.dev\/abandon-machine=true/);

        await annotate(world, name, { "slipway.dev/abandon-machine": "true" });
        await world.until(
          "the object is gone",
          async () => !(await world.client.find(Instance, { name })),
          10 * MINUTE,
        );
        const left = await world.client.get(ConfigMap, LEFT);
        const record = JSON.parse(left.data![`${name}.${first!.metadata.uid}`]!);
        assert.equal(record.machine, first!.status!.instanceID);
        assert.equal(record.hostname, name);
        assert.match(record.account, provider === "latitude" ? /MachineProvider\/latitude/ : /equinix-addon/);
        assert.match(record.reason, /Secret|refus|answer/i);
        const shown = (await world.events()).find(({ reason }) => reason === "MachineAbandoned");
        assert.match(shown!.message!, new RegExp(first!.status!.instanceID!));
        assert.equal(world.cloud.machines().length, 2, "nothing was released behind anybody's back");

        const other = second!.metadata;
        assert.ok(await world.client.find(Instance, { name: other.name }), "the other one still waits");
        await annotate(world, other.name, { "slipway.dev/abandon-machine": "true" });
        await world.until("both are gone", async () => (await world.instances()).length === 0, HOUR);
        const { data } = await world.client.get(ConfigMap, LEFT);
        assert.deepEqual(
          Object.keys(data!).sort(),
          [`${name}.${first!.metadata.uid}`, `${other.name}.${other.uid}`].sort(),
        );
      });
    });
  }

  test(`a machine marked to be abandoned is given back all the same while its provider answers (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("rack", {});
      await world.until("ready", () => world.converged());
      const name = (await world.instances())[0]!.metadata.name;
      await annotate(world, name, { "slipway.dev/abandon-machine": "true" });
      await world.client.delete(InstancePool, { name: "rack" });
      await world.until("gone", async () => (await world.instances()).length === 0);
      assert.deepEqual(world.cloud.machines(), []);
      assert.equal(await world.client.find(ConfigMap, LEFT), undefined);
    }));

  test(`an order whose answer was lost is on the list of what may be left (${provider})`, () => {
    let broken = false;
    const clouds: HarvesterWorldOptions["clouds"] = (inner) => async (request) => {
      if (broken) throw new Fault("Unavailable", "the provider", "connection refused");
      const order = request.method === "POST" && /\/(devices|servers)(\?|$)/.test(request.url);
      if (!order) return await inner(request);
      broken = true;
      await inner(request);
      throw new Fault("LostAnswer", "the provider", "the connection ended without an answer");
    };
    return on({ clouds }, async (world) => {
      await world.pool("rack", {});
      await world.until("the order is out", () => world.cloud.bought() === 1);
      await world.clock.run(MINUTE);
      const [{ metadata }] = (await world.instances()) as [Instance];
      await annotate(world, metadata.name, { "slipway.dev/abandon-machine": "true" });
      await world.client.delete(InstancePool, { name: "rack" });
      await world.until("gone", async () => (await world.instances()).length === 0, HOUR);
      const record = JSON.parse((await world.client.get(ConfigMap, LEFT)).data![`${metadata.name}.${metadata.uid}`]!);
      assert.equal(record.machine, "unknown");
      assert.match(record.find, new RegExp(metadata.uid));
    });
  });
}
