/** A pool is ready only when the ports of its machines were observed as wanted (point 15): hybrid modes, unknown VLANs, ports that do not exist. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { EXAMPLE_KEYS } from "../../src/laptop/metal.ts";
import type { HarvesterWorld } from "./harvester-world.ts";
import { condition, using } from "./using.ts";
import { HOUR, MINUTE } from "./world.ts";

const wants = (type: string, port: string, vlan: string) => ({
  networkingConfiguration: { type, interfaceConfiguration: [{ name: port, vlanIDS: [vlan] }] },
});

async function createVlan(world: HarvesterWorld, vxlan: number): Promise<void> {
  const { token, project } = EXAMPLE_KEYS.equinix;
  const headers = { "x-auth-token": token, "content-type": "application/json" };
  const url = `https://api.equinix.com/metal/v1/projects/${project.id}/virtual-networks`;
  const body = JSON.stringify({ vxlan, metro: "sg" });
  await world.equinix.handle({ method: "POST", url, headers, body, remote: "192.0.2.1" });
}

const CASES = [
  { provider: "equinix", type: "hybrid-bonded", port: "bond0", vlan: "3999", missing: /3999/ },
  { provider: "equinix", type: "hybrid", port: "eth1", vlan: "3999", missing: /3999/ },
  { provider: "equinix", type: "hybrid", port: "eth9", vlan: "1000", missing: /no port eth9.*bond0, eth0, eth1/ },
  { provider: "equinix", type: "layer3", port: "eth9", vlan: "1000", missing: /no port eth9/ },
  { provider: "latitude", type: "hybrid", port: "eth1", vlan: "3999", missing: /3999/ },
] as const;

for (const { provider, type, port, vlan, missing } of CASES) {
  test(`a pool is not ready while ${type} with VLAN ${vlan} on ${port} was never set, and says why (${provider})`, () =>
    using({ provider }, async (world) => {
      await world.pool("rack", wants(type, port, vlan));
      await world.until("its machine joins", async () => (await world.nodes()).length === 1);
      await world.clock.run(3 * HOUR);

      const [pool] = await world.pools();
      const [instance] = await world.instances();
      assert.notEqual(pool!.status!.status, "ready");
      assert.equal(pool!.status!.ready, 0);
      assert.match(condition(pool)!.message, missing);
      assert.equal(condition(instance)!.status, "False");
      assert.equal(condition(instance, "NetworkReady")!.status, "False");
      assert.match(instance!.status!.waitingFor ?? "", missing);
      assert.equal(world.cloud.bought(), 1, "another machine would have the same network");
    }));
}

test("a machine in service gets its network as soon as the VLAN exists, and only then counts as ready", () =>
  using({}, async (world) => {
    await world.pool("rack", wants("hybrid-bonded", "bond0", "3999"));
    await world.until("its machine joins", async () => (await world.nodes()).length === 1);
    await world.clock.run(30 * MINUTE);
    assert.ok(!(await world.converged()));
    await createVlan(world, 3999);
    await world.until("ready", () => world.converged(), 10 * MINUTE);
    const [instance] = await world.instances();
    assert.equal(condition(instance, "NetworkReady")!.status, "True");
    assert.equal(instance!.status!.waitingFor, undefined);
  }));

test("ports that somebody changes on a machine in service are reported, not reset", () =>
  using({}, async (world) => {
    await world.pool("rack", wants("hybrid-bonded", "bond0", "1000"));
    await world.until("ready", () => world.converged());
    const [instance] = await world.instances();
    const bond = world.equinix.device(instance!.status!.instanceID!)!.ports.find(({ name }) => name === "bond0")!;
    const headers = { "x-auth-token": EXAMPLE_KEYS.equinix.token, "content-type": "application/json" };
    const url = `https://api.equinix.com/metal/v1/ports/${bond.id}/assign`;
    await world.equinix.handle({ method: "POST", url, headers, body: '{"vnid":"1001"}', remote: "192.0.2.1" });
    const calls = world.equinix.counters();
    await world.clock.run(HOUR);
    const later = world.equinix.counters();
    for (const name of Object.keys(later).filter((name) => /[Pp]ort|[Vv]lan/.test(name)))
      assert.equal(later[name], calls[name], name);
    assert.ok(await world.converged());
    assert.equal(condition((await world.instances())[0], "NetworkReady")!.reason, "Changed");
  }));

test("a network that must be set before the installation and can't be is what the time-out names", () =>
  using({}, async (world) => {
    await world.pool("rack", { ...wants("layer2-bonded", "bond0", "3999"), remediation: "Report", joinTimeout: "30m" });
    await world.until("it is given up", async () => (await world.instances())[0]?.status?.failure !== undefined);
    const { failure } = (await world.instances())[0]!.status!;
    assert.match(failure!.message, /its ports to be set/);
    await world.client.delete(InstancePool, { name: "rack" });
    await world.until("gone", async () => (await world.client.list(Instance)).items.length === 0);
  }));
