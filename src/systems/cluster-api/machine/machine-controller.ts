import { asFault, isFault } from "@slipway/base";
import {
  type Access,
  ANY,
  type Cache,
  type Context,
  type Controller,
  controllerOf,
  controllerReference,
  DONE,
  type KubeObject,
  type Outcome,
  ownerReference,
  type Ref,
  refOf,
  StatusRecord,
  source,
} from "@slipway/kube";
import { Node, Secret } from "@slipway/kube/core";
import { bootstrapOf, infraMachineOf } from "../../../cluster-api/contract.ts";
import { ANNOTATIONS, FINALIZERS, GROUPS, LABELS } from "../../../cluster-api/names.ts";
import { clusterOf } from "../../../cluster-api/owners.ts";
import { pausedCondition } from "../../../cluster-api/pause.ts";
import { byClusterName } from "../../../cluster-api/shard-owner.ts";
import { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../../kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../../kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import { missingIdentity } from "../identity.ts";
import { type Seen, see } from "../mirror.ts";
import { CLUSTER_API } from "../names.ts";
import { claim } from "../ownership.ts";
import type { CoreParts } from "../parts.ts";
import { pauseMayWait, pauseShown } from "../pause-shown.ts";
import { Waker } from "../wake.ts";
import { deleteMachine, type LeavingMachine } from "./deletion.ts";
import { findNode } from "./find-node.ts";
import { moveInlineData } from "./inline-secret.ts";
import {
  availableInMs,
  CONNECTION_DOWN_MS,
  type Deleting,
  type Deployed,
  type MachineFacts,
  machineStatus,
  type NodeSeen,
} from "./machine-status.ts";
import { nodePatch } from "./node-metadata.ts";

const PROVIDER_GROUPS = [GROUPS.infrastructure, GROUPS.bootstrap, GROUPS.controlPlane];
/** What the core may do to the objects of providers. Those of other groups are added by the role that their provider brings. */
export const PROVIDER_ACCESS: readonly Access[] = PROVIDER_GROUPS.map((group) => ({
  resource: { group, version: "v1beta2", kind: "Provider", plural: ANY, namespaced: true },
  verbs: ["get", "list", "watch", "create", "patch", "delete"],
}));

/** Until an InfraMachine that is provisioned without an id is looked at again. */
const NO_ID_MS = 5_000;

/** Brings each Machine from its infrastructure and bootstrap objects to a Node, and takes it down in order. */
export function machineController(parts: CoreParts): Controller {
  const waker = new Waker();
  const left = (ref: Ref): void => {
    parts.interests.delete(ref);
    parts.external.forget(waker.by("Machine", ref).who);
  };
  return {
    name: "machine",
    system: CLUSTER_API,
    workers: 100,
    owner: byClusterName(Machine),
    left,
    sources: [
      source({ resource: Machine, indexes: { cluster: clusterIndex } }),
      source({
        resource: Cluster,
        when: (cluster, before) => matters(cluster) !== matters(before),
        keys: (cluster, _, cache) => machinesOf(cache, cluster).map(refOf),
      }),
      source({ resource: MachineSet, keys: () => [] }),
      source({ resource: MachineDeployment, keys: () => [] }),
    ],
    access: [
      { resource: Machine, verbs: ["get", "patch"] },
      { resource: Machine, verbs: ["update"], subresource: "status" },
      { resource: Secret, verbs: ["get", "create", "patch"] },
      ...PROVIDER_ACCESS,
    ],
    listen: waker.listen(() =>
      parts.workloads.onChange((cluster, node) => {
        for (const machine of parts.interests.of(cluster, node)) waker.wake(machine);
      }),
    ),
    async reconcile(ref, context) {
      const machine = context.cache.get(Machine, ref);
      if (machine === undefined) {
        left(ref);
        return DONE;
      }
      const cluster = clusterOf(context.cache, machine);
      // A Machine of no Cluster of ours, such as Harvester's, is left alone.
      const isOurs = cluster !== undefined || machine.metadata.finalizers?.includes(FINALIZERS.machine) === true;
      if (!isOurs || (await parts.foreign.found()) !== undefined) return DONE;
      const isNew = pauseMayWait(machine, cluster);
      if (!isNew && (await pauseShown(context, Machine, machine, cluster))) return DONE;
      return await keep(parts, context, { machine, cluster, by: waker.by("Machine", ref) });
    },
  };
}

/** Index of objects by the Cluster that they name. */
export const clusterIndex = ({
  metadata,
  spec,
}: {
  metadata: { namespace?: string };
  spec: { clusterName: string };
}) => [`${metadata.namespace}/${spec.clusterName}`];

/** Machines of a Cluster. */
export const machinesOf = (cache: Cache, { metadata }: Cluster): readonly Machine[] =>
  cache.byIndex(Machine, "cluster", `${metadata.namespace}/${metadata.name}`);

/** What of a Cluster its Machines go by. */
function matters({ metadata, spec, status }: Cluster): string {
  const { infrastructureProvisioned, controlPlaneInitialized } = status?.initialization ?? {};
  return JSON.stringify([metadata.deletionTimestamp, spec.paused, infrastructureProvisioned, controlPlaneInitialized]);
}

interface Kept {
  machine: Machine;
  cluster: Cluster | undefined;
  by: { who: string; wake: () => void };
}

async function keep(parts: CoreParts, context: Context, { machine: held, cluster, by }: Kept): Promise<Outcome> {
  const { external, interests } = parts;
  const first = await moveInlineData(context.client, held);
  const namespace = first.metadata.namespace!;
  const ref = refOf(first);
  interests.set(ref, { namespace, name: first.spec.clusterName }, first.spec.providerID);
  const { configRef } = first.spec.bootstrap;
  const seen = {
    infrastructure: await see(external, first.spec.infrastructureRef, namespace, by),
    bootstrap: configRef && (await see(external, configRef, namespace, by)),
  };
  const isLeaving = first.metadata.deletionTimestamp !== undefined;
  if (isLeaving && !first.metadata.finalizers?.includes(FINALIZERS.machine)) return DONE;
  if (!isLeaving) await claimAll(context, first, seen);
  const machine = await withSpec(context, first, cluster, seen);
  interests.set(ref, { namespace, name: machine.spec.clusterName }, machine.spec.providerID);
  const deployed = deployedBy(context.cache, machine);
  const node: NodeSeen =
    cluster === undefined
      ? { is: "awaited", reason: "InspectionFailed", message: "the Cluster is gone" }
      : await foundNode(parts, { machine, cluster, ...seen, deployed });
  const paused = pausedCondition(machine, cluster);
  const facts: MachineFacts = {
    machine,
    ...seen,
    node,
    deleting: undefined,
    deployed,
    paused,
    now: context.clock.now(),
  };
  const record = new StatusRecord(context, Machine, machine);
  if (!isLeaving) {
    await record.write(machineStatus(facts));
    const { nodeRef } = record.object.status ?? {};
    if (nodeRef !== undefined && machine.status?.nodeRef === undefined)
      context.events.normal(machine, "SuccessfulSetNodeRef", nodeRef.name);
    return next(facts, record.object, { now: context.clock.now(), missingMs: parts.external.missingMs });
  }
  return await takeDown(parts, context, facts, { record, cluster, ...seen, node, by });
}

/** One pass of the deletion. What it waits for, or what prevents it, is the condition Deleting. */
async function takeDown(
  parts: CoreParts,
  context: Context,
  facts: MachineFacts,
  leaving: LeavingMachine,
): Promise<Outcome> {
  const { record } = leaving;
  const tell = async ({ reason, message }: Deleting): Promise<void> => {
    const status = machineStatus({ ...facts, machine: record.object, deleting: { reason, message } });
    const { deprecated, conditions, phase, lastUpdated } = status;
    await record.write({ deprecated, conditions, phase, ...(lastUpdated && { lastUpdated }) });
  };
  try {
    const waits = await deleteMachine(parts, context, leaving);
    if (waits === undefined) return DONE;
    await tell(waits);
    return waits.againAfterMs === undefined ? DONE : { againAfterMs: waits.againAfterMs };
  } catch (error) {
    const isOurs = context.signal.aborted || isFault(error, "Conflict", "NotLeader", "Undeclared");
    if (!isOurs) await tell({ reason: "InternalError", message: asFault(error, "deletion").advice });
    throw error;
  }
}

/** Makes the objects of providers the Machine's own. */
async function claimAll(
  { client }: Context,
  machine: Machine,
  { infrastructure, bootstrap }: Pick<MachineFacts, "infrastructure" | "bootstrap">,
) {
  const owner = controllerReference(Machine, machine);
  const of = { owner, cluster: machine.spec.clusterName, instead: ["MachineSet", "Cluster"] };
  for (const { kind, object } of [infrastructure, ...(bootstrap ? [bootstrap] : [])])
    if (kind !== undefined && object !== undefined && object.metadata.deletionTimestamp === undefined)
      await claim(client, kind.resource, object, of);
}

/** The Machine with what its metadata and its specification must have by now. */
async function withSpec(
  { client }: Context,
  machine: Machine,
  cluster: Cluster | undefined,
  { infrastructure, bootstrap }: Pick<MachineFacts, "infrastructure" | "bootstrap">,
): Promise<Machine> {
  if (machine.metadata.deletionTimestamp !== undefined || cluster === undefined) return machine;
  const isStandalone =
    controllerOf(machine) === undefined &&
    [LABELS.setName, LABELS.controlPlaneName, LABELS.poolName].every(
      (label) => machine.metadata.labels?.[label] === undefined,
    );
  const metadata = missingIdentity(machine, {
    finalizer: FINALIZERS.machine,
    labels: { [LABELS.clusterName]: machine.spec.clusterName },
    owner: isStandalone ? ownerReference(Cluster, cluster) : undefined,
  });
  const spec = missingSpec(machine, infrastructure, bootstrap);
  if (metadata === undefined && spec === undefined) return machine;
  const { resourceVersion } = machine.metadata;
  const body = { metadata: { resourceVersion, ...metadata }, ...(spec && { spec }) };
  return await client.patch(Machine, refOf(machine), { type: "merge", body });
}

/** What providers have found out that belongs into the specification. */
function missingSpec({ spec }: Machine, infrastructure: Seen, bootstrap: Seen | undefined): object | undefined {
  const data = bootstrap?.object && bootstrap.kind && bootstrapOf(bootstrap.object, bootstrap.kind.contract);
  const machine =
    infrastructure.object && infrastructure.kind && infraMachineOf(infrastructure.object, infrastructure.kind.contract);
  const dataSecretName = data?.created ? data.dataSecretName : undefined;
  const providerID = machine?.provisioned ? machine.providerID : undefined;
  const changes = {
    ...(dataSecretName && dataSecretName !== spec.bootstrap.dataSecretName && { bootstrap: { dataSecretName } }),
    ...(providerID && providerID !== spec.providerID && { providerID }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** The Node with what the core writes on it. */
async function foundNode(
  { workloads }: CoreParts,
  {
    machine,
    cluster,
    infrastructure: { kind, object },
    deployed,
  }: Pick<MachineFacts, "machine" | "infrastructure" | "deployed"> & { cluster: Cluster },
): Promise<NodeSeen> {
  const seen = findNode(machine, cluster, () => workloads.of(cluster));
  const { client } = workloads.of(cluster);
  if (seen.is !== "there" || client === undefined || machine.metadata.deletionTimestamp !== undefined) return seen;
  const isInterruptible =
    object !== undefined && kind !== undefined && infraMachineOf(object, kind.contract).interruptible;
  const body = nodePatch(seen.node, machine, { isInterruptible, isOutdated: isOutdated(deployed) });
  if (body === undefined) return seen;
  try {
    return { is: "there", node: await client.patch(Node, { name: seen.node.metadata.name }, { type: "merge", body }) };
  } catch (error) {
    // The next event of the Node brings it back; the Machine's own status does not wait for it.
    if (isFault(error, "Conflict", "NotFound")) return seen;
    throw asFault(error, `Node/${seen.node.metadata.name}`);
  }
}

/** The set and the deployment that a Machine is of; undefined: of none. */
function deployedBy(cache: Cache, machine: Machine): Deployed | undefined {
  const namespace = machine.metadata.namespace!;
  const ownedBy = (object: KubeObject | undefined, kind: string): Ref | undefined => {
    const owner = object && controllerOf(object);
    return owner?.kind === kind ? { namespace, name: owner.name } : undefined;
  };
  const setRef = ownedBy(machine, "MachineSet");
  const set = setRef && cache.get(MachineSet, setRef);
  const deploymentRef = ownedBy(set, "MachineDeployment");
  const deployment = deploymentRef && cache.get(MachineDeployment, deploymentRef);
  return set && deployment && { set, deployment };
}

/** Whether the Machine's set is of an earlier revision than the newest of its deployment. */
const isOutdated = (of: Deployed | undefined): boolean =>
  of !== undefined && revisionOf(of.set.metadata.annotations) < revisionOf(of.deployment.metadata.annotations);

const revisionOf = (annotations: Readonly<Record<string, string>> | undefined): number =>
  Number(annotations?.[ANNOTATIONS.revision] ?? 0);

/** When the Machine must be looked at again though nothing happens. */
function next(
  { infrastructure, bootstrap, node }: MachineFacts,
  machine: Machine,
  { now, missingMs }: { now: number; missingMs: number },
): Outcome {
  const waits: number[] = [];
  const isMissing = [infrastructure, bootstrap].some((seen) => seen !== undefined && seen.kind === undefined);
  if (isMissing) waits.push(missingMs);
  if (infrastructure.object && infrastructure.kind) {
    const { provisioned, providerID } = infraMachineOf(infrastructure.object, infrastructure.kind.contract);
    if (provisioned && providerID === undefined) waits.push(NO_ID_MS);
  }
  const available = availableInMs(machine.status?.conditions, machine, now);
  if (available > 0) waits.push(available);
  if (node.is === "unknown" && now - node.since < CONNECTION_DOWN_MS)
    waits.push(CONNECTION_DOWN_MS - (now - node.since));
  return waits.length === 0 ? DONE : { againAfterMs: Math.min(...waits) };
}
