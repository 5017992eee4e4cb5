import { parseTime } from "@slipway/base";
import type { InstanceStatus } from "../../kinds/harvester/instance.ts";
import type { Journal } from "../../machines/lifecycle.ts";
import { entriesOf } from "../../machines/status-journal.ts";

/** Whether the machine's ports stand as the Instance wants them. */
export const NETWORK_READY = "NetworkReady";
/** Its reasons once that was so: observed now, changed from outside since, or in service when Slipway took over. */
const SET: ReadonlySet<string> = new Set(["AsWanted", "Changed", "TakenOver"]);

/** What an Instance's status remembers of its machine, as the lifecycle reads it. */
export function journalOf(status: Partial<InstanceStatus> | undefined): Journal {
  const handedOver = status?.conditions?.find(
    (condition) => condition.type === "MachineReady" && condition.status === "True",
  );
  return {
    machineId: status?.instanceID || undefined,
    ...entriesOf(status),
    runningSince: parseTime(handedOver?.lastTransitionTime),
    joined: parseTime(status?.node?.joined) !== undefined || status?.takenOver?.as === "managed",
    networkSet: status?.conditions?.some(({ type, reason }) => type === NETWORK_READY && SET.has(reason)) === true,
  };
}
