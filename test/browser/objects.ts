/** A small world for the page's tests, with strings of an attacker wherever a machine or a cloud can put some. */
import type { KubeObject } from "@slipway/kube";

export const ATTACK = `<img src=x onerror="globalThis.attacked=1"><script>globalThis.attacked=1</script>"'><svg/onload=globalThis.attacked=1>`;

const MADE = "2026-01-01T00:00:00Z";
const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`;

export interface Made {
  apiVersion: string;
  kind: string;
  name: string;
  namespace?: string;
  metadata?: object;
  spec?: object;
  status?: object;
  [field: string]: unknown;
}

/** An object as the API would have it. */
export function made({ apiVersion, kind, name, namespace, metadata, ...rest }: Made): KubeObject {
  return {
    ...{ apiVersion, kind },
    metadata: {
      ...{ name, uid: `${kind}-${namespace ?? ""}-${name}`, resourceVersion: "1", generation: 1 },
      ...{ creationTimestamp: MADE, ...(namespace !== undefined && { namespace }) },
      ...metadata,
    },
    ...rest,
  };
}

export const ready = (reason = "Joined"): object => ({
  observedGeneration: 1,
  conditions: [{ type: "Ready", status: "True", reason, message: "", lastTransitionTime: at(20) }],
});

const METAL3 = "metal3.io/v1alpha1";
const HARVESTER = "equinix.harvesterhci.io/v1";
const CORE = "cluster.x-k8s.io/v1beta2";

export function host(name: string, more: Partial<Made> = {}): KubeObject {
  const { spec, status, metadata, ...rest } = more;
  return made({
    ...{ apiVersion: METAL3, kind: "BareMetalHost", namespace: "slipway-hosts", name },
    metadata: { labels: { "topology.kubernetes.io/rack": "r1", "example.com/unit": "7" }, ...metadata },
    spec: { online: true, bmc: { address: "redfish://10.0.0.1/redfish/v1/Systems/1", credentialsName: "x" }, ...spec },
    status: {
      ...{ operationalStatus: "OK", poweredOn: true, provisioning: { state: "available", ID: "" } },
      ...{ errorMessage: "", ...status },
    },
    ...rest,
  });
}

/** Everything that the pages show. Its one event was seen last at `seen`. */
export function smallWorld(seen = new Date().toISOString()): KubeObject[] {
  const pool = made({
    ...{ apiVersion: HARVESTER, kind: "InstancePool", name: "workers", spec: { count: 2 } },
    status: { status: "submitted", ready: 1, requested: 2, replicas: 2, drifted: 1, selector: "instancePool=workers" },
  });
  const owner = {
    apiVersion: HARVESTER,
    kind: "InstancePool",
    name: "workers",
    uid: pool.metadata.uid,
    controller: true,
  };
  const tenant = made({
    ...{ apiVersion: "kamaji.clastix.io/v1alpha1", kind: "TenantControlPlane", namespace: "tenants", name: "team-a" },
    spec: { dataStore: "main", controlPlane: { deployment: { replicas: 2 } } },
    status: {
      ...ready("Ready"),
      ...{
        controlPlaneEndpoint: "10.0.0.9:6443",
        kubernetesResources: { version: { version: "v1.36.0", status: "Ready" } },
      },
      storage: { driver: "etcd", dataStoreName: "main", setup: { schema: "tenants_team_a" } },
      certificates: { apiServer: { secretName: "team-a-api-server", lastUpdate: at(3) } },
    },
  });
  return [
    pool,
    made({
      ...{ apiVersion: HARVESTER, kind: "Instance", name: "workers-1", metadata: { ownerReferences: [owner] } },
      status: {
        ...{ status: "managed", instanceID: "id-1", publicIP: "10.1.0.1", provider: "latitude", ...ready() },
        ...{ purchase: { attempt: 1, at: at(1), state: "Done", placement: 0 }, boot: { id: "b", pass: 1, at: at(4) } },
        ...{ install: { scriptFetched: at(6), succeeded: at(15) }, node: { uid: "n", joined: at(19) } },
        drift: ["plan"],
      },
    }),
    made({
      ...{ apiVersion: HARVESTER, kind: "Instance", name: "workers-2", metadata: { ownerReferences: [owner] } },
      status: { status: "provisioning", waitingFor: `the provider ${ATTACK}`, waitingSince: at(2) },
    }),
    host("node-1", {
      status: {
        hardware: {
          systemVendor: { manufacturer: ATTACK, productName: "Shelf", serialNumber: ATTACK },
          ...{ hostname: ATTACK, ramMebibytes: 65536, cpu: { count: 16, model: "Zen", arch: "x86_64" } },
          storage: [{ name: "/dev/sda", sizeBytes: 480e9, type: "SSD", serialNumber: ATTACK }],
          nics: [{ name: "eth0", mac: "52:54:00:00:00:01", ip: "10.8.0.11", pxe: true }],
        },
        agent: { trust: "discovered", keyFingerprint: "3f2a-90b1", waitsFor: "an order" },
      },
    }),
    host("node-2", { spec: { consumerRef: { kind: "Instance", name: "workers-1", namespace: "" } } }),
    made({
      ...{ apiVersion: CORE, kind: "Cluster", namespace: "default", name: "alpha" },
      spec: {},
      status: { phase: "Provisioned" },
    }),
    tenant,
    made({
      ...{ apiVersion: "kamaji.clastix.io/v1alpha1", kind: "DataStore", name: "main" },
      ...{ spec: { driver: "etcd", endpoints: ["etcd:2379"] }, status: { ready: true, usedBy: ["tenants/team-a"] } },
    }),
    made({
      ...{
        apiVersion: "v1",
        kind: "Event",
        namespace: "slipway-hosts",
        name: "e1",
        type: "Warning",
        reason: "Refused",
      },
      ...{
        message: ATTACK,
        count: 3,
        firstTimestamp: seen,
        lastTimestamp: seen,
      },
      involvedObject: { kind: "BareMetalHost", namespace: "slipway-hosts", name: "node-1" },
    }),
  ];
}

/** So many hosts in racks of forty. */
export const manyHosts = (count: number): KubeObject[] =>
  Array.from({ length: count }, (_, index) =>
    host(`host-${String(index).padStart(5, "0")}`, {
      metadata: { labels: { "topology.kubernetes.io/rack": `r${Math.floor(index / 40)}`, unit: String(index % 40) } },
    }),
  );
