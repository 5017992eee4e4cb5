/** Machines that the original had installed: they run, and no host was ever taken for them here. Pure. */
import type { PlunderMachine, PlunderMachineStatus } from "../../kinds/plunder/plunder-machine.ts";
import { type Told, told } from "../infrastructure/conditions.ts";
import { INSTALLED, JOINED } from "./journal.ts";
import { macOf } from "./names.ts";

/** Whether the object names its machine, and nothing was done for it here. Nothing may be installed on that machine. */
export function isAdopted({ spec, status }: PlunderMachine): boolean {
  return macOf(spec.providerID) !== undefined && !status?.instanceID && status?.purchase === undefined;
}

/** Its status: what the original wrote, and that the machine runs. */
export function adopted(machine: PlunderMachine, joined: boolean, now: number): PlunderMachineStatus {
  const { status = {}, spec, metadata } = machine;
  const place = { now, observedGeneration: metadata.generation ?? 0 };
  const runs: Told = {
    type: INSTALLED,
    ...{ status: true, reason: "Adopted", message: "it was installed by plunder, and is left as it is" },
  };
  const node: Told = joined
    ? { type: JOINED, status: true, reason: "NodeJoined", message: "" }
    : { type: JOINED, status: false, reason: "WaitingForNode", message: "waiting for its Machine's Node" };
  const conditions = told(told(told(status.conditions, runs, place), node, place), { ...runs, type: "Ready" }, place);
  const address = status.ipAddress || spec.ipAddress;
  return {
    ...status,
    ready: true,
    initialization: { provisioned: true },
    macAddress: status.macAddress ?? macOf(spec.providerID)!,
    ...(address && { ipAddress: address, addresses: [{ type: "InternalIP", address }] }),
    conditions: [...conditions],
  } as PlunderMachineStatus;
}
