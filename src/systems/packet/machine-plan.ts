/** What is next for a PacketMachine, and how its status should read. Pure. */
import { isoTime } from "@slipway/base";
import { type Condition, conditionOf, isStalled, stalledBy, type Waiting, waitFor } from "@slipway/kube";
import type { PacketMachine, PacketMachineStatus } from "../../kinds/packet/packet-machine.ts";
import { type Claim, type Journal, nextPurchase, nextStep, type Step } from "../../machines/lifecycle.ts";
import type { Machine } from "../../machines/machine.ts";
import { type Severity, type Told, told } from "./conditions.ts";
import { INSTANCE_READY } from "./journal.ts";

/** What must be there before a machine is ordered, and is not. */
export interface Gate {
  reason: string;
  /** What is waited for. */
  what: string;
}

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

const GATE_MS = 60_000;

/** Decides for a PacketMachine that is wanted. */
export function planMachine(view: MachineView): MachinePlan {
  const step = stepOf(view);
  return { step, status: statusOf(view, step) };
}

function stepOf({ machine, claim, journal, sight, gate, now }: MachineView): Step {
  if (machine.status?.failureReason)
    return { do: "wait", for: "its Machine to be replaced", recheckMs: 2 * claim.pollMs };
  if (sight === "gone")
    return { do: "giveUp", reason: "MachineGone", message: "the provider does not know the machine any more" };
  if (sight !== undefined) return nextStep({ claim, journal, machine: sight, settled: true, now });
  const next = nextPurchase(claim, journal, now);
  // An order without an answer is looked for whatever became of the gate.
  if (gate === undefined || (journal.purchase?.state === "Pending" && next.do !== "order")) return next;
  return { do: "wait", for: gate.what, recheckMs: GATE_MS };
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

/** What is waited for, or what prevents the step. A machine in service waits for nothing that is its provider's. */
function waitOf(held: Partial<PacketMachineStatus>, step: Step, journal: Journal, now: number): Waiting {
  if (step.do !== "giveUp" && isStalled(held) && held.waitingFor !== undefined)
    return { waitingFor: held.waitingFor, waitingSince: held.waitingSince, deadline: held.deadline };
  if (step.do !== "wait" || step.for === "nothing" || journal.joined) return waitFor(held, { what: undefined, now });
  const deadline = step.deadline !== undefined && Number.isFinite(step.deadline) ? step.deadline : undefined;
  return waitFor(held, { what: step.for, deadline, now });
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
