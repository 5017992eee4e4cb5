/**
 * A host becomes a cluster's in two writes, each under the lock of the version that was seen: it is reserved (consumerRef), and once all
 * hosts are reserved it is labelled. So no label appears while a role is short of hosts, and what died in between is seen by the next process.
 */
import { isFault, rfc3339Micro } from "@slipway/base";
import { type Client, refOf } from "@slipway/kube";
import {
  type Consumer,
  GROUP_LABEL,
  isConsumedBy,
  type Marks,
  releaseHost,
  takeHost,
} from "../../../inventory/claims/claim.ts";
import { CONSUMER_LABEL } from "../../../inventory/hosts/annotations.ts";
import { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { CLAIMED_AT, CLUSTER_NAME, CLUSTER_NAMESPACE, NODE_TYPE } from "../../../kinds/sip/labels.ts";
import type { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import { consumer, isConsumed, isLabelled, userOf } from "./belonging.ts";

/** In a patch: the host is in no cluster. */
const UNLABELLED = { [CLUSTER_NAMESPACE]: null, [CLUSTER_NAME]: null, [NODE_TYPE]: null };
const UNMARKED: Marks = { labels: UNLABELLED, annotations: { [CLAIMED_AT]: null } };

/** Reserves the host. Undefined: another consumer was first, or the host has changed since it was read. Rejects as the API does. */
export async function reserve(
  client: Client,
  host: BareMetalHost,
  cluster: SIPCluster,
  now: number,
): Promise<BareMetalHost | undefined> {
  if (isConsumedBy(host, consumer(cluster))) return host;
  // Of an earlier cluster of this name, which left it.
  if (isConsumed(host, cluster)) return await adopt(client, host, cluster);
  const annotations = { [CLAIMED_AT]: rfc3339Micro(now) };
  return await takeHost(client, host, consumer(cluster), { annotations });
}

/** Names the cluster as the consumer of a host that is its own by its labels. Undefined: it was changed meanwhile, or is gone. */
export async function adopt(
  client: Client,
  host: BareMetalHost,
  cluster: SIPCluster,
): Promise<BareMetalHost | undefined> {
  const labels = { [CONSUMER_LABEL]: cluster.metadata.uid };
  return await patched(client, host, { metadata: { labels }, spec: { consumerRef: consumer(cluster) } });
}

/** Labels a reserved host. Undefined: it is no longer reserved for the cluster, or was changed meanwhile. */
export async function label(
  client: Client,
  host: BareMetalHost,
  cluster: SIPCluster,
  role: string,
): Promise<BareMetalHost | undefined> {
  const { name, namespace = "" } = cluster.metadata;
  const labels = { [CLUSTER_NAMESPACE]: namespace, [CLUSTER_NAME]: name, [NODE_TYPE]: role };
  for (let seen: BareMetalHost | undefined = host; seen !== undefined; ) {
    if (!isConsumedBy(seen, consumer(cluster))) return undefined;
    const written = await patched(client, seen, { metadata: { labels } });
    if (written !== undefined) return written;
    seen = await client.find(BareMetalHost, refOf(host));
  }
  return undefined;
}

/** Names another consumer in the cluster's place; the host keeps its labels. Undefined: it was changed meanwhile, or is gone. */
export async function handOver(client: Client, host: BareMetalHost, to: Consumer): Promise<BareMetalHost | undefined> {
  const labels = { [CONSUMER_LABEL]: null };
  return await patched(client, host, { metadata: { labels }, spec: { consumerRef: to } });
}

/**
 * Gives a host back, a step at each call: what is installed on it is removed first. One that somebody uses loses its labels alone: it is
 * its user's. Resolves with what is waited for; undefined: nothing.
 */
export async function giveBack(client: Client, host: BareMetalHost, cluster: SIPCluster): Promise<string | undefined> {
  try {
    if (isConsumedBy(host, consumer(cluster))) return await releaseHost(client, host, consumer(cluster), UNMARKED);
    if (!isLabelled(host, cluster) && !isConsumed(host, cluster)) return undefined;
    const isUsed = userOf(host, cluster) !== undefined;
    const labels = isUsed ? UNLABELLED : { ...UNLABELLED, [CONSUMER_LABEL]: null, [GROUP_LABEL]: null };
    const body = { metadata: { labels, annotations: UNMARKED.annotations } };
    const written = await patched(client, host, isUsed ? body : { ...body, spec: { consumerRef: null } });
    return written === undefined ? "the host to keep still" : undefined;
  } catch (error) {
    if (isFault(error, "NotFound")) return undefined;
    if (isFault(error, "Conflict")) return "the host to keep still";
    throw error;
  }
}

/** Undefined: it was changed meanwhile, or is gone. */
async function patched(
  client: Client,
  host: BareMetalHost,
  body: { metadata: object; spec?: object },
): Promise<BareMetalHost | undefined> {
  const { resourceVersion } = host.metadata;
  try {
    return await client.patch(BareMetalHost, refOf(host), {
      type: "merge",
      body: { ...body, metadata: { ...body.metadata, resourceVersion } },
    });
  } catch (error) {
    if (isFault(error, "Conflict", "NotFound")) return undefined;
    throw error;
  }
}
