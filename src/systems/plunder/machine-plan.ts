/** What is next for a PlunderMachine, and how its status should read. Pure. */
import { type Condition, conditionOf, stalledBy } from "@slipway/kube";
import type { PlunderMachine, PlunderMachineStatus } from "../../kinds/plunder/plunder-machine.ts";
import type { Claim, Journal, Step } from "../../machines/lifecycle.ts";
import type { Machine } from "../../machines/machine.ts";
import { type Gate, waitOf, wantedStep } from "../../machines/wanted-step.ts";
import { type Severity, type Told, told } from "../infrastructure/conditions.ts";
import { hostNameOf } from "./claim.ts";
import { INSTALLED, JOINED } from "./journal.ts";

/** Everything the decision about a wanted PlunderMachine rests on. */
export interface MachineView {
  machine: PlunderMachine;
  claim: Claim;
  journal: Journal;
  /** `gone`: the host is another's, or nobody's. Undefined: none was taken yet. */
  sight: Machine | "gone" | undefined;
  /** Set: no host may be taken yet. */
  gate: Gate | undefined;
  /** That it has of a pool. */
  address: string | undefined;
  now: number;
}

export interface MachinePlan {
  step: Step;
  status: PlunderMachineStatus;
}

/** Decides for a PlunderMachine that is wanted. */
export function planMachine(view: MachineView): MachinePlan {
  const step = wantedStep(view, view.machine.status?.failureReason);
  return { step, status: statusOf(view, step) };
}

function statusOf(view: MachineView, step: Step): PlunderMachineStatus {
  const { machine, sight, now, journal } = view;
  const held = machine.status ?? {};
  const conditions = conditionsOf(view, step);
  const isReady = conditionOf(conditions, INSTALLED)?.status === "True";
  const provisioned = held.initialization?.provisioned === true || isReady;
  return {
    ...held,
    hostName: held.hostName ?? hostNameOf(machine),
    ...(sight !== undefined && sight !== "gone" && seen(view, sight)),
    ready: isReady,
    ...(provisioned && { initialization: { provisioned } }),
    ...waitOf(held, step, journal, now),
    ...(machine.metadata.generation !== undefined && { observedGeneration: machine.metadata.generation }),
    conditions: [...conditions],
  } as PlunderMachineStatus;
}

/** What the inventory says of the host. */
function seen({ machine, address }: MachineView, sight: Machine): Partial<PlunderMachineStatus> {
  const own = machine.spec.ipAddress || address;
  const all = own ? [own] : sight.addresses.map((one) => one.address);
  const addresses = all.map((each) => ({ type: "InternalIP", address: each }));
  const [ipAddress] = all;
  return {
    instanceID: sight.id,
    host: sight.id.slice(0, sight.id.lastIndexOf("/")),
    state: sight.providerState,
    ...(sight.bootMac !== undefined && { macAddress: sight.bootMac }),
    ...(ipAddress !== undefined && { ipAddress }),
    addresses: [{ type: "Hostname", address: machine.status?.hostName ?? hostNameOf(machine) }, ...addresses],
  };
}

function conditionsOf(view: MachineView, step: Step): readonly Condition[] {
  const { machine, now, journal } = view;
  const place = { now, observedGeneration: machine.metadata.generation ?? 0 };
  const installed: Told = { type: INSTALLED, ...standing(view, step) };
  const joined: Told = journal.joined
    ? { type: JOINED, status: true, reason: "NodeJoined", message: "" }
    : { type: JOINED, status: false, reason: "WaitingForNode", message: "waiting for its Machine's Node" };
  const first = told(machine.status?.conditions, installed, place);
  return told(told(first, joined, place), { ...installed, type: "Ready" }, place);
}

type Standing = Omit<Told, "type">;

const not = (reason: string, message: string, severity: Severity = "Info"): Standing => ({
  status: false,
  ...{ reason, message, severity },
});

function standing(view: MachineView, step: Step): Standing {
  const { machine, sight } = view;
  const { failureReason, failureMessage = "" } = machine.status ?? {};
  if (failureReason) return not(failureReason, failureMessage, "Error");
  if (step.do === "giveUp") return not(step.reason, step.message, "Error");
  return sight === undefined || sight === "gone" ? untaken(view, step) : taken(sight, step);
}

function untaken({ machine, gate, journal }: MachineView, step: Step): Standing {
  const trouble = stalledBy(machine.status);
  if (trouble !== undefined) return not("Stalled", trouble, "Warning");
  if (gate !== undefined && step.do === "wait") return not(gate.reason, `waiting for ${gate.what}`);
  const isRefused = journal.purchase?.state === "Refused";
  return not(isRefused ? "NoHost" : "TakingHost", waiting(step), isRefused ? "Warning" : "Info");
}

function taken({ phase, providerState, id }: Machine, step: Step): Standing {
  const state = `the host is ${providerState} (${id})`;
  if (phase === "stopped") return not("Stopped", state, "Warning");
  if (phase !== "running") return not("Installing", step.do === "wait" ? waiting(step) : state);
  return { status: true, reason: "Installed", message: "" };
}

function waiting(step: Step): string {
  return step.do === "wait" ? `waiting for ${step.for}` : "a host is being taken";
}
