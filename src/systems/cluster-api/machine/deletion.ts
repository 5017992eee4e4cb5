import { isFault, rfc3339 } from "@slipway/base";
import {
  type Client,
  type Context,
  drainStep,
  type KubeObject,
  refOf,
  removeFinalizer,
  type StatusRecord,
} from "@slipway/kube";
import { Node, type Pod, VolumeAttachment } from "@slipway/kube/core";
import { controlPlaneOf } from "../../../cluster-api/contract.ts";
import { ANNOTATIONS, FINALIZERS, LABELS } from "../../../cluster-api/names.ts";
import { isControlPlane } from "../../../cluster-api/owners.ts";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import type { ContractReference } from "../../../kinds/cluster-api/fields.ts";
import { Machine, type MachineStatus } from "../../../kinds/cluster-api/machine.ts";
import { type Seen, see } from "../mirror.ts";
import type { CoreParts } from "../parts.ts";
import {
  drainIsSkipped,
  hooksOf,
  isUnreachable,
  nodeIsGivenUp,
  nodeIsLeft,
  volumesAreSkipped,
} from "./deletion-plan.ts";
import type { Deleting, NodeSeen } from "./machine-status.ts";

/** What deletion waits for now. Unset `againAfterMs`: an event brings the next step. */
export interface Waits extends Deleting {
  againAfterMs?: number;
}

export interface LeavingMachine {
  record: StatusRecord<Machine>;
  cluster: Cluster | undefined;
  node: NodeSeen;
  infrastructure: Seen;
  bootstrap: Seen | undefined;
  by: { who: string; wake: () => void };
}

const RETRY_MS = 20_000;
const NODE_RETRY_MS = 2_000;

/** Takes the next steps of a Machine's deletion. Resolves with what is waited for; undefined: the finalizer was removed. */
export async function deleteMachine(
  parts: CoreParts,
  context: Context,
  leaving: LeavingMachine,
): Promise<Waits | undefined> {
  const isLeft = await whyNodeIsLeft(parts, context, leaving);
  const waits =
    (isLeft === undefined ? await leaveNode(parts, context, leaving) : undefined) ??
    hookWait(context, leaving, "preTerminate") ??
    (await deleteObjects(context, leaving)) ??
    (isLeft === undefined ? await deleteNode(parts, context, leaving) : undefined);
  if (waits !== undefined) return waits;
  await removeFinalizer(context.client, Machine, leaving.record.object, FINALIZERS.machine);
  return undefined;
}

async function whyNodeIsLeft(
  { external }: CoreParts,
  { cache }: Context,
  { record, cluster, node, by }: LeavingMachine,
) {
  const machine = record.object;
  const reference = cluster?.spec.controlPlaneRef;
  const seen = reference && (await see(external, reference, machine.metadata.namespace!, by));
  const controlPlane =
    seen?.object && seen.kind
      ? {
          isDeleting: seen.object.metadata.deletionTimestamp !== undefined,
          isExternallyManaged: controlPlaneOf(seen.object, seen.kind.contract).isExternallyManaged,
        }
      : undefined;
  const controlPlaneMachines = cache
    .list(Machine, machine.metadata.namespace)
    .filter(
      (other) =>
        other.spec.clusterName === machine.spec.clusterName &&
        isControlPlane(other) &&
        other.metadata.deletionTimestamp === undefined,
    );
  return nodeIsLeft(machine, { cluster, controlPlane, controlPlaneMachines, node });
}

/** Hooks, Pods and volumes, in this order. */
async function leaveNode(parts: CoreParts, context: Context, leaving: LeavingMachine): Promise<Waits | undefined> {
  return (
    hookWait(context, leaving, "preDrain") ??
    (await drain(parts, context, leaving)) ??
    (await waitForVolumes(parts, context, leaving))
  );
}

const HOOKS = {
  preDrain: {
    prefix: ANNOTATIONS.preDrainHook,
    since: "waitForPreDrainHookStartTime",
    reason: "WaitingForPreDrainHook",
    name: "pre-drain",
  },
  preTerminate: {
    prefix: ANNOTATIONS.preTerminateHook,
    since: "waitForPreTerminateHookStartTime",
    reason: "WaitingForPreTerminateHook",
    name: "pre-terminate",
  },
} as const;

function hookWait({ clock }: Context, { record }: LeavingMachine, which: keyof typeof HOOKS): Waits | undefined {
  const { prefix, since, reason, name } = HOOKS[which];
  const hooks = hooksOf(record.object, prefix);
  if (hooks.length === 0) return undefined;
  begin(record, since, clock.now());
  return { reason, message: `Waiting for ${name} hooks to complete (hooks: ${hooks.join(", ")})` };
}

/** Notes when a step began. */
function begin(record: StatusRecord<Machine>, step: keyof NonNullable<MachineStatus["deletion"]>, now: number): void {
  const held = record.object.status?.deletion;
  if (held?.[step] === undefined) record.note({ deletion: { ...held, [step]: rfc3339(now) } });
}

/** The way to the workload cluster; without one, what is waited for. */
function workloadOf({ workloads }: CoreParts, { cluster }: LeavingMachine): Client | string {
  const session = workloads.of(cluster!);
  return session.client !== undefined && session.isReached
    ? session.client
    : `the workload cluster does not answer: ${session.why ?? "no connection"}`;
}

/** The Node that was its first goes: another that has its id is perhaps a liar's. */
const nodeName = ({ record, node }: LeavingMachine): string =>
  record.object.status?.nodeRef?.name ?? (node.is === "there" ? node.node.metadata.name : "");

