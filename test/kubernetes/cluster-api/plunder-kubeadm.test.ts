/**
 * A KubeadmControlPlane of three PlunderMachines by upstream's own manager: on the embedded API, and on kube-apiserver. Simulated are the machines, and the
 * control plane that begins on the first: an API server for all of them, with the static Pods as objects.
 */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient, type KubeObject, type Resource } from "@slipway/kube";
import { ConfigMap, Node, Secret } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { BareMetalHost } from "../../../src/kinds/metal3/bare-metal-host.ts";
import { PlunderCluster } from "../../../src/kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../../src/kinds/plunder/plunder-machine.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { createAuthority, issueClient } from "../../../src/pki/authority.ts";
import { credentialsOf } from "../../../src/pki/tenant/credentials.ts";
import { whyNotHere } from "../cluster.ts";
import { until } from "../live.ts";
import { programs } from "./clusterctl.ts";
import { embeddedApi, type Management, realApi } from "./management.ts";
import { startPlunder } from "./plunder-provider.ts";
import { startUpstream } from "./upstream.ts";

const RUN = ["capi-core", "capi-bootstrap", "capi-control-plane"];
const WITHIN_MS = 300_000;
const VERSION = "v1.36.3";
const CLUSTER = { namespace: "default", name: "three" };
const OF_CONTROL_PLANE = "node-role.kubernetes.io/control-plane";
const folder = await programs("clusterctl", "kubectl", ...RUN);
const skip = folder instanceof Error && folder.message;
const noReal = (await whyNotHere()) ?? false;

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}
interface KubeadmControlPlane extends KubeObject {
  spec: { replicas: number; version: string };
  status?: {
    replicas?: number;
    readyReplicas?: number;
    upToDateReplicas?: number;
    initialization?: { controlPlaneInitialized?: boolean };
    conditions?: Condition[];
  };
}
const KubeadmControlPlane: Resource<KubeadmControlPlane> = {
  ...{ group: "controlplane.cluster.x-k8s.io", version: "v1beta2", kind: "KubeadmControlPlane" },
  ...{ plural: "kubeadmcontrolplanes", namespaced: true },
};

const infrastructure = (kind: string, name: string, spec: object) => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
  ...{ kind, metadata: { ...CLUSTER, name }, spec },
});

/** What a person applies. `etcd`: of kubeadm's ClusterConfiguration. */
function manifests(host: string, etcd: object | undefined): object[] {
  const nodeRegistration = {
    kubeletExtraArgs: [{ name: "provider-id", value: "plunder://{{ ds.meta_data.instance_id }}" }],
  };
  const { name } = CLUSTER;
  return [
    infrastructure("PlunderCluster", name, { controlPlaneEndpoint: { host, port: 6443 } }),
    infrastructure("PlunderMachineTemplate", name, { template: { spec: { deploymentType: "preseed" } } }),
    {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: KubeadmControlPlane.kind,
      metadata: CLUSTER,
      spec: {
        ...{ replicas: 3, version: VERSION },
        machineTemplate: {
          spec: {
            infrastructureRef: { apiGroup: PlunderMachine.group, kind: "PlunderMachineTemplate", name },
          },
        },
        kubeadmConfigSpec: {
          ...(etcd && { clusterConfiguration: { etcd } }),
          initConfiguration: { nodeRegistration },
          joinConfiguration: { nodeRegistration },
        },
      },
    },
    {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: Cluster.kind,
      metadata: CLUSTER,
      spec: {
        clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] } },
        infrastructureRef: { apiGroup: PlunderCluster.group, kind: PlunderCluster.kind, name },
        controlPlaneRef: { apiGroup: KubeadmControlPlane.group, kind: KubeadmControlPlane.kind, name },
      },
    },
  ];
}

