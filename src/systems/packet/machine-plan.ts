/** What is next for a PacketMachine, and how its status should read. Pure. */
import { isoTime } from "@slipway/base";
import { type Condition, conditionOf, stalledBy } from "@slipway/kube";
import type { PacketMachine, PacketMachineStatus } from "../../kinds/packet/packet-machine.ts";
import type { Claim, Journal, Step } from "../../machines/lifecycle.ts";
import type { Machine } from "../../machines/machine.ts";
import { type Gate, waitOf, wantedStep } from "../../machines/wanted-step.ts";
import { type Severity, type Told, told } from "../infrastructure/conditions.ts";
import { INSTANCE_READY } from "./journal.ts";

/** Everything the decision about a wanted PacketMachine rests on. */
export interface MachineView {
  machine: PacketMachine;
  claim: Claim;
  journal: Journal;
  /** `gone`: it was asked for by id and the provider does not know it. Undefined: none was bought yet. */
  sight: Machine | "gone" | undefined;
  /** Set: nothing may be ordered yet. */
  gate: Gate | undefined;
  /** The object's specification names the machine. */
  named: boolean;
  now: number;
}

export interface MachinePlan {
  step: Step;
  status: PacketMachineStatus;
}

/** Decides for a PacketMachine that is wanted. */
export function planMachine(view: MachineView): MachinePlan {
  const step = wantedStep(view, view.machine.status?.failureReason);
  return { step, status: statusOf(view, step) };
}

function statusOf(view: MachineView, step: Step): PacketMachineStatus {
  const { machine, sight, now, journal } = view;
  const held = machine.status ?? {};
  const conditions = conditionsOf(view, step);
  const isReady = conditionOf(conditions, INSTANCE_READY)?.status === "True";
  const provisioned = held.initialization?.provisioned === true || isReady;
  return {
    ...held,
    ...(sight !== undefined && sight !== "gone" && seen(machine, sight)),
    ready: isReady,
    ...(provisioned && { initialization: { provisioned } }),
    ...waitOf(held, step, journal, now),
    ...(machine.metadata.generation !== undefined && { observedGeneration: machine.metadata.generation }),
    conditions: [...conditions],
  } as PacketMachineStatus;
}

/** What the provider says of the machine. */
function seen({ metadata, spec }: PacketMachine, sight: Machine): Partial<PacketMachineStatus> {
  const addresses = sight.addresses.map((one) => ({
    type: one.public ? "ExternalIP" : "InternalIP",
    address: one.address,
  }));
  return {
    instanceID: sight.id,
    instanceStatus: sight.providerState,
    instanceState: sight.providerState,
    addresses: [{ type: "Hostname", address: metadata.name }, ...addresses],
    ...(sight.metro !== undefined && { failureDomain: sight.metro }),
    ...(spec.spot !== undefined && { interruptible: true }),
  };
}

function conditionsOf(view: MachineView, step: Step): readonly Condition[] {
  const { machine, now } = view;
  const place = { now, observedGeneration: machine.metadata.generation ?? 0 };
  const instance: Told = { type: INSTANCE_READY, ...standing(view, step) };
  return told(told(machine.status?.conditions, instance, place), { ...instance, type: "Ready" }, place);
}

type Standing = Omit<Told, "type">;

const not = (reason: string, message: string, severity: Severity = "Info"): Standing => ({
  status: false,
  ...{ reason, message, severity },
});

/** How the machine stands, by the original's reasons. */
function standing(view: MachineView, step: Step): Standing {
  const { machine, sight } = view;
  const { failureReason, failureMessage = "" } = machine.status ?? {};
  if (failureReason) return not(failed(failureReason), failureMessage, "Error");
  if (step.do === "giveUp") return not(failed(step.reason), step.message, "Error");
  return sight === undefined || sight === "gone" ? unbought(view, step) : bought(view, sight, step);
}

function unbought({ machine, gate, journal }: MachineView, step: Step): Standing {
  const trouble = stalledBy(machine.status);
  if (trouble !== undefined) return not("InstanceProvisionFailed", trouble, "Warning");
  if (gate !== undefined && step.do === "wait") return not(gate.reason, `waiting for ${gate.what}`);
  const isRefused = journal.purchase?.state === "Refused";
  return not(isRefused ? "NoCapacity" : "InstanceProvisionStarted", waiting(step), isRefused ? "Warning" : "Info");
}

function bought({ named }: MachineView, { id, phase, providerState }: Machine, step: Step): Standing {
  const state = `machine ${id} is ${providerState}`;
  if (phase === "stopped") return not("InstanceStopped", state, "Warning");
  if (phase === "releasing") return not("InstanceTerminated", state, "Error");
  if (phase !== "running" || !named) return not("InstanceProvisionStarted", step.do === "wait" ? waiting(step) : state);
  return { status: true, reason: "InstanceReady", message: "" };
}

/** The original's word for a loss. */
function failed(reason: string): string {
  return reason === "MachineGone"
    ? "InstanceNotFound"
    : reason === "MachineTakenBack"
      ? "InstanceTerminated"
      : "InstanceProvisionFailed";
}

function waiting(step: Step): string {
  return step.do === "wait" ? `waiting for ${step.for}` : "the machine is being ordered";
}

/** The fields of a status whose machine is paused: nothing else of it changes. */
export function pausedFields(
  held: Partial<PacketMachineStatus>,
  conditions: readonly Condition[],
  now: number,
  why: string,
) {
  return {
    conditions: [...conditions],
    waitingFor: why,
    waitingSince: held.waitingFor === why ? held.waitingSince : isoTime(now),
    deadline: undefined,
  };
}
