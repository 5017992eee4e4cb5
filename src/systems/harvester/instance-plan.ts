import { isoTime, parseTime } from "@slipway/base";
import { type Condition, isStalled, isTrue, setCondition, type Waiting, waitFor } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import type { Instance, InstanceStatus } from "../../kinds/harvester/instance.ts";
import { type Claim, isAtRest, type Journal, nextPurchase, nextStep, type Step } from "../../machines/lifecycle.ts";
import type { Machine } from "../../machines/machine.ts";
import { durationOf } from "./claim.ts";
import { NETWORK_READY } from "./journal.ts";
import { NODE_MACHINE_ANNOTATION } from "./names.ts";
import { type Identity, readiness } from "./node-identity.ts";

/** Everything the decision about a living Instance rests on. */
export interface InstanceView {
  instance: Instance;
  claim: Claim;
  journal: Journal;
  /** `gone`: it was asked for by id and the provider does not know it. Undefined: none was bought yet. */
  machine: Machine | "gone" | undefined;
  /** Nothing is left to do to the machine's ports. */
  settled: boolean;
  /** The Node that bears the Instance's name. */
  node: { node: Node; identity: Identity } | undefined;
  now: number;
}

export interface InstancePlan {
  step: Step;
  /** The status as it should read now, but for what the step itself will write. */
  status: InstanceStatus;
}

/** Decides for an Instance that is wanted. Pure. */
export function planInstance(view: InstanceView): InstancePlan {
  const node = view.node?.identity === "ours" ? view.node.node : undefined;
  const joined = joinedStatus(view, node);
  const journal: Journal = { ...view.journal, joined: view.journal.joined || joined?.joined != null };
  const step = stepOf({ ...view, journal }, node);
  return { step, status: statusOf({ ...view, journal }, node, joined, step) };
}

function stepOf(view: InstanceView, node: Node | undefined): Step {
  const { claim, journal, machine, now } = view;
  if (view.instance.status?.failure) return { do: "wait", for: "a user to delete it", recheckMs: 2 * claim.pollMs };
  if (machine === "gone")
    return { do: "giveUp", reason: "MachineGone", message: "the provider does not know the machine any more" };
  if (machine === undefined) return nextPurchase(claim, journal, now);
  const step = nextStep({ claim, journal, machine, settled: view.settled, now });
  if (!journal.joined) return step;
  const serving = node !== undefined && readiness(node).ready;
  // A Node that is Ready proves the provider's word wrong; nothing in use is released on hearsay.
  if (step.do === "giveUp" && step.reason === "MachineFailed" && serving)
    return steady(view, `${step.message}, but its Node is Ready`);
  if (step.do === "giveUp") return step;
  const next = nodeStep(view, node);
  return step.do === "setNetwork" && next.do !== "giveUp" ? step : next;
}

function nodeStep(view: InstanceView, node: Node | undefined): Step {
  const { spec } = view.instance;
  if (node === undefined) {
    if (spec.nodeDeletionPolicy !== "Release" || !view.instance.status?.node)
      return steady(
        view,
        view.instance.status?.node ? "its Node, which was deleted, to register again" : "its Node to register",
      );
    return {
      do: "giveUp",
      reason: "NodeDeleted",
      message: "its Node was deleted, and nodeDeletionPolicy says Release",
    };
  }
  const { ready, since, message } = readiness(node);
  if (ready) return steady(view, "nothing");
  const limit = durationOf(spec.nodeCleanupWaitInterval);
  if (limit === undefined) return steady(view, `its Node to be Ready again: ${message}`);
  const due = (parseTime(since) ?? view.now) + limit;
  if (view.now >= due) {
    return {
      do: "giveUp",
      reason: "NodeNotReady",
      message: `its Node has not been Ready for ${spec.nodeCleanupWaitInterval}: ${message}`,
    };
  }
  return {
    do: "wait",
    for: `its Node to be Ready again: ${message}`,
    recheckMs: Math.min(2 * view.claim.pollMs, due - view.now),
    deadline: due,
  };
}