/** etcd elsewhere, as kubeadm is told of it; upstream's provider wants its certificates, and asks it nothing. */
async function externalEtcd(client: Client): Promise<object> {
  const authority = await createAuthority({ commonName: "etcd", clock });
  const one = await issueClient(authority, { commonName: "apiserver-etcd-client", organizations: [], clock });
  const secret = (purpose: string, stringData: Record<string, string>) =>
    client.create(Secret, {
      metadata: {
        ...{ namespace: CLUSTER.namespace, name: `${CLUSTER.name}-${purpose}` },
        labels: { "cluster.x-k8s.io/cluster-name": CLUSTER.name },
      },
      ...{ type: "cluster.x-k8s.io/secret", stringData },
    });
  await secret("etcd", { "tls.crt": authority.certificatePem });
  await secret("apiserver-etcd-client", { "tls.crt": one.certificatePem, "tls.key": one.keyPem });
  const file = (name: string): string => `/etc/kubernetes/pki/${name}`;
  return {
    external: {
      endpoints: ["https://etcd.example:2379"],
      caFile: file("etcd/ca.crt"),
      ...{ certFile: file("apiserver-etcd-client.crt"), keyFile: file("apiserver-etcd-client.key") },
    },
  };
}

interface Life {
  client: Client;
  forbidden: readonly string[];
  plane(): Promise<KubeadmControlPlane>;
  machines(): Promise<Machine[]>;
  within(what: string, holds: () => Promise<boolean>): Promise<void>;
}

async function begun(t: TestContext, management: Management, host: string, isExternal: boolean): Promise<Life> {
  const { client, forbidden } = await startPlunder(t, management);
  const etcd = isExternal ? await externalEtcd(client) : undefined;
  await applyObjects({ client, transport: management.transport }, manifests(host, etcd) as KubeObject[]);
  const machines = async () => (await client.list(Machine)).items;
  const plane = () => client.get(KubeadmControlPlane, CLUSTER);
  const story = async (): Promise<string> =>
    [
      JSON.stringify((await client.list(KubeadmControlPlane)).items.map(({ status }) => status)),
      JSON.stringify((await machines()).map(({ metadata, status }) => [metadata.name, status?.conditions])),
      JSON.stringify((await client.list(PlunderMachine)).items.map(({ status }) => status)),
      `forbidden: ${forbidden}`,
      (await management.said("capi-control-plane")).slice(-4_000),
    ].join("\n");
  const within: Life["within"] = (what, holds) => until(what, holds, WITHIN_MS, story);
  return { client, forbidden, plane, machines, within };
}

async function workloadOf(t: TestContext, { client }: Life): Promise<Client> {
  const secret = await client.get(Secret, { ...CLUSTER, name: `${CLUSTER.name}-kubeconfig` });
  const text = Buffer.from(secret.data!.value!, "base64").toString();
  const { server, caPem: ca, certificatePem: cert, keyPem: key } = credentialsOf(text)!;
  const transport = createHttpTransport({ server, ca, cert, key } as never);
  t.after(() => transport.close());
  return createClient(transport, { clock, random, log });
}

async function ended({ client, forbidden, within }: Life): Promise<void> {
  await client.delete(Cluster, CLUSTER);
  const kinds = [Cluster, Machine, PlunderCluster, PlunderMachine, KubeadmControlPlane].map((kind) => kind as never);
  const left = async () => (await Promise.all(kinds.map((kind) => client.list(kind)))).flatMap(({ items }) => items);
  await within("the Cluster and all that was of it are gone", async () => (await left()).length === 0);
  await within("all hosts are wiped and free", async () =>
    (await client.list(BareMetalHost)).items.every(
      ({ spec, status }) => spec.consumerRef === undefined && status?.provisioning?.state === "available",
    ),
  );
  assert.deepEqual([...new Set(forbidden)], [], "the operator was forbidden something by the shipped rights");
}

const isRunning = ({ status }: Machine): boolean => status?.phase === "Running";
const conditionOf = (conditions: readonly Condition[] | undefined, type: string) =>
  conditions?.find((one) => one.type === type);

