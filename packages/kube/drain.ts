import { isFault } from "@slipway/base";
import type { CallOptions, Client } from "./client.ts";
import { Node, Pod } from "./core.ts";
import { keyOf, refOf } from "./object.ts";
import { controllerOf } from "./owners.ts";

export interface DrainOptions extends CallOptions {
  /** Also Pods that no controller will replace. Unset: they are waited for, and said so. */
  force?: boolean;
  /** Unset: each Pod's own. */
  gracePeriodSeconds?: number;
  /** Pods that are left where they are, besides those that `kubectl drain` leaves. */
  leaves?: (pod: Pod) => boolean;
  /** Delete instead of evict: disruption budgets are no longer asked. For the end of a deadline. */
  ignoreBudgets?: boolean;
}

export type Drained = { done: true } | { waitingFor: string; remaining: number };

/**
 * One step of emptying a node, safe to repeat until it says done: cordons it, asks for the eviction of what runs there, and returns
 * what is left. DaemonSet, static and finished Pods stay (the rules of `kubectl drain`). A node that is gone is drained.
 */
export async function drainStep(client: Client, nodeName: string, options: DrainOptions = {}): Promise<Drained> {
  const { signal, timeoutMs } = options;
  const call: CallOptions = {
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  const node = await client.find(Node, { name: nodeName }, call);
  if (node === undefined) return { done: true };
  if (node.spec?.unschedulable !== true) await cordon(client, nodeName, call);

  const { items } = await client.list(Pod, { ...call, fieldSelector: `spec.nodeName=${nodeName}` });
  const pods = podsToEvict(items).filter((pod) => options.leaves?.(pod) !== true);
  const reasons: string[] = [];
  for (const pod of pods) {
    const reason = await evict(client, pod, options, call);
    if (reason !== undefined) reasons.push(reason);
  }
  if (pods.length === 0) return { done: true };
  return { waitingFor: reasons[0] ?? `${keyOf(pods[0]!.metadata)} to end`, remaining: pods.length };
}

/** Marks the node so that nothing new is scheduled on it. */
export async function cordon(client: Client, nodeName: string, options: CallOptions = {}): Promise<void> {
  await client.patch(Node, { name: nodeName }, { type: "merge", body: { spec: { unschedulable: true } } }, options);
}

/** Lets Pods be scheduled on the node again. */
export async function uncordon(client: Client, nodeName: string, options: CallOptions = {}): Promise<void> {
  await client.patch(Node, { name: nodeName }, { type: "merge", body: { spec: { unschedulable: null } } }, options);
}

/** The Pods of a node that have to go before it may: not those of DaemonSets, not static ones, not finished ones. Pure. */
export function podsToEvict(pods: readonly Pod[]): Pod[] {
  return pods.filter((pod) => !isDaemon(pod) && !isStatic(pod) && !isFinished(pod));
}

/** What is still waited for, unless the eviction was accepted. */
async function evict(client: Client, pod: Pod, options: DrainOptions, call: CallOptions): Promise<string | undefined> {
  const { name, namespace = "default", uid } = pod.metadata;
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  if (controllerOf(pod) === undefined && options.force !== true)
    return `${namespace}/${name}, which no controller would replace`;
  const grace = options.gracePeriodSeconds;
  if (options.ignoreBudgets === true || grace !== undefined) {
    if (options.ignoreBudgets !== true && !(await budgetAllows(client, { name, namespace }, call)))
      return blocked(namespace, name);
    await client.delete(Pod, refOf(pod), {
      ...call,
      uid,
      ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    });
    return undefined;
  }
  try {
    await client.evict({ name, namespace }, call);
    return undefined;
  } catch (error) {
    if (isFault(error, "Throttled")) return blocked(namespace, name);
    throw error;
  }
}

/** Asks for an eviction without carrying it out. */
async function budgetAllows(client: Client, pod: { name: string; namespace: string }, call: CallOptions) {
  try {
    await client.evict(pod, { ...call, dryRun: true });
    return true;
  } catch (error) {
    if (isFault(error, "Throttled")) return false;
    throw error;
  }
}

function blocked(namespace: string, name: string): string {
  return `a PodDisruptionBudget to allow the eviction of ${namespace}/${name}`;
}

function isDaemon(pod: Pod): boolean {
  return controllerOf(pod)?.kind === "DaemonSet";
}

/** The kubelet mirrors Pods it runs from files; deleting the mirror ends nothing. */
function isStatic(pod: Pod): boolean {
  return pod.metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined;
}

function isFinished(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}
