import { asFault, isFault } from "@slipway/base";
import {
  type Client,
  type Context,
  type Controller,
  controllerOf,
  DONE,
  type KubeObject,
  type Outcome,
  ownerReference,
  type Ref,
  type Resource,
  refOf,
  removeFinalizer,
  StatusRecord,
  source,
} from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { controlPlaneOf, endpointOf, infraClusterOf } from "../../../cluster-api/contract.ts";
import { FINALIZERS } from "../../../cluster-api/names.ts";
import { withCluster } from "../../../cluster-api/shard-owner.ts";
import { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../../kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../../kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import { missingIdentity } from "../identity.ts";
import { deleteObject } from "../machine/deletion.ts";
import { clusterIndex, PROVIDER_ACCESS } from "../machine/machine-controller.ts";
import { type Seen, see } from "../mirror.ts";
import { CLUSTER_API } from "../names.ts";
import { claim } from "../ownership.ts";
import type { CoreParts } from "../parts.ts";
import { pauseShown } from "../pause-shown.ts";
import { Waker } from "../wake.ts";
import { descendantsLeft, descendantsToDelete } from "./cluster-deletion.ts";
import { type ClusterFacts, clusterStatus, isControlPlaneInitialized, isInfraProvisioned } from "./cluster-status.ts";
import { keepKubeconfig } from "./own-kubeconfig.ts";

/** Until what a kubeconfig is made of is looked for again. */
const MISSING_MS = 30_000;
/** Kubeconfigs that the core makes are looked at this often, to be renewed. */
const KUBECONFIG_MS = 60 * 60_000;

/** Brings each Cluster's infrastructure and control plane together, sums up what belongs to it, and takes it down in order. */
export function clusterController(parts: CoreParts): Controller {
  const waker = new Waker();
  const left = async (ref: Ref): Promise<void> => {
    await parts.workloads.drop(ref);
    parts.external.forget(waker.by("Cluster", ref).who);
  };
  return {
    name: "cluster",
    system: CLUSTER_API,
    workers: 50,
    owner: withCluster,
    left: (ref) => void left(ref),
    sources: [source({ resource: Cluster }), ofCluster(Machine), ofCluster(MachineSet), ofCluster(MachineDeployment)],
    access: [
      { resource: Cluster, verbs: ["get", "patch"] },
      { resource: Cluster, verbs: ["update"], subresource: "status" },
      ...[Machine, MachineSet, MachineDeployment].map((resource) => ({
        resource: resource as Resource,
        verbs: ["delete"] as const,
      })),
      { resource: Secret, verbs: ["get", "create", "patch"] },
      ...PROVIDER_ACCESS,
    ],
    listen: waker.listen(() =>
      parts.workloads.onChange((cluster, node) => {
        if (node === undefined) waker.wake(cluster);
      }),
    ),
    async reconcile(ref, context) {
      const cluster = context.cache.get(Cluster, ref);
      if (cluster === undefined) {
        await left(ref);
        return DONE;
      }
      if ((await parts.foreign.found()) !== undefined) return DONE;
      if (await pauseShown(context, Cluster, cluster, cluster)) return DONE;
      return await keep(parts, context, cluster, waker.by("Cluster", ref));
    },
  };
}

/** Objects of a cluster wake it when what it sums up changes. */
function ofCluster<T extends KubeObject & { spec: { clusterName: string; replicas?: number }; status?: object }>(
  resource: Resource<T>,
) {
  const told = ({ metadata, spec, status }: T): string => {
    const { conditions = [], ...counters } = (status ?? {}) as {
      conditions?: { type: string; status: string; message: string }[];
    };
    const { replicas, readyReplicas, availableReplicas, upToDateReplicas, nodeRef } = counters as Record<
      string,
      unknown
    >;
    return JSON.stringify([
      metadata.deletionTimestamp,
      spec.replicas,
      conditions.map(({ type, status: of, message }) => [type, of, message]),
      [replicas, readyReplicas, availableReplicas, upToDateReplicas, nodeRef],
    ]);
  };
  return source({
    resource,
    indexes: { cluster: clusterIndex as (object: T) => readonly string[] },
    when: (object, before) => told(object) !== told(before),
    keys: ({ metadata, spec }): Ref[] => [{ namespace: metadata.namespace!, name: spec.clusterName }],
  });
}

type By = { who: string; wake: () => void };

async function keep(parts: CoreParts, context: Context, first: Cluster, by: By): Promise<Outcome> {
  const { cache, client, clock } = context;
  const namespace = first.metadata.namespace!;
  const { infrastructureRef, controlPlaneRef } = first.spec;
  const infrastructure = infrastructureRef && (await see(parts.external, infrastructureRef, namespace, by));
  const controlPlane = controlPlaneRef && (await see(parts.external, controlPlaneRef, namespace, by));
  const key = `${namespace}/${first.metadata.name}`;
  const sets = cache.byIndex(MachineSet, "cluster", key);
  const facts: ClusterFacts = {
    cluster: first,
    ...{ infrastructure, controlPlane },
    machines: cache.byIndex(Machine, "cluster", key),
    sets: sets.filter((set) => controllerOf(set) === undefined),
    deployments: cache.byIndex(MachineDeployment, "cluster", key),
    ...{ connection: undefined, deleting: undefined, now: clock.now() },
  };
  if (first.metadata.deletionTimestamp !== undefined) return await end(parts, context, facts, sets);
  const cluster = await withSpec(client, first, infrastructure, controlPlane);
  for (const seen of [infrastructure, controlPlane]) if (seen) await own(client, cluster, seen);
  const again = await kubeconfigOf(context, cluster);
  const is = cluster.status?.initialization;
  const connection =
    is?.infrastructureProvisioned && is.controlPlaneInitialized ? connectionOf(parts, cluster) : undefined;
  const record = new StatusRecord(context, Cluster, cluster);
  await record.write(clusterStatus({ ...facts, cluster, connection }));
  tell(context, cluster, record.object);
  const isMissing = [infrastructure, controlPlane].some((seen) => seen !== undefined && seen.kind === undefined);
  const waits = [...(isMissing ? [parts.external.missingMs] : []), ...(again === undefined ? [] : [again])];
  return waits.length === 0 ? DONE : { againAfterMs: Math.min(...waits) };
}

/** Events for what a Cluster's status says since now. */
function tell({ events }: Context, { status: before }: Cluster, cluster: Cluster): void {
  const { initialization, phase } = cluster.status ?? {};
  if (initialization?.infrastructureProvisioned && !before?.initialization?.infrastructureProvisioned)
    events.normal(cluster, "InfrastructureReady", "the infrastructure is there");
  if (initialization?.controlPlaneInitialized && !before?.initialization?.controlPlaneInitialized)
    events.normal(cluster, "ControlPlaneInitialized", "the control plane is initialized");
  if (phase === "Provisioned" && before?.phase !== phase) events.normal(cluster, phase, "the Cluster is provisioned");
}

/** Connects to the workload cluster, and says whether it answers. */
function connectionOf({ workloads }: CoreParts, cluster: Cluster): ClusterFacts["connection"] {
  const session = workloads.of(cluster);
  return { isReached: session.isReached, why: session.why ?? "no connection" };
}

/** The Cluster with its finalizer, and the endpoint that its providers have found. */
async function withSpec(
  client: Client,
  cluster: Cluster,
  infrastructure: Seen | undefined,
  controlPlane: Seen | undefined,
): Promise<Cluster> {
  const metadata = missingIdentity(cluster, { finalizer: FINALIZERS.cluster, labels: {}, owner: undefined });
  const found =
    endpointOf(cluster.spec.controlPlaneEndpoint) === undefined
      ? (endpointFrom(infrastructure, isInfraProvisioned, infraClusterOf) ??
        endpointFrom(controlPlane, isControlPlaneInitialized, controlPlaneOf))
      : undefined;
  if (metadata === undefined && found === undefined) return cluster;
  const { resourceVersion } = cluster.metadata;
  const body = { metadata: { resourceVersion, ...metadata }, ...(found && { spec: { controlPlaneEndpoint: found } }) };
  return await client.patch(Cluster, refOf(cluster), { type: "merge", body });
}

function endpointFrom(
  seen: Seen | undefined,
  isReady: (seen: Seen) => boolean,
  read: typeof infraClusterOf | typeof controlPlaneOf,
) {
  if (seen?.object === undefined || seen.kind === undefined || !isReady(seen)) return undefined;
  return read(seen.object, seen.kind.contract).endpoint;
}

/** Makes a provider's object the Cluster's own; it does not become its controller. */
async function own(client: Client, cluster: Cluster, { kind, object }: Seen): Promise<void> {
  if (kind === undefined || object === undefined || object.metadata.deletionTimestamp !== undefined) return;
  const owner = { ...ownerReference(Cluster, cluster), controller: false, blockOwnerDeletion: true };
  await claim(client, kind.resource, object, { owner, cluster: cluster.metadata.name });
}

/** Until the kubeconfig is looked at again; undefined: others make it. */
async function kubeconfigOf({ client, clock, log }: Context, cluster: Cluster): Promise<number | undefined> {
  if (cluster.spec.controlPlaneRef !== undefined || endpointOf(cluster.spec.controlPlaneEndpoint) === undefined)
    return undefined;
  try {
    await keepKubeconfig(client, clock, cluster);
    return KUBECONFIG_MS;
  } catch (error) {
    if (!isFault(error, "MissingInput")) throw error;
    log.info({ error: asFault(error, "kubeconfig").advice }, "the kubeconfig can't be made yet");
    return MISSING_MS;
  }
}

/** Deletes what belongs to the Cluster, then the control plane, then the infrastructure. */
async function end(
  parts: CoreParts,
  context: Context,
  facts: ClusterFacts,
  sets: readonly MachineSet[],
): Promise<Outcome> {
  const { cluster, infrastructure, controlPlane, machines, deployments } = facts;
  const { client } = context;
  if (!cluster.metadata.finalizers?.includes(FINALIZERS.cluster)) return DONE;
  const descendants = { machines, sets, deployments };
  const going = descendantsToDelete(cluster, descendants);
  for (const object of going.deployments) await remove(client, MachineDeployment, object);
  for (const object of going.sets) await remove(client, MachineSet, object);
  for (const object of going.machines) await remove(client, Machine, object);
  const left = descendantsLeft(cluster, descendants);
  const waits =
    left === undefined
      ? ((controlPlane && (await deleteObject(context, controlPlane, "WaitingForControlPlaneDeletion"))) ??
        (infrastructure && (await deleteObject(context, infrastructure, "WaitingForInfrastructureDeletion"))))
      : { reason: "WaitingForWorkersDeletion", message: left };
  if (waits === undefined) {
    await removeFinalizer(client, Cluster, cluster, FINALIZERS.cluster);
    await parts.workloads.drop(refOf(cluster));
    return DONE;
  }
  const { reason, message } = waits;
  const session = cluster.status?.initialization?.controlPlaneInitialized ? connectionOf(parts, cluster) : undefined;
  const record = new StatusRecord(context, Cluster, cluster);
  await record.write(clusterStatus({ ...facts, connection: session, deleting: { reason, message } }));
  return DONE;
}

async function remove<T extends KubeObject>(client: Client, resource: Resource<T>, object: T): Promise<void> {
  try {
    await client.delete(resource, refOf(object), { uid: object.metadata.uid });
  } catch (error) {
    if (!isFault(error, "NotFound", "Conflict")) throw error;
  }
}
