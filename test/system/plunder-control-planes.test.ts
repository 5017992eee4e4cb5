/** Control planes of several PlunderMachines without bootstrap data of their own, and what the light core says of those that it does not make. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { Pod, Secret } from "@slipway/kube/core";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { PlunderCluster } from "../../src/kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { CLUSTER, inPlunderWorld, NAMESPACE, OLD_MANIFESTS, type PlunderWorld } from "./plunder-world.ts";
import { MINUTE } from "./world.ts";

const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";
/** An address that moves among the machines; who moves it is not simulated. */
const ENDPOINT = { host: "192.168.1.200", port: 6443 };
const OF_CONTROL_PLANE = { "cluster.x-k8s.io/control-plane": "" };

async function cluster(world: PlunderWorld): Promise<void> {
  await world.createTodays([OLD_MANIFESTS[0]!]);
  const body = { spec: { controlPlaneEndpoint: ENDPOINT } };
  const ref = { namespace: NAMESPACE, name: CLUSTER };
  await world.whileTimePasses(world.client.patch(PlunderCluster, ref, { type: "merge", body }));
}

/** A Machine without bootstrap data. */
async function machine(world: PlunderWorld, name: string, labels: object = {}): Promise<void> {
  const metadata = { namespace: NAMESPACE, name };
  await world.whileTimePasses(world.client.create(PlunderMachine, { metadata, spec: {} } as never));
  const infrastructureRef = { apiGroup: PlunderMachine.group, kind: PlunderMachine.kind, name };
  const spec = { clusterName: CLUSTER, version: "v1.36.1", bootstrap: { dataSecretName: "" }, infrastructureRef };
  await world.whileTimePasses(world.client.create(Machine, { metadata: { ...metadata, labels }, spec } as never));
}

test("N45 three machines of a control plane: one begins it, the others join it with its authorities; it answers while one of them has power", () =>
  inPlunderWorld(
    async (world) => {
      await cluster(world);
      for (const name of ["a", "b", "c"]) await machine(world, name, OF_CONTROL_PLANE);
      await world.untilRunning(3);
      const nodes = await world.nodes();
      for (const { metadata, spec } of nodes) {
        assert.equal(metadata.labels?.[CONTROL_PLANE], "", metadata.name);
        const taints = spec?.taints?.map(({ key, effect }) => `${key}:${effect}`) ?? [];
        assert.ok(taints.includes(`${CONTROL_PLANE}:NoSchedule`), `${metadata.name}: ${taints}`);
      }
      const workload = await world.workload();
      const pods = (await world.whileTimePasses(workload.list(Pod, { namespace: "kube-system" }))).items;
      for (const name of ["a", "b", "c"])
        assert.ok(
          pods.some(({ metadata }) => metadata.name === `kube-apiserver-${name}`),
          name,
        );

      const [first] = (await world.machines()).filter(({ metadata }) => metadata.name === "a");
      await world.remove(Machine, first!.metadata.name);
      await world.until("the first machine is gone", async () => (await world.machines()).length === 2);
      await world.own.check();
      await machine(world, "worker");
      await world.untilRunning(3);
      const left = (await world.nodes()).map(({ metadata }) => metadata.name).toSorted();
      assert.deepEqual(left, ["b", "c", "worker"], "the control plane is not begun anew");
      const worker = (await world.nodes()).find(({ metadata }) => metadata.name === "worker");
      assert.equal(worker?.metadata.labels?.[CONTROL_PLANE], undefined);

      await world.remove(Cluster, CLUSTER);
      await world.untilGone();
      await world.own.checkAllFree();
    },
    { servers: { sg: 4, ny: 0 } },
  ));

test("N45 the light core refuses a KubeadmControlPlane with a sentence; a Cluster that names one says so, too, and no Machine begins another", () =>
  inPlunderWorld(async (world) => {
    const kubeadmControlPlane = {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmControlPlane",
      metadata: { name: "plane" },
      spec: { replicas: 3, version: "v1.36.1" },
    };
    const refusal = /KubeadmControlPlane is served by upstream's Cluster API only: install it with clusterctl init/;
    await assert.rejects(
      world.createObject(kubeadmControlPlane),
      (error: unknown) => isFault(error, "Invalid") && refusal.test(error.message),
    );
    await cluster(world);
    const ref = { namespace: NAMESPACE, name: CLUSTER };
    const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "KubeadmControlPlane", name: "plane" };
    await world.whileTimePasses(
      world.client.patch(Cluster, ref, { type: "merge", body: { spec: { controlPlaneRef } } }),
    );
    await world.until("the Cluster says it", async () => {
      const { status } = await world.whileTimePasses(world.client.get(Cluster, ref));
      return refusal.test(JSON.stringify(status?.conditions ?? []));
    });
    await machine(world, "a", OF_CONTROL_PLANE);
    await world.until("the machine says what it waits for", async () =>
      /the control plane of Cluster cluster-plunder is KubeadmControlPlane plane, and no other is begun/.test(
        (await world.plunderMachine("a"))?.status?.waitingFor ?? "",
      ),
    );
    await world.clock.run(10 * MINUTE);
    assert.equal((await world.plunderMachine("a"))?.status?.host, undefined);
    const { items } = await world.whileTimePasses(world.client.list(Secret, { namespace: NAMESPACE }));
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(CLUSTER)),
      [],
      "no authorities of a control plane that nobody begins",
    );
  }));
