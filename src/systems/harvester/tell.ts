import { Instance, type InstanceStatus } from "../../kinds/harvester/instance.ts";
import type { Context } from "../../kube/controller.ts";
import type { Condition } from "../../kube/object.ts";

/**
 * Writes an Instance's status when it differs from what it was decided from, guarded by the version it was decided from: a decision
 * on an old object ends in a `Conflict` here, before any effect. Tells what became true as events.
 */
export async function tell(context: Context, instance: Instance, status: InstanceStatus): Promise<Instance> {
  const wanted = withoutUndefined(status);
  const held = instance.status ?? {};
  if (JSON.stringify(wanted) === JSON.stringify(held)) return instance;
  if (JSON.stringify(sorted(wanted)) === JSON.stringify(sorted(held))) return instance;
  const written = await context.client.updateStatus(Instance, { ...instance, status: wanted });
  announce(context, instance, written);
  return written;
}

/** Like `tell`, for a few fields of the status. */
export async function tellSome(
  context: Context,
  instance: Instance,
  some: Partial<Record<keyof InstanceStatus, unknown>>,
): Promise<Instance> {
  return await tell(context, instance, { ...instance.status, ...some } as InstanceStatus);
}

function announce({ events }: Context, before: Instance, after: Instance): void {
  const held = new Map((before.status?.conditions ?? []).map((condition) => [condition.type, condition]));
  for (const condition of after.status?.conditions ?? []) {
    if (held.get(condition.type)?.status === condition.status && held.get(condition.type)?.reason === condition.reason)
      continue;
    if (isTrouble(condition)) events.warning(after, condition.reason, condition.message);
    else if (condition.status === "True") events.normal(after, condition.reason, condition.message);
  }
  const failure = after.status?.failure;
  if (failure !== undefined && before.status?.failure === undefined)
    events.warning(after, failure.reason, failure.message);
}

const TROUBLE = new Set([
  "NameTaken",
  "NodeNotReady",
  "NodeMissing",
  "NoCapacity",
  "Protected",
  "QuorumAtRisk",
  "Locked",
  "DrainStuck",
  "MissingInput",
  "BadCredentials",
  "Invalid",
]);

function isTrouble(condition: Condition): boolean {
  return TROUBLE.has(condition.reason);
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}

/** JSON with keys in one order, for comparison. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