function joinedStatus(view: InstanceView, node: Node | undefined): InstanceStatus["node"] {
  const held = view.instance.status?.node;
  if (node === undefined) return held;
  const joined = held?.joined ?? (readiness(node).ready ? isoTime(view.now) : undefined);
  const machine = node.metadata.annotations?.[NODE_MACHINE_ANNOTATION] ?? held?.machine;
  return { uid: node.metadata.uid, ...(joined != null && { joined }), ...(machine !== undefined && { machine }) };
}

function statusOf(
  view: InstanceView,
  node: Node | undefined,
  joined: InstanceStatus["node"],
  step: Step,
): InstanceStatus {
  const held = view.instance.status ?? {};
  const machine = view.machine === "gone" ? undefined : view.machine;
  const status: Record<string, unknown> = { ...held, status: statusWord(view, node), ...waitOf(held, step, view.now) };
  if (joined !== undefined) status.node = joined;
  if (machine !== undefined) {
    status.machineState = machine.providerState;
    // Ports without management addresses keep what was known of the machine.
    status.publicIP = addressOf(machine, true) ?? held.publicIP ?? "";
    status.privateIP = addressOf(machine, false) ?? held.privateIP ?? "";
  }
  if (view.instance.metadata.generation !== undefined) status.observedGeneration = view.instance.metadata.generation;
  status.conditions = conditionsOf(view, node, step);
  return status;
}

/** The addon's words, and `provisioning` while the machine installs, which the addon could not know. */
function statusWord(view: InstanceView, node: Node | undefined): string {
  const { instance, journal, machine } = view;
  if (instance.status?.failure) return "failed";
  if (machine === undefined) return isStalled(instance.status) ? "stalled" : "ordering";
  if (machine === "gone") return instance.status?.status ?? "";
  if (journal.joined) return node === undefined || !networkDone(view) ? "ready" : "managed";
  if (journal.signals.succeeded !== undefined || node !== undefined) return "ready";
  return bootWord(view, machine);
}

function bootWord({ instance, journal }: InstanceView, machine: Machine): string {
  if (journal.boot?.pass === 2) return "reinstalling";
  // An Instance taken over from the addon on its way: its word stands until there is news.
  if (journal.boot === undefined && machine.phase === "running") return instance.status?.status ?? "provisioning";
  return machine.phase === "running" ? "provisioning" : machine.providerState;
}

/** Nothing is left to do to its ports, now or ever again. */
function networkDone({ settled, journal }: InstanceView): boolean {
  return settled || journal.networkSet;
}

/** What is waited for. What stalled the step stands until the step went through. */
function waitOf(held: Partial<InstanceStatus>, step: Step, now: number): Waiting {
  if (step.do !== "giveUp" && isStalled(held) && held.waitingFor !== undefined)
    return { waitingFor: held.waitingFor, waitingSince: held.waitingSince, deadline: held.deadline };
  if (step.do !== "wait" || isAtRest(step)) return waitFor(held, { what: undefined, now });
  return waitFor(held, { what: step.for, deadline: step.deadline, now });
}

type Told = [type: string, status: boolean, reason: string, message: string];

function conditionsOf(view: InstanceView, node: Node | undefined, step: Step): Condition[] {
  const { instance, now } = view;
  const held: readonly Condition[] = instance.status?.conditions ?? [];
  const waits = step.do === "wait" ? `waiting for ${step.for}` : "";
  const told = [
    ...machineTold(view, held, waits),
    ...installTold(view, waits),
    ...nodeTold(view, held),
    ...networkTold(view, held),
    readyTold(view, node, step, waits),
  ];
  const observedGeneration = instance.metadata.generation ?? 0;
  return told.reduce<Condition[]>(
    (list, [type, status, reason, message]) =>
      setCondition(list, { type, status: status ? "True" : "False", reason, message, observedGeneration }, now),
    [...held],
  );
}