async function drain(
  parts: CoreParts,
  { clock, events, signal }: Context,
  leaving: LeavingMachine,
): Promise<Waits | undefined> {
  const { record, infrastructure, node } = leaving;
  const isInfrastructureLeaving =
    infrastructure.object === undefined || infrastructure.object.metadata.deletionTimestamp !== undefined;
  if (drainIsSkipped(record.object, { isInfrastructureLeaving, now: clock.now() })) return undefined;
  const reason = "DrainingNode";
  const name = nodeName(leaving);
  const client = workloadOf(parts, leaving);
  begin(record, "nodeDrainStartTime", clock.now());
  if (typeof client === "string")
    return { reason, message: `Draining Node ${name}: ${client}`, againAfterMs: RETRY_MS };
  const isLost = node.is === "there" && isUnreachable(node.node);
  const drained = await drainStep(client, name, {
    signal,
    force: true,
    leaves: (pod) => pod.metadata.labels?.[LABELS.drain] === "skip" || (isLost && isGoing(pod, clock.now())),
    ...(isLost && { gracePeriodSeconds: 1 }),
  });
  if ("done" in drained) {
    events.normal(record.object, "SuccessfulDrainNode", `Node ${name} is drained`);
    return undefined;
  }
  const message = `Draining Node ${name}: ${drained.remaining} Pods left, waiting for ${drained.waitingFor}`;
  return { reason, message, againAfterMs: RETRY_MS };
}

/** A Pod of a lost Node that was asked to end never reports that it did. */
const isGoing = ({ metadata }: Pod, now: number): boolean =>
  metadata.deletionTimestamp !== undefined && now - Date.parse(metadata.deletionTimestamp) > 1000;

async function waitForVolumes(parts: CoreParts, context: Context, leaving: LeavingMachine): Promise<Waits | undefined> {
  const { record, node } = leaving;
  const now = context.clock.now();
  if (volumesAreSkipped(record.object, node.is === "there" ? node.node : undefined, now)) return undefined;
  const name = nodeName(leaving);
  const client = workloadOf(parts, leaving);
  const reason = "WaitingForVolumeDetach";
  begin(record, "waitForNodeVolumeDetachStartTime", now);
  if (typeof client === "string") return { reason, message: client, againAfterMs: RETRY_MS };
  const held = await client.find(Node, { name });
  const items = await attachments(client);
  const attached = [
    ...(held?.status?.volumesAttached ?? []).map((volume) => volume.name),
    ...items.filter(({ spec }) => spec.nodeName === name).map(({ metadata }) => metadata.name),
  ];
  if (attached.length === 0) {
    context.events.normal(record.object, "NodeVolumesDetached", `Node ${name} has no volumes attached`);
    return undefined;
  }
  return { reason, message: `Waiting for Node volumes to be detached: ${attached.join(", ")}`, againAfterMs: RETRY_MS };
}

/** A cluster whose API serves no attachments has none. */
async function attachments(client: Client): Promise<VolumeAttachment[]> {
  try {
    return (await client.list(VolumeAttachment)).items;
  } catch (error) {
    if (isFault(error, "NotFound")) return [];
    throw error;
  }
}

/** The infrastructure first, since it may still need the bootstrap data. */
async function deleteObjects(context: Context, leaving: LeavingMachine): Promise<Waits | undefined> {
  const { infrastructure, bootstrap } = leaving;
  return (
    (await deleteObject(context, infrastructure, "WaitingForInfrastructureDeletion")) ??
    (bootstrap && (await deleteObject(context, bootstrap, "WaitingForBootstrapDeletion")))
  );
}

/** Deletes a provider's object. Resolves with the wait for its end; undefined: it is gone. */
export async function deleteObject(
  { client }: Context,
  { reference, kind, object }: Seen,
  reason: string,
): Promise<Waits | undefined> {
  if (object === undefined || kind === undefined) return undefined;
  const isGone = object.metadata.deletionTimestamp === undefined && !(await removed(client, kind.resource, object));
  if (isGone) return undefined;
  return { reason, message: `Waiting for ${nameOf(reference)} to be deleted` };
}

/** Asks for the deletion; false: there is nothing left of it. */
async function removed(
  client: Client,
  resource: Parameters<Client["delete"]>[0],
  object: KubeObject,
): Promise<boolean> {
  try {
    await client.delete(resource, refOf(object), { uid: object.metadata.uid });
    return true;
  } catch (error) {
    if (isFault(error, "NotFound", "Conflict")) return false;
    throw error;
  }
}

const nameOf = ({ kind, name }: ContractReference): string => `${kind} ${name}`;

async function deleteNode(
  parts: CoreParts,
  { clock, log }: Context,
  leaving: LeavingMachine,
): Promise<Waits | undefined> {
  const { record, node } = leaving;
  const name = nodeName(leaving);
  if (name === "" || node.is === "deleted") return undefined;
  const client = workloadOf(parts, leaving);
  const trouble = typeof client === "string" ? client : await tryToDelete(client, name);
  if (trouble === undefined) return undefined;
  if (nodeIsGivenUp(record.object, clock.now())) {
    log.warn(
      { machine: record.object.metadata.name, node: name, why: trouble },
      "the Node could not be deleted and stays",
    );
    return undefined;
  }
  return { reason: "DeletingNode", message: `Deleting Node ${name}: ${trouble}`, againAfterMs: NODE_RETRY_MS };
}

/** Why the Node could not be deleted. */
async function tryToDelete(client: Client, name: string): Promise<string | undefined> {
  try {
    await client.delete(Node, { name }, { timeoutMs: 10_000 });
    return undefined;
  } catch (error) {
    if (isFault(error, "NotFound")) return undefined;
    return error instanceof Error ? error.message : String(error);
  }
}
