import { Fault, isFault, isoTime, parseTime } from "@slipway/base";
import {
  addFinalizer,
  type Context,
  type Controller,
  DONE,
  type Outcome,
  StatusRecord,
  setCondition,
  source,
  waitFor,
} from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { clusterOwner, inNamespaceOf } from "../../cluster-api/owners.ts";
import { isPaused, pausedCondition } from "../../cluster-api/pause.ts";
import { byClusterOf } from "../../cluster-api/shard-owner.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import type { ElasticAddress, ElasticAddresses } from "../../machines/elastic.ts";
import { announce } from "../infrastructure/announce.ts";
import { type Told, told } from "../infrastructure/conditions.ts";
import { guarded } from "../infrastructure/guarded.ts";
import { abandonedAccess } from "../providers/abandoned.ts";
import { accountSource, clusterAccount } from "./account.ts";
import { API_PORT, type ClusterStep, type ClusterView, endpointOf, planAddress, planCluster } from "./cluster-plan.ts";
import { releaseCluster } from "./cluster-release.ts";
import { addressTags, CLUSTER_FINALIZER, PACKET } from "./names.ts";
import type { ClusterRecord, Packet } from "./shared.ts";
import { isExternallyManaged, refOf } from "./surroundings.ts";

const NETWORK_READY = "NetworkInfrastructureReady";
/** Faults after which the provider surely has reserved nothing. */
const NO_EFFECT = ["Throttled", "Unavailable", "BadCredentials", "Invalid", "NoCapacity", "NotFound"] as const;

/** Gives a cluster's control plane its address, and says when machines may be ordered. One that something else manages is not touched. */
export function clusterController(packet: Packet): Controller {
  return {
    name: "packetcluster",
    system: PACKET,
    workers: 10,
    owner: byClusterOf(PacketCluster),
    sources: [
      source({ resource: PacketCluster }),
      source({
        resource: Cluster,
        optional: true,
        when: (cluster, before) => newsOf(cluster) !== newsOf(before),
        keys: (cluster) =>
          cluster.spec.infrastructureRef?.kind === PacketCluster.kind
            ? [inNamespaceOf(cluster, cluster.spec.infrastructureRef.name)]
            : [],
      }),
    ],
    access: [
      { resource: PacketCluster, verbs: ["get", "update", "patch"] },
      { resource: PacketCluster, verbs: ["get", "update", "patch"], subresource: "status" },
      { resource: MachineProvider, verbs: ["get"] },
      { resource: Secret, verbs: ["get"] },
      ...abandonedAccess(packet.own.namespace),
    ],
    async reconcile(ref, context) {
      const cluster = context.cache.get(PacketCluster, ref);
      return cluster === undefined || !isOurs(cluster) ? DONE : await reconciled(packet, context, cluster);
    },
  };
}

/** Whether there is something to do for it here. What was ours before it became another's is given back all the same. */
function isOurs(cluster: PacketCluster): boolean {
  return isDeleted(cluster) ? isHeld(cluster) : !isExternallyManaged(cluster);
}

const isDeleted = ({ metadata }: PacketCluster): boolean => metadata.deletionTimestamp !== undefined;
const isHeld = ({ metadata }: PacketCluster): boolean => metadata.finalizers?.includes(CLUSTER_FINALIZER) === true;

async function reconciled(packet: Packet, context: Context, cluster: PacketCluster): Promise<Outcome> {
  const record: ClusterRecord = new StatusRecord(context, PacketCluster, cluster, (before, after) =>
    announce(context.events, before, after),
  );
  const owner = clusterOwner(cluster);
  const owning = owner && context.cache.get(Cluster, owner);
  if (isPaused(cluster, owning)) return await pause(context, record, owning);
  if (!isDeleted(cluster) && owner === undefined)
    return await wait(context, record, {
      ...{ do: "wait", reason: "WaitingForCluster", what: "a Cluster to own it", severity: "Info" },
    });
  if (!isHeld(cluster)) {
    await addFinalizer(context.client, PacketCluster, cluster, CLUSTER_FINALIZER);
    return DONE;
  }
  const account = accountSource(clusterAccount(cluster), context.client, packet.own);
  return await guarded(context, record, {
    on: `PacketCluster/${cluster.metadata.namespace}/${cluster.metadata.name}`,
    refused: () => packet.accounts.refused(account.name),
    work: () =>
      isDeleted(cluster)
        ? releaseCluster(packet, context, record)
        : keep(packet, context, record, { name: owner!.name, owning }),
  });
}

function newsOf({ spec }: Cluster): string {
  return JSON.stringify([spec.paused, spec.controlPlaneEndpoint]);
}

async function pause(context: Context, record: ClusterRecord, owning: Cluster | undefined): Promise<Outcome> {
  const now = context.clock.now();
  const { status } = record.object;
  const conditions = setCondition(status?.conditions, pausedCondition(record.object, owning), now);
  await record.write({ conditions, ...waitFor(status, { what: "the Cluster or the object to be unpaused", now }) });
  return DONE;
}

interface Of {
  /** Name of the Cluster. */
  name: string;
  owning: Cluster | undefined;
}

