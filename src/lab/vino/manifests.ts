/** What the lab has to know of the virtual machines and the tenant that it is to make, read from their manifests. */
import type { KubeObject, Ref } from "@slipway/kube";
import type { SIPCluster } from "../../kinds/sip/sip-cluster.ts";
import type { Vino } from "../../kinds/vino/vino.ts";
import { modelledOn } from "../modelled.ts";

const { lacks, only } = modelledOn("examples/lab-vino");

/** The Vino and the tenant of a folder of manifests. */
export interface LabVino {
  vino: Required<Ref>;
  /** Labels of the nodes that have the machines. */
  nodeLabels: Readonly<Record<string, string>>;
  /** Machines on each node, and the memory of all of them. */
  count: number;
  memoryMiB: number;
  /** The SIPCluster, whose TenantControlPlane has the same name. */
  sip: Required<Ref>;
  /** Hosts that it takes. */
  workers: number;
  /** Minor of the tenant's Kubernetes: `1.36`. */
  minor: string;
  /** Applied first: the Vino. The rest later. */
  first: readonly KubeObject[];
  rest: readonly KubeObject[];
}

/** As SIP makes them without a wish. */
const MEMORY_MIB = 2048;

/** Reads the manifests; `name` is how the user calls them. Throws a `Fault` where the lab can't make what they say. Pure. */
export function labVinoOf(objects: readonly KubeObject[], name: string): LabVino {
  const vino = only(objects, "Vino", name) as Vino;
  const cluster = only(objects, "SIPCluster", name) as SIPCluster;
  const plane = only(objects, "TenantControlPlane", name);
  const sets = vino.spec.nodes ?? [];
  const machines = sets.map(({ count = 0, memoryMiB = MEMORY_MIB }) => [count, memoryMiB] as const);
  const count = machines.reduce((sum, [of]) => sum + of, 0);
  const roles = Object.values(cluster.spec.nodes ?? {});
  const workers = roles.reduce((sum, { count: of }) => sum + (of?.active ?? 0) + (of?.standby ?? 0), 0);
  const nodeLabels = vino.spec.nodeSelector?.matchLabels ?? {};
  if (Object.keys(nodeLabels).length === 0) throw lacks(name, "spec.nodeSelector of its Vino selects no node");
  if (workers < 1 || workers > count)
    throw lacks(name, `its SIPCluster takes ${workers} hosts, and its Vino makes ${count} machines`);
  if (nameOf(plane) !== nameOf(cluster))
    throw lacks(name, `its TenantControlPlane is ${nameOf(plane)}, its SIPCluster ${nameOf(cluster)}`);
  const { loadBalancerControlPlane: [balancer] = [], auth: [provider] = [] } = cluster.spec.services;
  if (balancer === undefined || provider === undefined)
    throw lacks(name, "its SIPCluster has no loadBalancerControlPlane, or no auth");
  if ((balancer.replicas ?? 1) > 1) throw lacks(name, "its load balancer has several replicas, and the lab runs one");
  const { version = "" } = (plane as { spec?: { kubernetes?: { version?: string } } }).spec?.kubernetes ?? {};
  const [, minor] = /^v?(\d+\.\d+)\.\d+$/.exec(version) ?? [];
  if (minor === undefined) throw lacks(name, `spec.kubernetes.version of its TenantControlPlane is "${version}"`);
  return {
    ...{ vino: refIn(vino), nodeLabels, count, sip: refIn(cluster), workers, minor },
    memoryMiB: machines.reduce((sum, [of, each]) => sum + of * each, 0),
    first: [vino],
    rest: objects.filter((object) => object !== vino),
  };
}

const refIn = ({ metadata: { name, namespace = "default" } }: KubeObject): Required<Ref> => ({ namespace, name });
const nameOf = (object: KubeObject): string => Object.values(refIn(object)).join("/");
