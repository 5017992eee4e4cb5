/** A ClusterClass of Packet's and Kamaji's kinds under upstream's core: made, scaled, given another plan, and deleted with nothing left. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isTrue } from "@slipway/kube";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { TenantControlPlane } from "../../../src/kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { PacketCluster } from "../../../src/kinds/packet/packet-cluster.ts";
import { PacketMachine } from "../../../src/kinds/packet/packet-machine.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { readManifests } from "../../../src/laptop/manifests.ts";
import { until } from "../live.ts";
import { programs } from "./clusterctl.ts";
import { startProviders, startUpstream, UPSTREAM_PROGRAMS } from "./upstream.ts";

const QUAY = { namespace: "default", name: "quay" };
const WITHIN_MS = 180_000;
const MADE = [Cluster, Machine, PacketCluster, PacketMachine, KamajiControlPlane, TenantControlPlane];
const folder = await programs(...UPSTREAM_PROGRAMS);
const skip = folder instanceof Error && folder.message;

describe("a ClusterClass", { skip }, () => {
  test("B47 B48 of Packet's and Kamaji's templates makes a cluster, changes it and takes it down under upstream's core", async (t) => {
    const management = await startUpstream(t, String(folder), { variables: { CLUSTER_TOPOLOGY: "true" } });
    const { client, metal } = await startProviders(t, management);
    const { transport } = management;
    const story = async (): Promise<string> => {
      const objects = await Promise.all(MADE.map((kind) => client.list(kind as typeof Cluster)));
      const lines = objects.flatMap(({ items }) =>
        items.map(({ kind, metadata, status }) => `${kind} ${metadata.name} ${JSON.stringify(status?.conditions)}`),
      );
      return [...lines, (await management.said("capi-core")).slice(-3000)].join("\n");
    };
    /** Waits until so many machines of this plan run, and no others. */
    const running = (count: number, plan: string) =>
      until(
        `${count} machines of plan ${plan} run, and the cluster is available and up to date`,
        async () => {
          const cluster = await client.get(Cluster, QUAY);
          const machines = (await client.list(Machine)).items.filter(({ status }) => status?.phase === "Running");
          const hosts = (await client.list(PacketMachine)).items;
          return (
            isTrue(cluster.status?.conditions, "Available") &&
            machines.length === count &&
            hosts.length === count &&
            hosts.every(({ spec, status }) => spec.machineType === plan && status?.ready === true)
          );
        },
        WITHIN_MS,
        story,
      );
    const account = (await readManifests("examples/packet-kamaji")).filter(({ kind }) =>
      /^(Namespace|Secret)$/.test(kind),
    );
    await applyObjects({ client, transport }, account);
    await applyObjects({ client, transport }, await readManifests("examples/cluster-class"));
    await running(2, "c3.medium.x86");
    const [host] = (await client.list(PacketMachine)).items;
    assert.deepEqual([host!.spec.metros, host!.spec.machineTypes], [["dc"], ["m3.large.x86"]]);
    const [plane] = (await client.list(KamajiControlPlane)).items;
    assert.deepEqual([plane!.spec.replicas, plane!.spec.version], [2, "v1.27.0"]);
    const [infrastructure] = (await client.list(PacketCluster)).items;
    assert.equal(infrastructure!.spec.metro, "sg");

    const cluster = await client.get(Cluster, QUAY);
    // What comes by direct call is the API's own object.
    const { topology } = structuredClone(cluster.spec) as unknown as { topology: Topology };
    topology.workers.machineDeployments[0]!.replicas = 3;
    topology.variables = topology.variables.map((one) =>
      one.name === "plan" ? { ...one, value: "m3.large.x86" } : one,
    );
    await client.patch(Cluster, QUAY, { type: "merge", body: { spec: { topology } } });
    await running(3, "m3.large.x86");

    await client.delete(Cluster, QUAY);
    await until(
      "cluster, machines and tenant are gone, and the cloud has no machine",
      async () => {
        const left = await Promise.all(MADE.map((kind) => client.list(kind as typeof Cluster)));
        return left.every(({ items }) => items.length === 0) && metal.equinix.sim.devices().length === 0;
      },
      WITHIN_MS,
      story,
    );
  });
});

interface Topology {
  workers: { machineDeployments: { replicas: number }[] };
  variables: { name: string; value: unknown }[];
}
