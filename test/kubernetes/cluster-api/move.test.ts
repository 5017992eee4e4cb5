/**
 * `clusterctl move`, the real one, from one light core to another, and to upstream's core and back: machines keep running, and nothing is bought
 * twice.
 */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { quietLog, Secrets } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Provider } from "../../../src/cluster-api/installed-provider.ts";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { KamajiControlPlane } from "../../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { PacketMachine } from "../../../src/kinds/packet/packet-machine.ts";
import { type Laptop, startLaptop } from "../../../src/laptop/laptop.ts";
import { clusterctlOf, kubeconfigIn, programs, scratch } from "./clusterctl.ts";
import { applyExample, haveAccount, machinesOf, tenantsOf, untilAvailable } from "./moved-example.ts";
import { startProviders, startUpstream, UPSTREAM_PROGRAMS } from "./upstream.ts";

const folder = await programs("clusterctl");
const skip = folder instanceof Error && folder.message;
const withUpstream = skip === false ? await programs(...UPSTREAM_PROGRAMS) : folder;

async function laptop(t: TestContext): Promise<Laptop> {
  const started = await startLaptop({
    ...{ kubernetes: "embedded", dir: undefined, host: "127.0.0.1", port: 0, speed: 400, counterparts: [] },
    ...{ log: quietLog, secrets: new Secrets() },
  });
  t.after(() => started.close());
  return started;
}

/** The example under a light core, and what must be the same after every move. */
async function example(t: TestContext) {
  const [tenants, home] = [await laptop(t), await laptop(t)];
  const cloud = home.metal.equinix;
  await haveAccount(home.client, cloud.url);
  await applyExample(home, tenants.client, tenants.identity.kubeconfig(tenants.url));
  await untilAvailable(home.client);
  const [machines, planes] = [await machinesOf(home.client), await tenantsOf(tenants.client)];
  assert.equal(cloud.sim.devices().length, 3);
  const moved = async (from: Client, to: Client, said?: () => Promise<string>): Promise<void> => {
    for (const kind of [Cluster, Machine, PacketMachine, KamajiControlPlane])
      assert.deepEqual((await from.list(kind as typeof Cluster)).items, []);
    await untilAvailable(to, said);
    assert.deepEqual(await machinesOf(to), machines);
    assert.deepEqual(await tenantsOf(tenants.client), planes);
    assert.equal(cloud.sim.devices().length, 3);
  };
  return { home, cloud, moved };
}

describe("clusterctl move", { skip }, () => {
  test("from one light core to another, and back: the same machines and the same tenant, and nothing is left behind", async (t) => {
    const { home, cloud, moved } = await example(t);
    const away = await laptop(t);
    await haveAccount(away.client, cloud.url);
    const dir = await scratch(t);
    const clusterctl = clusterctlOf(String(folder), dir);
    const files = new Map<Laptop, string>();
    for (const [name, each] of Object.entries({ home, away }))
      files.set(each, await kubeconfigIn(dir, name, each.identity.kubeconfig(each.url)));
    for (const [from, to] of [
      [home, away],
      [away, home],
    ] as const) {
      await clusterctl("move", "--kubeconfig", files.get(from)!, "--to-kubeconfig", files.get(to)!);
      await moved(from.client, to.client);
    }
  });

  test("from the light core to upstream's, and back without its inventory: the same machines, Nodes and tenant, and nothing is left behind", {
    skip: withUpstream instanceof Error && withUpstream.message,
  }, async (t) => {
    const { home, cloud, moved } = await example(t);
    const management = await startUpstream(t, String(withUpstream));
    const { client } = await startProviders(t, management);
    await haveAccount(client, cloud.url);
    const dir = await scratch(t);
    const here = await kubeconfigIn(dir, "home", home.identity.kubeconfig(home.url));
    const clusterctl = clusterctlOf(String(folder), dir);
    const said = async () => (await management.said("capi-core")).slice(-3000);
    await clusterctl("move", "--kubeconfig", here, "--to-kubeconfig", management.kubeconfigFile);
    await moved(home.client, client, said);

    // What the inventory of the one cluster names must be in the other's; a light core is in none. Without an inventory there is the way back.
    const back = ["move", "--kubeconfig", management.kubeconfigFile, "--to-kubeconfig", here];
    await assert.rejects(clusterctl(...back), /not found in the target cluster/);
    for (const { metadata } of (await client.list(Provider)).items)
      await client.delete(Provider, { namespace: metadata.namespace!, name: metadata.name });
    await clusterctl(...back);
    await moved(client, home.client, said);
  });
});
