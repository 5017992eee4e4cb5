import { Fault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import type { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { ABANDONED_MACHINES, writeAbandoned } from "../providers/abandoned.ts";
import { accountOf } from "../providers/accounts.ts";
import type { Harvester } from "./harvester.ts";
import { ABANDON, POOL_LABEL } from "./names.ts";

/** Whether the user gave up on the provider of an Instance that is being deleted. */
export function isAbandoned({ metadata }: Instance): boolean {
  return metadata.annotations?.[ABANDON] === "true";
}

/** The fault, with the way out of it for an Instance that can't be deleted because of it. */
export function withWayOut(fault: Fault, { metadata, status }: Instance, namespace: string): Fault {
  const machine = status?.instanceID ? `machine ${status.instanceID}` : "the machine that may have been ordered";
  const way =
    `if the provider will not answer again: kubectl annotate instance ${metadata.name} ${ABANDON}=true lets the Instance go, leaves ${machine} as it is, ` +
    `and lists it in ConfigMap ${namespace}/${ABANDONED_MACHINES}`;
  const { code, on, message, remedy, retryAfterMs, details } = fault;
  return new Fault(code, on, message.startsWith(`${on}: `) ? message.slice(on.length + 2) : message, {
    remedy: remedy === undefined ? way : `${remedy}; ${way}`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(details !== undefined && { details }),
    cause: fault,
  });
}

/**
 * Records a machine that was not given back, where the record outlives the Instance: an entry in a ConfigMap, which stays until the user
 * deletes it, and events on Instance and pool. Rejects when the entry can't be written; the finalizer must not go then.
 */
export async function recordAbandoned(
  { addon }: Harvester,
  context: Context,
  instance: Instance,
  reason: string,
): Promise<void> {
  const { cache, client, events } = context;
  const { metadata, spec, status } = instance;
  const machine = status?.instanceID || "unknown";
  const pool = metadata.labels?.[POOL_LABEL];
  const record = {
    machine,
    hostname: metadata.name,
    find: `hostname ${metadata.name}, or the mark slipway:claim:${metadata.uid}`,
    account: accountOf(spec, client, addon).name,
    ...(pool !== undefined && { pool }),
    ...(status?.placement ?? {}),
    ...(status?.publicIP && { publicIP: status.publicIP }),
    ...(status?.purchase && { orderedAt: status.purchase.at }),
    reason,
  };
  const where = await writeAbandoned(context, addon.namespace, { key: `${metadata.name}.${metadata.uid}`, record });
  const message = `machine ${machine} (${metadata.name}) was not given back and may still be billed: see ${where}; ${reason}`;
  events.warning(instance, "MachineAbandoned", message);
  const owner = pool === undefined ? undefined : cache.get(InstancePool, { name: pool });
  if (owner !== undefined) events.warning(owner, "MachineAbandoned", message);
}
