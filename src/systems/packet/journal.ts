import { parseTime } from "@slipway/base";
import { conditionOf } from "@slipway/kube";
import type { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import type { Journal, Signals } from "../../machines/lifecycle.ts";
import { entriesOf } from "../../machines/status-journal.ts";
import { machineIdOf } from "./names.ts";

/** The condition that the provider handed the machine over. */
export const INSTANCE_READY = "InstanceReady";

/**
 * What a PacketMachine remembers of its machine, as the lifecycle reads it. A machine that its provider installs reports nothing by itself:
 * handed over, it has all that it gets. `joined`: its Machine has a Node.
 */
export function journalOf({ spec, status }: PacketMachine, of: { reports: boolean; joined: boolean }): Journal {
  const held = entriesOf(status);
  const ready = conditionOf(status?.conditions, INSTANCE_READY);
  const runningSince = ready?.status === "True" ? parseTime(ready.lastTransitionTime) : undefined;
  const installed: Signals = held.boot === undefined ? {} : { succeeded: runningSince ?? held.boot.at };
  return {
    ...held,
    // An object of the original, or one that was moved here, has its machine's name alone.
    machineId: status?.instanceID || machineIdOf(spec.providerID),
    signals: of.reports ? held.signals : installed,
    runningSince,
    joined: of.joined,
    networkSet: true,
  };
}
