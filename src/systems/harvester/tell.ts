import { isDeepStrictEqual } from "node:util";
import type { Condition, Context } from "@slipway/kube";
import { Instance, type InstanceStatus } from "../../kinds/harvester/instance.ts";

/**
 * Writes an Instance's status when it differs from what it was decided from, guarded by the version it was decided from: a decision
 * on an old object ends in a `Conflict` here, before any effect. Tells what became true as events.
 */
export async function tell(context: Context, instance: Instance, status: InstanceStatus): Promise<Instance> {
  // As it would be read back: without what is undefined, and without what may not leave.
  const wanted = context.clean(JSON.parse(JSON.stringify(status)) as InstanceStatus);
  if (isDeepStrictEqual(wanted, instance.status ?? {})) return instance;
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
