/** Pools on hosts of the cluster's own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "@slipway/kube/core";
import { SET_ASIDE } from "../../src/inventory/claims/set-aside.ts";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { RACK_LABEL } from "./own-rack.ts";
import { condition, using } from "./using.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

test("H32 a pool gets its machines from hosts of the cluster's own, and gives them back wiped and off", () =>
  using({ provider: "inventory" }, async (world) => {
    await world.pool("rack", { count: 3 });
    await world.until("ready", () => world.converged());
    assert.equal((await world.nodes()).length, 3);
    assert.equal(world.cloud.machines().length, 3);
    await world.client.delete(InstancePool, { name: "rack" });
    await world.until("nothing is left", async () => (await world.instances()).length === 0);
    assert.deepEqual(world.cloud.machines(), []);
    assert.deepEqual(await world.nodes(), []);
    for (const { disks } of world.own.rack.servers.values()) assert.equal(disks[0]!.content, undefined);
    const { items } = await world.client.list(Secret, { namespace: DISCOVERY_NAMESPACE });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ["bmc"],
    );
  }));

test("machines of a pool are spread over racks, though all are asked for at once", () =>
  using({ provider: "inventory" }, async (world) => {
    await world.pool("rack", { count: 4 });
    await world.until("all have hosts", () => world.cloud.machines().length === 4);
    const racks = (await world.own.hosts())
      .filter(({ spec }) => spec.consumerRef !== undefined)
      .map(({ metadata }) => metadata.labels![RACK_LABEL]);
    assert.deepEqual(racks.toSorted(), ["sg-rack-1", "sg-rack-1", "sg-rack-2", "sg-rack-2"]);
  }));

test("a host on which installations fail is set aside with a reason, and given again when a person says so", () => {
  let isBroken = true;
  const hangs = ({ hostname }: { hostname: string }, stage: string) =>
    isBroken && hostname === "sg-1" && stage === "joining";
  const options = { provider: "inventory", servers: { sg: 2, ny: 0 }, firmware: { hangs } } as const;
  return using(options, async (world) => {
    const sg1 = { namespace: DISCOVERY_NAMESPACE, name: "sg-1" };
    const host = () => world.whileTimePasses(world.client.get(BareMetalHost, sg1));
    await world.pool("rack", { count: 2, joinTimeout: "30m" });
    await world.until(
      "it is set aside",
      async () => (await host()).metadata.annotations?.[SET_ASIDE] !== undefined,
      8 * HOUR,
    );
    assert.match((await host()).metadata.annotations![SET_ASIDE]!, /^2 installations failed; the last: no Ready Node/);
    await world.until("nobody has it", async () => (await host()).spec.consumerRef === undefined);
    await world.until("it is said", async () => condition(await host(), "SetAside")?.status === "True");
    assert.ok(
      (await world.events()).some(
        ({ reason, involvedObject }) => reason === "SetAside" && involvedObject?.name === "sg-1",
      ),
    );
    const missing = async () => (await world.instances()).find(({ status }) => !status?.instanceID);
    await world.until("the pool says why", async () => condition(await missing())?.reason === "NoCapacity", HOUR);
    await world.clock.run(HOUR);
    const refusals = (await world.events()).filter(({ reason }) => reason === "NoCapacity");
    assert.ok(
      refusals.some(({ message }) => message?.includes("1 set aside")),
      refusals.map(({ message }) => message).join("\n"),
    );
    assert.equal((await host()).spec.consumerRef, undefined);

    isBroken = false;
    const body = { metadata: { annotations: { [SET_ASIDE]: null } } };
    await world.whileTimePasses(world.client.patch(BareMetalHost, sg1, { type: "merge", body }));
    await world.until("ready", () => world.converged(), 4 * HOUR);
    assert.equal(condition(await host(), "SetAside")?.status, "False");
  });
});

test("a host that fails twice for one machine is set aside at once, and another takes its place", () =>
  using({ provider: "inventory", servers: { sg: 2, ny: 0 } }, async (world) => {
    await world.pool("rack", {});
    await world.until("it has a host", () => world.cloud.machines().length === 1);
    const { id } = world.cloud.machines()[0]!;
    world.cloud.fail(id);
    await world.until("ready", () => world.converged());
    const aside = (await world.own.hosts()).filter(({ metadata }) => metadata.annotations?.[SET_ASIDE] !== undefined);
    assert.deepEqual(
      aside.map(({ metadata }) => metadata.name),
      [id.split("/")[1]],
    );
    assert.match(aside[0]!.metadata.annotations![SET_ASIDE]!, /provisioning failed/);
  }));

test("a host that is taken back by force is nobody's at once, and offered when it is wiped", () =>
  using({ provider: "inventory", servers: { sg: 1, ny: 0 } }, async (world) => {
    await world.pool("rack", {});
    await world.until("ready", () => world.converged());
    const [instance] = await world.instances();
    const body = { metadata: { annotations: { "slipway.dev/force-delete": "true" } } };
    const name = instance!.metadata.name;
    await world.whileTimePasses(
      world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count: 0 } } }),
    );
    await world.whileTimePasses(world.client.patch(Instance, { name }, { type: "merge", body }));
    await world.until("the instance is gone", async () => (await world.instances()).length === 0, 5 * MINUTE);
    await world.own.check();
    await world.own.checkAllFree();
  }));

test("a pool that waits for a host has it as soon as one is free", () =>
  using({ provider: "inventory", servers: { sg: 1, ny: 0 } }, async (world) => {
    await world.pool("first", {});
    await world.until("ready", () => world.converged());
    await world.pool("second", {});
    await world.clock.run(HOUR);
    const isFree = async () =>
      (await world.own.hosts()).every(({ spec }) => spec.consumerRef?.name?.startsWith("first") !== true);
    await world.whileTimePasses(world.client.delete(InstancePool, { name: "first" }));
    await world.until("it is free", isFree, HOUR, SECOND);
    await world.until(
      "it is taken",
      () => world.cloud.machines().some(({ hostname }) => hostname.startsWith("second")),
      MINUTE / 2,
      SECOND,
    );
  }));

test("H30 an own host is installed a second time on request, wiped in between", () =>
  using({ provider: "inventory", servers: { sg: 1, ny: 0 } }, async (world) => {
    await world.pool("rack", { installMode: "TwoPass" });
    await world.until("ready", () => world.converged(), 4 * HOUR);
    assert.equal(world.cloud.bought(), 1);
    const [instance] = await world.instances();
    assert.equal(instance?.status?.boot, undefined);
    const said = (await world.events()).filter(({ involvedObject }) => involvedObject?.name === "sg-1");
    assert.ok(
      said.some(({ reason }) => reason === "DeprovisioningComplete"),
      "it was wiped in between",
    );
    const [host] = await world.own.hosts();
    assert.equal(host?.metadata.annotations?.["slipway.dev/install-again"], undefined);
  }));
