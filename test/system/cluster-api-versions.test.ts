import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { Deployment, Secret } from "@slipway/kube/core";
import { ClusterV1beta1 } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { MachineDeploymentV1beta1 } from "../../src/kinds/cluster-api/machine-deployment.ts";
import { MachineV1alpha2 } from "../../src/kinds/cluster-api/v1alpha2.ts";
import { SimMachine } from "./cluster-api-provider.ts";
import { CLUSTER, CoreWorld, NAMESPACE } from "./cluster-api-world.ts";
import { MINUTE } from "./world.ts";

test("a MachineDeployment of v1beta1 is carried out, and read back in v1beta1 as it was written", async (t) => {
  const world = await CoreWorld.started(t);
  const reference = (apiVersion: string, kind: string) => ({ apiVersion, kind, name: "a" });
  const spec = {
    clusterName: CLUSTER,
    replicas: 1,
    selector: {},
    revisionHistoryLimit: 3,
    template: {
      spec: {
        ...{ clusterName: CLUSTER, version: "v1.36.1", nodeDrainTimeout: "5m" },
        bootstrap: { configRef: reference("bootstrap.cluster.x-k8s.io/v1", "SimBootstrapTemplate") },
        infrastructureRef: reference("infrastructure.cluster.x-k8s.io/v1", "SimMachineTemplate"),
      },
    },
  };
  const draft = { metadata: { namespace: NAMESPACE, name: "workers" }, spec };
  await world.whileTimePasses(world.client.create(MachineDeploymentV1beta1, draft as never));
  await world.untilRolledOut("workers");
  assert.equal((await world.machines())[0]?.spec.deletion?.nodeDrainTimeoutSeconds, 300);
  const ref = { namespace: NAMESPACE, name: "workers" };
  const old = await world.whileTimePasses(world.client.get(MachineDeploymentV1beta1, ref));
  assert.equal(old.spec.revisionHistoryLimit, 3);
  assert.equal(old.spec.template.spec?.nodeDrainTimeout, "5m");
  assert.equal(old.spec.template.spec?.infrastructureRef.apiVersion, "infrastructure.cluster.x-k8s.io/v1");
  assert.equal(old.status?.updatedReplicas, 1);
  const cluster = await world.whileTimePasses(
    world.client.get(ClusterV1beta1, { namespace: NAMESPACE, name: CLUSTER }),
  );
  assert.equal(cluster.status?.infrastructureReady, true);
});

test("N46 a Machine of v1alpha2 is carried out; its inline bootstrap data become a Secret, and are not shown any more", async (t) => {
  const world = await CoreWorld.started(t);
  const { client } = world;
  await world.whileTimePasses(client.create(SimMachine, { metadata: { namespace: NAMESPACE, name: "old" }, spec: {} }));
  const labels = { "cluster.x-k8s.io/cluster-name": CLUSTER };
  const infrastructureRef = { apiVersion: "infrastructure.cluster.x-k8s.io/v1", kind: "SimMachine", name: "old" };
  const spec = { version: "v1.14.2", bootstrap: { data: "#cloud-config\nruncmd: [secret]\n" }, infrastructureRef };
  const draft = { metadata: { namespace: NAMESPACE, name: "old", labels }, spec };
  await world.whileTimePasses(client.create(MachineV1alpha2, draft as never));
  const ref = { namespace: NAMESPACE, name: "old" };
  const read = () => world.whileTimePasses(client.get(MachineV1alpha2, ref));
  await world.until("it is provisioned", async () => (await read()).spec.providerID !== undefined);
  await world.until("it runs", async () => (await read()).status?.phase === "running");
  const stored = await world.whileTimePasses(client.get(Machine, ref));
  assert.deepEqual([stored.spec.clusterName, stored.status?.phase], [CLUSTER, "Running"]);
  const name = stored.spec.bootstrap.dataSecretName!;
  const secret = await world.whileTimePasses(client.get(Secret, { namespace: NAMESPACE, name }));
  assert.equal(Buffer.from(secret.data!.value!, "base64").toString(), spec.bootstrap.data);
  for (const shown of [await read(), stored]) assert.ok(!JSON.stringify(shown).includes("secret]"), "they are shown");
  assert.equal((await read()).spec.infrastructureRef.apiVersion, infrastructureRef.apiVersion);

  const lonely = { ...draft, metadata: { namespace: NAMESPACE, name: "lonely" } };
  await assert.rejects(
    world.whileTimePasses(client.create(MachineV1alpha2, lonely as never)),
    /the label cluster.x-k8s.io\/cluster-name is missing/,
  );
});

test("a ClusterClass is refused with a sentence that says who serves it", async (t) => {
  const world = await CoreWorld.started(t);
  const draft = {
    metadata: { namespace: NAMESPACE, name: "classy" },
    spec: { topology: { classRef: { name: "x" }, version: "v1.36.1" } },
  };
  const { Cluster } = await import("../../src/kinds/cluster-api/cluster.ts");
  await assert.rejects(
    world.whileTimePasses(world.client.create(Cluster, draft as never)),
    /ClusterClass is served by upstream's Cluster API only/,
  );
});

test("beside upstream's core the light one leaves all alone", async (t) => {
  const world = await CoreWorld.create({});
  t.after(() => world.close());
  const labels = { "cluster.x-k8s.io/provider": "cluster-api" };
  const draft = {
    metadata: { namespace: NAMESPACE, name: "capi-controller-manager", labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "manager", image: "m" }] } },
    },
  };
  await world.whileTimePasses(world.client.create(Deployment, draft as never));
  await world.operator();
  await world.make();
  await world.clock.run(10 * MINUTE);
  const cluster = (await world.cluster()) as KubeObject & { status?: object };
  assert.deepEqual([cluster.metadata.finalizers, cluster.status], [undefined, undefined]);
  assert.ok(world.logged.some((line) => /another Cluster API core is installed/.test(line)));
});
