import { isFault } from "@slipway/base";
import { type Client, type KubeObject, pathOf, type Resource, refOf, type Transport } from "@slipway/kube";
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Event,
  Lease,
  Node,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
} from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { IPPool } from "../../src/kinds/ipam/ip-pool.ts";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import { HostClaim } from "../../src/kinds/metal3/host-claim.ts";
import { HostDeployPolicy } from "../../src/kinds/metal3/host-deploy-policy.ts";
import { HostFirmwareSettings } from "../../src/kinds/metal3/host-firmware-settings.ts";
import { SIPCluster } from "../../src/kinds/sip/sip-cluster.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { CapiMachine } from "../../src/sim/site/capi-machine.ts";

const ReplicaSet: Resource = {
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
};

/** Where worlds write. */
const WRITTEN: readonly [resource: Resource, namespace?: string][] = [
  [InstancePool],
  [Instance],
  [MachineProvider],
  [TenantControlPlane, "tenants"],
  [DataStore],
  [Secret, "tenants"],
  [Event, "tenants"],
  [Node],
  [ReplicaSet, "default"],
  [Pod, "default"],
  [PodDisruptionBudget, "default"],
  [Event, "default"],
  [Secret, "default"],
  [ConfigMap, "default"],
  [Event, "harvester-system"],
  [Secret, "harvester-system"],
  [ConfigMap, "harvester-system"],
  [Lease, "harvester-system"],
  [CapiMachine, "fleet-local"],
  [HostClaim, DISCOVERY_NAMESPACE],
  [HostClaim, "tenant"],
  [HostDeployPolicy, DISCOVERY_NAMESPACE],
  [BareMetalHost, DISCOVERY_NAMESPACE],
  [HardwareData, DISCOVERY_NAMESPACE],
  [HostFirmwareSettings, DISCOVERY_NAMESPACE],
  [Event, DISCOVERY_NAMESPACE],
  [Secret, DISCOVERY_NAMESPACE],
  [ConfigMap, DISCOVERY_NAMESPACE],
  [Lease, DISCOVERY_NAMESPACE],
  [IPPool, "default"],
  ...["default", "other", "sipcluster-system"].flatMap((namespace): [Resource, string][] => [
    ...[SIPCluster, BareMetalHost, HostDeployPolicy, Secret, Event].map((of): [Resource, string] => [of, namespace]),
  ]),
];

/** What a cluster has by itself stays. */
const OWN = new Set(["kube-root-ca.crt"]);

/** Removes what a world leaves behind, whatever finalizers hold it. Resolves when it is gone. */
export async function wipe(client: Client, transport: Transport): Promise<void> {
  for (const name of ["ingress-expose", "rke2-traefik"])
    await client.delete(Service, { namespace: "kube-system", name });
  await Promise.all(WRITTEN.map(([resource, namespace]) => empty(client, transport, resource, namespace)));
  // Their ports are needed again before the garbage collector has seen that their owners are gone.
  for (const resource of [Service, Deployment, Secret, ConfigMap] as readonly Resource[])
    for (const made of (await client.list(resource, { labelSelector: "app.kubernetes.io/part-of=sip" })).items)
      await client.delete(resource, refOf(made));
  const { items } = await client.list(CustomResourceDefinition);
  await Promise.all(items.flatMap(clusterApiKind).map((resource) => emptyEverywhere(client, resource)));
}

/** A kind of Cluster API's groups, those of the tests' own providers included. */
function clusterApiKind({ spec }: CustomResourceDefinition): Resource[] {
  const { group, names, scope, versions } = spec as unknown as {
    group: string;
    scope: string;
    names: { kind: string; plural: string };
    versions: { name: string; served: boolean }[];
  };
  const version = versions.find(({ served }) => served)?.name;
  if (version === undefined || !group.endsWith("cluster.x-k8s.io")) return [];
  return [{ ...{ group, version, namespaced: scope === "Namespaced" }, kind: names.kind, plural: names.plural }];
}

async function emptyEverywhere(client: Client, resource: Resource): Promise<void> {
  for (;;) {
    const { items } = await client.list(resource);
    if (items.length === 0) return;
    for (const held of items) {
      if (held.metadata.finalizers?.length) await release(client, resource, held);
      await client.delete(resource, refOf(held));
    }
  }
}

async function empty(client: Client, transport: Transport, resource: Resource, namespace?: string): Promise<void> {
  const at = namespace === undefined ? {} : { namespace };
  for (;;) {
    const left = (await client.list(resource, at)).items.filter(({ metadata }) => !OWN.has(metadata.name));
    if (left.length === 0) return;
    await Promise.all(
      left.filter(({ metadata }) => metadata.finalizers?.length).map((held) => release(client, resource, held)),
    );
    const body = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0, propagationPolicy: "Background" };
    const { status } = await transport.request({ method: "DELETE", path: pathOf(resource, at), body });
    if (status >= 400) throw new Error(`${resource.kind} can't be emptied: ${status}`);
  }
}

/** Takes its finalizers away. What is being deleted may go by itself meanwhile. */
async function release(client: Client, resource: Resource, held: KubeObject): Promise<void> {
  try {
    await client.patch(resource, refOf(held), { type: "merge", body: { metadata: { finalizers: null } } });
  } catch (error) {
    if (!isFault(error, "NotFound")) throw error;
  }
}
