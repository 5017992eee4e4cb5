/** Gives back what a PacketCluster has at its provider. */
import { parseTime } from "@slipway/base";
import { type Context, DONE, type Outcome, removeFinalizer, waitFor } from "@slipway/kube";
import { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import { isProviders } from "../../machines/patient-release.ts";
import { withWayOut } from "../infrastructure/guarded.ts";
import { ABANDON } from "../infrastructure/names.ts";
import { ABANDONED_MACHINES, writeAbandoned } from "../providers/abandoned.ts";
import { accountSource, clusterAccount } from "./account.ts";
import { LOOK_AGAIN_MS, SETTLE_MS } from "./cluster-plan.ts";
import { addressTags, CLUSTER_FINALIZER } from "./names.ts";
import type { ClusterRecord, Packet } from "./shared.ts";
import { clusterNameOf } from "./surroundings.ts";

/** Releases the elastic IP, unless it is to be kept, and lets the object go. Whether its Cluster and machines are there does not matter. */
export async function releaseCluster(packet: Packet, context: Context, record: ClusterRecord): Promise<Outcome> {
  const cluster = record.object;
  const { address, requestedAt } = cluster.status?.elasticIP ?? {};
  if (cluster.spec.reclaimPolicy === "Retain") {
    if (address !== undefined)
      context.events.normal(cluster, "Retained", `elastic IP ${address} is kept: reclaimPolicy is Retain`);
  } else if (address !== undefined || requestedAt !== undefined) {
    const waitMs = await releaseOrAbandon(packet, context, cluster);
    if (waitMs > 0) {
      const what = "the answer to an order that may have reserved an elastic IP";
      await record.write(waitFor(cluster.status, { what, now: context.clock.now() }));
      return { againAfterMs: waitMs };
    }
  }
  await removeFinalizer(context.client, PacketCluster, cluster, CLUSTER_FINALIZER);
  return DONE;
}

/** As `release`; a provider that can't be asked holds the object, until the user lets it go. */
async function releaseOrAbandon(packet: Packet, context: Context, cluster: PacketCluster): Promise<number> {
  const { namespace, name, annotations, uid } = cluster.metadata;
  const address = cluster.status?.elasticIP?.address;
  const what = address === undefined ? "an elastic IP that may have been reserved" : `elastic IP ${address}`;
  try {
    return await release(packet, context, cluster);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isProviders(error)) throw error;
    const where = `ConfigMap ${packet.own.namespace}/${ABANDONED_MACHINES}`;
    if (annotations?.[ABANDON] !== "true")
      throw withWayOut(error, { object: `packetcluster -n ${namespace} ${name}`, left: what, where });
    const find = tagsOf(cluster).join(", ");
    const entry = { address: address ?? "unknown", find, project: cluster.spec.projectID, reason: error.message };
    await writeAbandoned(context, packet.own.namespace, { key: `${namespace}.${name}.${uid}`, record: entry });
    const message = `${what} was not released and may still be billed: see ${where}`;
    context.events.warning(cluster, "AddressAbandoned", message);
    return 0;
  }
}

function tagsOf(cluster: PacketCluster): string[] {
  return addressTags({ namespace: cluster.metadata.namespace ?? "", cluster: clusterNameOf(cluster, undefined) ?? "" });
}

/** Releases what the status names, and what an order without an answer may have reserved. Resolves with how long to wait for that to turn up, in ms. */
async function release(
  packet: Packet,
  { client, clock, events, signal }: Context,
  cluster: PacketCluster,
): Promise<number> {
  const { elastic } = (await packet.accounts.fleet(accountSource(clusterAccount(cluster), client, packet.own))).driver;
  if (elastic === undefined) return 0;
  const { id, requestedAt } = cluster.status!.elasticIP!;
  const tags = tagsOf(cluster);
  const found = (await elastic.list(signal)).filter(
    (one) => one.id === id || tags.every((tag) => one.tags.includes(tag)),
  );
  for (const { id, address } of found) {
    signal.throwIfAborted();
    await elastic.release(id, signal);
    events.normal(cluster, "AddressReleased", `elastic IP ${address}`);
  }
  const age = clock.now() - (parseTime(requestedAt) ?? 0);
  return id === undefined && found.length === 0 ? Math.max(0, Math.min(LOOK_AGAIN_MS, SETTLE_MS - age)) : 0;
}
