/** `examples/vino` offers hosts to SIPClusters: two take them at once, one grows, one shrinks, both go, and then the Vino. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { quietLog } from "@slipway/base";
import { createManager, isTrue } from "@slipway/kube";
import { load } from "js-yaml";
import { installCrds } from "../../src/kinds/install.ts";
import { HostDeployPolicy } from "../../src/kinds/metal3/host-deploy-policy.ts";
import { SIPCluster } from "../../src/kinds/sip/sip-cluster.ts";
import type { Vino } from "../../src/kinds/vino/vino.ts";
import { sipClusterController } from "../../src/systems/sip/cluster-controller.ts";
import { NAMESPACE, VinoWorld } from "./vino-world.ts";

const nodes = (controlPlane: number, worker: number) => {
  const of = (flavor: string, active: number, topologyKey: string) => ({
    ...{ labelSelector: { matchLabels: { "example.com/flavor": flavor } }, topologyKey },
    count: { active, standby: 0 },
  });
  return {
    ControlPlane: of("control-plane", controlPlane, "example.com/rack"),
    Worker: of("worker", worker, "example.com/server"),
  };
};

/** Has SIPClusters be served, too. */
async function withSip(t: TestContext, world: VinoWorld): Promise<void> {
  const { api, clock, random, client } = world;
  await world.passing(installCrds(client, clock, new AbortController().signal, [[SIPCluster]] as never));
  const transport = api.transport("operator");
  const manager = createManager({ transport, clock, random, log: quietLog, leaderElection: false });
  manager.add(sipClusterController());
  void manager.start().catch(() => {});
  t.after(() => void manager.stop());
}

test("two SIPClusters take a Vino's hosts at once, one grows, one shrinks, both go, and nothing is left of the Vino", async (t) => {
  const world = await VinoWorld.running(t);
  const { client } = world;
  await withSip(t, world);
  for (const i of [1, 2, 3, 4]) {
    const labels = {
      "example.com/vino": "true",
      "example.com/rack": `rack-${i % 2}`,
      "example.com/server": `server-${i}`,
    };
    await world.join(`node-${i}`, { labels });
  }
  const { spec } = load(readFileSync("examples/vino/vino.yaml", "utf8")) as Vino;
  await world.apply("pool", spec);
  const sip = async (name: string, controlPlane: number, worker: number): Promise<void> => {
    const body = {
      apiVersion: "airship.airshipit.org/v1",
      kind: "SIPCluster",
      metadata: { name, namespace: NAMESPACE },
      spec: { nodes: nodes(controlPlane, worker), services: {} },
    };
    await world.passing(
      client.patch(SIPCluster, { name, namespace: NAMESPACE }, { type: "apply", body, fieldManager: "t", force: true }),
    );
  };
  const ready = async (name: string, hosts: number): Promise<void> =>
    await world.until(`${name} has ${hosts} hosts`, async () => {
      const found = await world.passing(client.find(SIPCluster, { name, namespace: NAMESPACE }));
      return (
        isTrue(found?.status?.conditions, "Ready") &&
        found?.status?.scheduled === `${hosts}/${hosts}` &&
        found.status.observedGeneration === found.metadata.generation
      );
    });
  const servedBy = async (): Promise<Map<string, string>> => {
    const all = (await world.hosts()).flatMap(({ metadata: { name, labels = {} } }) => {
      const cluster = labels["sip.airshipit.org/cluster-name"];
      return cluster === undefined ? [] : [[name, cluster] as const];
    });
    return new Map(all);
  };
  await sip("one", 1, 1);
  await sip("two", 2, 1);
  await world.untilReady("pool");
  await ready("one", 2);
  await ready("two", 3);
  assert.equal((await servedBy()).size, 5);
  const addresses = (await world.passing(client.get(SIPCluster, { name: "two", namespace: NAMESPACE }))).status?.hosts;
  assert.equal(addresses?.length, 3);

  await sip("one", 1, 3);
  await sip("two", 1, 1);
  await ready("one", 4);
  await ready("two", 2);
  assert.equal((await servedBy()).size, 6);
  await world.untilReady("pool");

  for (const name of ["one", "two"]) await world.passing(client.delete(SIPCluster, { name, namespace: NAMESPACE }));
  await world.until("all hosts are free", async () => (await servedBy()).size === 0);
  await world.remove("pool");
  await world.untilGone("pool");
  await world.until("nothing is left", async () => (await world.left()).length === 0);
});

test("hosts of a Vino go only to namespaces that a HostDeployPolicy of its namespace names", async (t) => {
  const world = await VinoWorld.running(t);
  const { client } = world;
  await withSip(t, world);
  const policy = {
    metadata: { namespace: NAMESPACE, name: "tenants" },
    spec: { hostClaimNamespaces: { names: ["nobody"] } },
  };
  await world.passing(client.create(HostDeployPolicy, policy as never));
  await world.join("node-1", {
    labels: { "example.com/vino": "true", "example.com/rack": "r", "example.com/server": "s" },
  });
  const { spec } = load(readFileSync("examples/vino/vino.yaml", "utf8")) as Vino;
  await world.apply("pool", spec);
  await world.untilReady("pool");
  const cluster = { metadata: { namespace: "other", name: "one" }, spec: { nodes: nodes(1, 1), services: {} } };
  await world.passing(client.create(SIPCluster, cluster as never));
  const found = async () => (await world.passing(client.get(SIPCluster, { namespace: "other", name: "one" }))).status;
  await world.until("it says why", async () =>
    JSON.stringify(await found()).includes("no HostDeployPolicy of namespace default lets this one have its hosts"),
  );
  const body = { spec: { hostClaimNamespaces: { names: ["other"] } } };
  await world.passing(client.patch(HostDeployPolicy, policy.metadata, { type: "merge", body }));
  await world.until("it has both", async () => (await found())?.scheduled === "2/2");
});