/** With its etcd elsewhere: three replicas, one after the other, and at the end the hosts' wipes. */
async function threeReplicas(t: TestContext, management: Management, host: string): Promise<void> {
  const life = await begun(t, management, host, true);
  const { client, plane, machines, within } = life;
  await within("three replicas are ready", async () => {
    const { status } = await plane();
    return [status?.replicas, status?.readyReplicas, status?.upToDateReplicas].every((count) => count === 3);
  });
  await within("three Machines run", async () => (await machines()).filter(isRunning).length === 3);
  const { status } = await plane();
  assert.equal(status?.initialization?.controlPlaneInitialized, true);
  for (const type of ["CertificatesAvailable", "ControlPlaneComponentsHealthy", "Available"])
    assert.equal(conditionOf(status?.conditions, type)?.status, "True", type);

  const workload = await workloadOf(t, life);
  const nodes = (await workload.list(Node)).items;
  const ids = (await machines()).map(({ spec }) => spec.providerID).toSorted();
  assert.deepEqual(nodes.map(({ spec }) => spec?.providerID).toSorted(), ids);
  for (const { metadata } of nodes) assert.equal(metadata.labels?.[OF_CONTROL_PLANE], "", metadata.name);
  const { data } = await workload.get(ConfigMap, { namespace: "kube-system", name: "kubeadm-config" });
  assert.ok(data?.ClusterConfiguration?.includes(`${host}:6443`), "the machines' endpoint is the PlunderCluster's");

  // The data of each Machine are used: kubeadm begins with the first's, and joins the control plane with the others'.
  const kinds: string[] = [];
  for (const { spec } of await machines()) {
    const secret = await client.get(Secret, { ...CLUSTER, name: spec.bootstrap.dataSecretName! });
    const text = Buffer.from(secret.data!.value!, "base64").toString();
    kinds.push(/kubeadm init/.test(text) ? "init" : /controlPlane:/.test(text) ? "join" : text.slice(0, 200));
  }
  assert.deepEqual(kinds.toSorted(), ["init", "join", "join"]);
  await ended(life);
}

/** With etcd on its machines upstream's manager asks each member before it makes another machine. There is none here: the first machine runs, and it waits. */
async function firstOfThree(t: TestContext, management: Management, host: string): Promise<void> {
  const life = await begun(t, management, host, false);
  const { plane, machines, within } = life;
  const reason = async () => conditionOf((await plane()).status?.conditions, "ScalingUp")?.message ?? "";
  await within("the second machine waits for etcd alone", async () => {
    const said = await reason();
    return /etcd cluster to become healthy/.test(said) && !/control plane components/.test(said);
  });
  await within("the first machine runs", async () => (await machines()).every(isRunning));
  const [first, ...others] = await machines();
  assert.ok(first !== undefined);
  assert.deepEqual(others, []);
  const { status } = await plane();
  assert.equal(status?.initialization?.controlPlaneInitialized, true);
  const of = (type: string) => conditionOf(first.status?.conditions as readonly Condition[], type)?.status;
  assert.deepEqual([of("APIServerPodHealthy"), of("EtcdPodHealthy")], ["True", "True"]);
  assert.notEqual(of("EtcdMemberHealthy"), "True");
  await ended(life);
}

describe("upstream's control planes", { skip }, () => {
  for (const [where, api, host, skip] of [
    ["the embedded API", embeddedApi, "127.0.78.1", false],
    ["kube-apiserver", realApi, "127.0.78.2", noReal],
  ] as const)
    test(`N45 a KubeadmControlPlane of three PlunderMachines, with etcd elsewhere, has three ready replicas, and leaves wiped machines, on ${where}`, {
      skip,
    }, async (t) => {
      await threeReplicas(t, await startUpstream(t, String(folder), { run: RUN, api }), host);
    });

  test("N45 with etcd on its machines a KubeadmControlPlane begins on a PlunderMachine and waits for etcd, which is not simulated; it leaves wiped machines", async (t) => {
    await firstOfThree(t, await startUpstream(t, String(folder), { run: RUN }), "127.0.78.3");
  });
});