/** The machine, once the provider has given it over. */
function handedOver({ machine }: InstanceView): Machine | undefined {
  if (machine === undefined || machine === "gone") return undefined;
  return machine.phase === "building" || machine.phase === "unknown" ? undefined : machine;
}

function machineTold(view: InstanceView, held: readonly Condition[], waits: string): Told[] {
  const { machine } = view;
  const given = handedOver(view);
  if (given?.phase === "running") return [["MachineReady", true, "HandedOver", `the provider handed over ${given.id}`]];
  if (given !== undefined || machine === undefined || machine === "gone" || isTrue(held, "MachineReady")) return [];
  return [["MachineReady", false, "Building", waits]];
}

function installTold(view: InstanceView, waits: string): Told[] {
  const { instance, journal } = view;
  const hasSucceeded = journal.signals.succeeded !== undefined;
  if (instance.status?.takenOver !== undefined && journal.joined && !hasSucceeded)
    return [["Installed", true, "TakenOver", "the machine was installed by harvester-equinix-addon"]];
  if (journal.joined || hasSucceeded) return [["Installed", true, "Installed", "the installation succeeded"]];
  if (handedOver(view) === undefined) return [];
  return [["Installed", false, journal.signals.started === undefined ? "Booting" : "Installing", waits]];
}

function nodeTold({ node, instance }: InstanceView, held: readonly Condition[]): Told[] {
  if (node?.identity === "stranger") {
    const message = `a Node named ${instance.metadata.name} exists that is not this machine`;
    return [["NodeConflict", true, "NameTaken", message]];
  }
  return held.some(({ type }) => type === "NodeConflict") ? [["NodeConflict", false, "NameFree", ""]] : [];
}

function networkTold(view: InstanceView, held: readonly Condition[]): Told[] {
  if (handedOver(view) === undefined || view.claim.network === undefined) return [];
  if (view.settled) return [[NETWORK_READY, true, "AsWanted", "the machine's ports match the specification"]];
  if (!view.journal.networkSet) return [[NETWORK_READY, false, "NotSet", "the machine's ports are not set yet"]];
  if (held.some(({ type, reason }) => type === NETWORK_READY && reason === "TakenOver")) return [];
  const message = "the machine's ports no longer match the specification: they were changed outside Slipway";
  return [[NETWORK_READY, false, "Changed", message]];
}

function readyTold(view: InstanceView, node: Node | undefined, step: Step, waits: string): Told {
  const { joined } = view.journal;
  const failure = view.instance.status?.failure;
  if (failure) return ["Ready", false, failure.reason, failure.message];
  if (joined && step.do === "setNetwork")
    return ["Ready", false, "NetworkNotSet", "the machine has joined, but its ports are not set yet"];
  if (node !== undefined && joined && readiness(node).ready)
    return ["Ready", true, "Joined", "the machine is a Ready Node"];
  if (step.do === "giveUp") return ["Ready", false, step.reason, step.message];
  if (joined) return ["Ready", false, node === undefined ? "NodeMissing" : "NodeNotReady", waits];
  return ["Ready", false, reasonOf(view, step), waits];
}

function reasonOf({ journal, machine }: InstanceView, step: Step): string {
  if (machine === undefined) return journal.purchase?.state === "Refused" ? "NoCapacity" : "Ordering";
  if (step.do === "setNetwork") return "SettingNetwork";
  if (step.do === "reinstall") return "Reinstalling";
  if (journal.signals.succeeded !== undefined) return "Joining";
  return journal.signals.started === undefined ? "Provisioning" : "Installing";
}

function addressOf(machine: Machine, isPublic: boolean): string | undefined {
  return machine.addresses.find((a) => a.management && a.family === 4 && a.public === isPublic)?.address;
}

function steady({ claim }: InstanceView, what: string): Step {
  return { do: "wait", for: what, recheckMs: 2 * claim.pollMs };
}
