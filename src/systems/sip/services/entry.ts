/** One entry of a list of `spec.services`, and what the objects made for it have in common. Pure. */
import { createHash } from "node:crypto";
import { Fault } from "@slipway/base";
import { controllerReference, type KubeObject } from "@slipway/kube";
import type { Services } from "../../../kinds/sip/services.ts";
import { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import type { Manifest } from "../../../tenants/deployment/wanted.ts";

export type ServiceKind = keyof Services;

/** Names and labels are the original's, by which its objects are found and taken over. */
const OF_KIND = {
  loadBalancerControlPlane: { head: "loadbalancer-controlplane", component: "loadbalancer", name: "haproxy" },
  loadBalancerWorker: { head: "loadbalancer-worker", component: "loadbalancer", name: "haproxy" },
  jumpHost: { head: "jumphost", component: "jumphost", name: "jumphost" },
  auth: { head: "dex", component: "auth", name: "dex" },
} as const satisfies Record<ServiceKind, object>;

export const PART_OF = { "app.kubernetes.io/part-of": "sip" } as const;
/** On the Pods of a Deployment: a checksum of their configuration, so that another one rolls them. */
export const CONFIGURATION = "slipway.dev/configuration";

export interface Entry {
  cluster: SIPCluster;
  kind: ServiceKind;
  /** Place in its list. */
  at: number;
}

/** What the user finds the entry by. */
export const pathOf = ({ kind, at }: Entry): string => `spec.services.${kind}[${at}]`;

/** The name of the entry's Service, Deployment and first Secret. */
export const nameOf = (entry: Entry): string => besides(entry, "");

/** The name of a further object of the entry. */
export function besides({ cluster, kind, at }: Entry, what: string): string {
  return objectName(`${OF_KIND[kind].head}${what}${at === 0 ? "" : at + 1}`, cluster.metadata.name);
}

const LONGEST = 63;

/** A name that Services may have. Names of clusters that are too long, or have dots, end in a checksum. */
function objectName(head: string, cluster: string): string {
  const whole = `${head}-${cluster}`;
  if (whole.length <= LONGEST && !cluster.includes(".")) return whole;
  const digest = createHash("sha256").update(cluster).digest("hex").slice(0, 8);
  const room = LONGEST - head.length - digest.length - 2;
  return `${head}-${cluster.replaceAll(".", "-").slice(0, room)}-${digest}`;
}

/** Labels of the entry's objects; its Pods are selected by them. */
export function labelsOf(entry: Entry): Record<string, string> {
  const { component, name } = OF_KIND[entry.kind];
  return {
    ...PART_OF,
    "app.kubernetes.io/component": component,
    "app.kubernetes.io/name": name,
    "app.kubernetes.io/instance": nameOf(entry),
  };
}

/** Metadata of an object of the entry, which goes with the cluster. */
export function metadataOf(entry: Entry, name = nameOf(entry)): Manifest["metadata"] {
  const { cluster } = entry;
  return {
    name,
    namespace: cluster.metadata.namespace!,
    labels: labelsOf(entry),
    ownerReferences: [controllerReference(SIPCluster, cluster)],
  };
}

/** A Secret or ConfigMap whose texts are `data`. */
export function dataOf(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
}

/** Checksum of the objects that Pods are configured by. */
export function checksumOf(objects: readonly Omit<KubeObject, "metadata">[]): string {
  return createHash("sha256").update(JSON.stringify(objects)).digest("hex");
}

/** The port, where it can be one. Throws `Invalid` with the field. */
export function checkedPort(port: number, on: string, least = 1): number {
  if (port >= least && port <= 65_535) return port;
  throw new Fault("Invalid", on, `${port} is no port`, { remedy: `use ${least} to 65535` });
}
