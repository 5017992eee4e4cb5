/** The Packet example where it can be moved: its tenant in a third cluster, its machines from an account that every management cluster has. */
import { type Client, isTrue, type KubeObject, type Transport } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { TenantControlPlane } from "../../../src/kinds/kamaji/tenant-control-plane.ts";
import { MachineProvider } from "../../../src/kinds/slipway/machine-provider.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { readManifests } from "../../../src/laptop/manifests.ts";
import { EXAMPLE_KEYS } from "../../../src/laptop/metal.ts";
import { DEFAULT_NAMESPACE } from "../../../src/operator/defaults.ts";
import { until } from "../live.ts";

const NAME = "capi-quickstart";
const TENANTS = "tenants";
const PROVIDER = "metal";
const WITHIN_MS = 180_000;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The account of the one cloud, which is no object of the cluster's: each management cluster has its own. */
export async function haveAccount(client: Client, endpoint: string): Promise<void> {
  const { token, project } = EXAMPLE_KEYS.equinix;
  const data = { METAL_AUTH_TOKEN: base64(token), PROJECT_ID: base64(project.id) };
  await client.create(Secret, { metadata: { name: PROVIDER, namespace: DEFAULT_NAMESPACE }, data });
  await client.create(MachineProvider, {
    metadata: { name: PROVIDER },
    spec: { type: "equinix", endpoint, credentialsSecretRef: { name: PROVIDER } },
  });
}

/** Applies the example; `tenants` is the cluster that its control plane runs in, `way` the kubeconfig of it. */
export async function applyExample(
  home: { client: Client; transport: Transport },
  tenants: Client,
  way: string,
): Promise<void> {
  await tenants.create(Namespace, { metadata: { name: TENANTS } });
  const objects = await readManifests("examples/packet-kamaji");
  const changes: Record<string, object> = {
    PacketCluster: { providerRef: { name: PROVIDER } },
    KamajiControlPlane: {
      deployment: {
        externalClusterReference: {
          ...{ kubeconfigSecretName: "elsewhere", kubeconfigSecretKey: "value", deploymentNamespace: TENANTS },
        },
      },
    },
  };
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    // Owned by nobody: the label has clusterctl take it along.
    metadata: { name: "elsewhere", namespace: "default", labels: { "clusterctl.cluster.x-k8s.io/move": "" } },
    data: { value: base64(way) },
  };
  const changed = objects.map((object) => {
    const { spec } = object as KubeObject & { spec?: object };
    return changes[object.kind] === undefined ? object : { ...object, spec: { ...spec, ...changes[object.kind] } };
  });
  await applyObjects(home, [...changed, secret as unknown as KubeObject]);
}

/** Waits until the cluster is available with three running machines. */
export async function untilAvailable(client: Client, said: () => Promise<string> = async () => ""): Promise<void> {
  const find = () => client.find(Cluster, { namespace: "default", name: NAME });
  await until(
    "the cluster is available with three running machines",
    async () => {
      const machines = (await client.list(Machine)).items;
      const running = machines.filter(
        ({ status }) => status?.phase === "Running" && isTrue(status.conditions, "Ready"),
      );
      return isTrue((await find())?.status?.conditions, "Available") && running.length === 3;
    },
    WITHIN_MS,
    async () =>
      `${JSON.stringify([(await find())?.status, (await client.list(Machine)).items.map(({ status }) => status)])}\n${await said()}`,
  );
}

/** Names of the Machines, with their ids at the provider and their Nodes. */
export const machinesOf = async (client: Client): Promise<string[]> =>
  (await client.list(Machine)).items
    .map(({ metadata, spec, status }) => `${metadata.name} ${spec.providerID} ${status?.nodeRef?.name}`)
    .toSorted();

/** Names and identities of the tenants. */
export const tenantsOf = async (client: Client): Promise<string[]> =>
  (await client.list(TenantControlPlane)).items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
