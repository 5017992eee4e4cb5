/** The kinds that the console follows, as plain data: a page in a browser has neither the systems nor their schemas. A test holds it against them. */
import type { Role } from "./row.ts";

export interface FollowedKind {
  /** As the stream of changes names it: `plural.group`, or the plural for the core group. */
  name: string;
  group: string;
  plural: string;
  kind: string;
  /** What it is to the user; undefined: neither machine, nor pool, nor cluster. */
  role?: Role | undefined;
}

const of = (role: Role | undefined, group: string, kinds: Readonly<Record<string, string>>): FollowedKind[] =>
  Object.entries(kinds).map(([plural, kind]) => ({
    ...{ name: group === "" ? plural : `${plural}.${group}`, group, plural, kind, role },
  }));

const CORE = "cluster.x-k8s.io";
const INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io";
const METAL3 = "metal3.io";
const HARVESTER = "equinix.harvesterhci.io";
const KAMAJI = "kamaji.clastix.io";
const AIRSHIP = "airship.airshipit.org";

export const FOLLOWED: readonly FollowedKind[] = [
  ...of("machines", METAL3, { baremetalhosts: "BareMetalHost" }),
  ...of("machines", HARVESTER, { instances: "Instance" }),
  ...of("machines", CORE, { machines: "Machine" }),
  ...of("machines", INFRASTRUCTURE, { packetmachines: "PacketMachine", plundermachines: "PlunderMachine" }),
  ...of("pools", HARVESTER, { instancepools: "InstancePool" }),
  ...of("pools", CORE, { machinedeployments: "MachineDeployment" }),
  ...of("pools", AIRSHIP, { vinoes: "Vino" }),
  ...of("clusters", CORE, { clusters: "Cluster" }),
  ...of("clusters", KAMAJI, { tenantcontrolplanes: "TenantControlPlane" }),
  ...of("clusters", AIRSHIP, { sipclusters: "SIPCluster" }),
  ...of(undefined, METAL3, { hardwaredata: "HardwareData", hostclaims: "HostClaim" }),
  ...of(undefined, CORE, { machinesets: "MachineSet", machinehealthchecks: "MachineHealthCheck" }),
  ...of(undefined, INFRASTRUCTURE, { packetclusters: "PacketCluster", plunderclusters: "PlunderCluster" }),
  ...of(undefined, "controlplane.cluster.x-k8s.io", { kamajicontrolplanes: "KamajiControlPlane" }),
  ...of(undefined, "bootstrap.cluster.x-k8s.io", { kubeadmconfigs: "KubeadmConfig" }),
  ...of(undefined, KAMAJI, { datastores: "DataStore" }),
  ...of(undefined, "slipway.dev", { machineproviders: "MachineProvider", vinonodes: "VinoNode" }),
  ...of(undefined, "", { nodes: "Node", events: "Event" }),
];

const BY_NAME: ReadonlyMap<string, FollowedKind> = new Map(FOLLOWED.map((kind) => [kind.name, kind]));
const BY_KIND: ReadonlyMap<string, FollowedKind> = new Map(
  FOLLOWED.map((kind) => [`${kind.group}/${kind.kind}`, kind]),
);

/** The group in an `apiVersion`; empty for the core group. */
export const groupOf = (apiVersion: string): string => apiVersion.split("/").slice(0, -1).join();

/** A followed kind by its name in the stream. */
export const followedByName = (name: string): FollowedKind | undefined => BY_NAME.get(name);

/** The followed kind of an object; undefined: it is not followed. */
export const followedKindOf = (object: { apiVersion: string; kind: string }): FollowedKind | undefined =>
  BY_KIND.get(`${groupOf(object.apiVersion)}/${object.kind}`);
