import { parseTime } from "@slipway/base";
import type { InstanceStatus } from "../../kinds/harvester/instance.ts";
import type { Journal, Signals } from "../../machines/lifecycle.ts";

/** Whether the machine's ports stand as the Instance wants them. */
export const NETWORK_READY = "NetworkReady";
/** Its reasons once that was so: observed now, changed from outside since, or in service when Slipway took over. */
const SET: ReadonlySet<string> = new Set(["AsWanted", "Changed", "TakenOver"]);

/** What an Instance's status remembers of its machine, as the lifecycle reads it. */
export function journalOf(status: Partial<InstanceStatus> | undefined): Journal {
  const { purchase, boot } = status ?? {};
  const handedOver = status?.conditions?.find(
    (condition) => condition.type === "MachineReady" && condition.status === "True",
  );
  return {
    machineId: status?.instanceID || undefined,
    purchase: purchase && { ...purchase, at: parseTime(purchase.at) ?? 0 },
    boot: boot && { id: boot.id, pass: boot.pass === 2 ? 2 : 1, at: parseTime(boot.at) ?? 0, sent: boot.sent === true },
    signals: signalsOf(status),
    runningSince: parseTime(handedOver?.lastTransitionTime),
    joined: parseTime(status?.node?.joined) !== undefined || status?.takenOver?.as === "managed",
    networkSet: status?.conditions?.some(({ type, reason }) => type === NETWORK_READY && SET.has(reason)) === true,
  };
}

/** The signals of the boot that counts now; those of an earlier one are nothing. */
export function signalsOf(status: Partial<InstanceStatus> | undefined): Signals {
  const install = status?.install;
  if (install === undefined || install.bootID !== status?.boot?.id) return {};
  const signals: Signals = {};
  for (const name of ["scriptFetched", "configFetched", "started", "succeeded", "failed"] as const) {
    const at = parseTime(install[name]);
    if (at !== undefined) signals[name] = at;
  }
  if (install.message) signals.message = install.message;
  return signals;
}
