/** What is next for a PacketCluster that this provider sees to. Pure. */
import type { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import type { ElasticAddress } from "../../machines/elastic.ts";
import type { Severity } from "../infrastructure/conditions.ts";
import { addressTags } from "./names.ts";

export const API_PORT = 6443;

/** How long a list may miss an address whose order had no answer, and how often it is read meanwhile. */
export const SETTLE_MS = 60_000;
export const LOOK_AGAIN_MS = 10_000;

export interface Endpoint {
  host: string;
  port: number;
}

export interface ClusterView {
  cluster: PacketCluster;
  /** Name of the Cluster that owns it. */
  name: string;
  /** What the Cluster has as its control plane's endpoint. */
  endpoint: Endpoint | undefined;
  /** When the address was asked for, ms since 1970; undefined: it was not. */
  requestedAt: number | undefined;
  now: number;
}

export type ClusterStep =
  /** Nothing is left to do. */
  | { do: "ready" }
  /** Something else is waited for. */
  | { do: "wait"; reason: string; what: string; severity: Severity; recheckMs?: number }
  /** It can't work as it is written. */
  | { do: "refuse"; reason: string; message: string }
  /** The project's addresses are needed to decide. */
  | { do: "look" }
  | { do: "take"; address: ElasticAddress }
  | { do: "reserve" };

const EMLB_ENDED =
  "vipManager EMLB: Equinix' load balancers have ended with the service; use CPEM, KUBE_VIP or NONE, which can be changed here";

/** The step as far as it can be decided without asking the provider. */
export function planCluster({ cluster, endpoint }: ClusterView): ClusterStep {
  const { spec, status } = cluster;
  const own = endpointOf(spec);
  if (spec.vipManager === "EMLB") return { do: "refuse", reason: "LoadBalancerEnded", message: EMLB_ENDED };
  if (spec.vipManager === "NONE") {
    if (own !== undefined || endpoint !== undefined) return { do: "ready" };
    const what =
      "the control plane's endpoint, in the Cluster or in spec.controlPlaneEndpoint: vipManager NONE reserves no address";
    return { do: "wait", reason: "WaitingForControlPlaneEndpoint", what, severity: "Info" };
  }
  // An endpoint that a user wrote is no reservation of ours.
  const { id, address, requestedAt } = status?.elasticIP ?? {};
  if (id !== undefined && own?.host === address) return { do: "ready" };
  if (
    own !== undefined &&
    id === undefined &&
    requestedAt === undefined &&
    status?.initialization?.provisioned === true
  )
    return { do: "ready" };
  return { do: "look" };
}

/** The step once the project's addresses are known. */
export function planAddress(view: ClusterView, addresses: readonly ElasticAddress[]): ClusterStep {
  const { cluster, name, requestedAt, now } = view;
  const namespace = cluster.metadata.namespace ?? "";
  const own = endpointOf(cluster.spec);
  const [original, inNamespace] = addressTags({ namespace, cluster: name });
  const ours = addresses.find(({ tags }) => tags.includes(original!) && tags.includes(inNamespace!));
  if (ours !== undefined && (own === undefined || own.host === ours.address)) return { do: "take", address: ours };
  // The original's tags name no namespace: its address is this cluster's if it is what the cluster is reached at.
  const originals = addresses.find(({ address, tags }) => tags.includes(original!) && address === own?.host);
  if (originals !== undefined) return { do: "take", address: originals };
  if (own !== undefined) return { do: "ready" };
  if (requestedAt === undefined) return { do: "reserve" };
  const age = now - requestedAt;
  if (age >= SETTLE_MS) return { do: "reserve" };
  const what = "the provider's answer to the order of an elastic IP";
  return {
    do: "wait",
    reason: "Reserving",
    what,
    severity: "Info",
    recheckMs: Math.min(LOOK_AGAIN_MS, SETTLE_MS - age),
  };
}

/** Endpoint of a specification; undefined unless host and port are given. */
export function endpointOf({
  controlPlaneEndpoint: at,
}: Pick<PacketCluster["spec"], "controlPlaneEndpoint">): Endpoint | undefined {
  return at?.host && at.port ? { host: at.host, port: at.port } : undefined;
}
