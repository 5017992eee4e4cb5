import { parseTime } from "@slipway/base";
import { conditionOf } from "@slipway/kube";
import type { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import type { Journal } from "../../machines/lifecycle.ts";
import { entriesOf } from "../../machines/status-journal.ts";

/** The condition that the host runs what it is to run, with its bootstrap data. */
export const INSTALLED = "Installed";
/** The condition that the Machine has its Node. */
export const JOINED = "Joined";

/** What a PlunderMachine remembers of its host, as the lifecycle reads it. `joined`: its Machine has a Node. */
export function journalOf({ status }: PlunderMachine, joined: boolean): Journal {
  const installed = conditionOf(status?.conditions, INSTALLED);
  return {
    ...entriesOf(status),
    machineId: status?.instanceID || undefined,
    runningSince: installed?.status === "True" ? parseTime(installed.lastTransitionTime) : undefined,
    joined,
    networkSet: true,
  };
}