async function keep(packet: Packet, context: Context, record: ClusterRecord, { name, owning }: Of): Promise<Outcome> {
  const { now } = context.clock;
  const cluster = record.object;
  record.note({ conditions: setCondition(cluster.status?.conditions, pausedCondition(cluster, owning), now()) });
  const view: ClusterView = {
    ...{ cluster, name, now: now() },
    endpoint: owning && endpointOf(owning.spec as Parameters<typeof endpointOf>[0]),
    requestedAt: parseTime(cluster.status?.elasticIP?.requestedAt),
  };
  const first = planCluster(view);
  if (first.do !== "look") return await finish(context, record, first);
  const elastic = await elasticOf(packet, context, cluster);
  const { bgp } = packet;
  if (cluster.spec.vipManager === "KUBE_VIP")
    await elastic.enableBgp(
      { asn: bgp.asn, ...(bgp.password !== undefined && { password: bgp.password }) },
      context.signal,
    );
  const step = planAddress(view, await elastic.list(context.signal));
  if (step.do === "take") return await take(context, record, step.address);
  if (step.do === "reserve") return await take(context, record, await reserve(context, record, { elastic, name }));
  return await finish(context, record, step);
}

/** Rejects with `Invalid` where the provider has no elastic IPs. */
async function elasticOf(packet: Packet, { client }: Context, cluster: PacketCluster): Promise<ElasticAddresses> {
  const fleet = await packet.accounts.fleet(accountSource(clusterAccount(cluster), client, packet.own));
  const { elastic, type } = fleet.driver;
  if (elastic !== undefined) return elastic;
  throw new Fault(
    "Invalid",
    `PacketCluster/${cluster.metadata.namespace}/${cluster.metadata.name}`,
    `vipManager ${cluster.spec.vipManager}: a provider of type ${type} has no elastic IPs`,
    {
      remedy: "create it with vipManager NONE and a controlPlaneEndpoint of your own",
    },
  );
}

/** Reserves an address, once: announced under the object's version first. A refusal takes the announcement back. */
async function reserve(
  { clock, signal }: Context,
  record: ClusterRecord,
  { elastic, name }: { elastic: ElasticAddresses; name: string },
): Promise<ElasticAddress> {
  const { metadata, spec } = record.object;
  const before = record.object.status?.elasticIP;
  await record.write({ elasticIP: { ...before, requestedAt: isoTime(clock.now()) } });
  signal.throwIfAborted();
  const tags = addressTags({ namespace: metadata.namespace ?? "", cluster: name });
  const place = spec.metro || spec.facility;
  try {
    return await elastic.reserve({ metro: place ?? "", tags }, signal);
  } catch (error) {
    if (isFault(error, ...NO_EFFECT)) await record.write({ elasticIP: before });
    throw error;
  }
}

/** Writes down which address is the cluster's, and then into the specification, where Cluster API looks for it. */
async function take(context: Context, record: ClusterRecord, { id, address }: ElasticAddress): Promise<Outcome> {
  const { requestedAt } = record.object.status?.elasticIP ?? {};
  await record.write({ elasticIP: { id, address, ...(requestedAt !== undefined && { requestedAt }) } });
  const { metadata, spec } = record.object;
  if (endpointOf(spec) === undefined) {
    const { resourceVersion } = metadata;
    const body = { metadata: { resourceVersion }, spec: { controlPlaneEndpoint: { host: address, port: API_PORT } } };
    await context.client.patch(PacketCluster, refOf(record.object), { type: "merge", body });
    context.events.normal(record.object, "EndpointReserved", `the control plane's endpoint is ${address}:${API_PORT}`);
    return { againAfterMs: 0 };
  }
  return await finish(context, record, { do: "ready" });
}

async function finish(context: Context, record: ClusterRecord, step: ClusterStep): Promise<Outcome> {
  if (step.do === "wait") return await wait(context, record, step);
  if (step.do === "refuse")
    await report(
      context,
      record,
      { status: false, reason: step.reason, message: step.message, severity: "Error" },
      step.message,
    );
  else await report(context, record, { status: true, reason: NETWORK_READY, message: "" }, undefined);
  return DONE;
}

async function wait(context: Context, record: ClusterRecord, step: ClusterStep & { do: "wait" }): Promise<Outcome> {
  const { reason, what, severity, recheckMs } = step;
  await report(context, record, { status: false, reason, message: `waiting for ${what}`, severity }, what);
  return recheckMs === undefined ? DONE : { againAfterMs: recheckMs };
}

async function report(
  { clock }: Context,
  record: ClusterRecord,
  standing: Omit<Told, "type">,
  what: string | undefined,
): Promise<void> {
  const now = clock.now();
  const { metadata, status } = record.object;
  const place = { now, observedGeneration: metadata.generation ?? 0 };
  const network = told(status?.conditions, { ...standing, type: NETWORK_READY }, place);
  const isReady = standing.status === true;
  await record.write({
    ready: isReady,
    ...((isReady || status?.initialization?.provisioned === true) && { initialization: { provisioned: true } }),
    ...waitFor(status, { what, now }),
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    conditions: told(network, { ...standing, type: "Ready" }, place),
  });
}
