/**
 * The life of one claimed machine, from the order to the last stage: state → what to look at, next step,
 * deadline, what is reported to the user. Pure: a crash between two steps changes nothing, the next call says the same.
 */
import type { Machine, NetworkWish, Placement } from "./machine.ts";

/** What is wanted of a machine, whichever kind of object wants it. Times in milliseconds. */
export interface Claim {
  /** Uid of the object that claims the machine. */
  id: string;
  /** Where it may be bought, in the order of preference; never empty. */
  placements: readonly Placement[];
  network: NetworkWish | undefined;
  /** 2: the ports are set first, then the machine is installed by a second boot. */
  passes: 1 | 2;
  provisionTimeoutMs: number;
  joinTimeoutMs: number;
  /** Between looks at a machine on its way; in service it is looked at half as often, and less often in an account of thousands (`Fleet.restMs`). */
  pollMs: number;
  lastStage: LastStage;
}

/** What an installed machine becomes for those who claim it: a Node, a host of an inventory. The claimant's journal reports it as `joined`. */
export interface LastStage {
  /** As it is waited for: `the installed machine to join as a Ready Node`. */
  awaited: string;
  /** As it is missed: `no Ready Node`. */
  missed: string;
}

/** What the claiming object records of its machine; every entry is written before the effect it announces. */
export interface Journal {
  machineId: string | undefined;
  purchase: { attempt: number; at: number; state: "Pending" | "Refused" | "Done"; placement: number } | undefined;
  boot: { id: string; pass: 1 | 2; at: number; sent: boolean } | undefined;
  signals: Signals;
  /** When the provider handed the machine over. */
  runningSince: number | undefined;
  /** The last stage was reached. */
  joined: boolean;
  /** Its ports matched the specification once. From then on only the user changes them. */
  networkSet: boolean;
}

/** What the machine itself reported of its current boot: when, in ms. */
export interface Signals {
  scriptFetched?: number;
  configFetched?: number;
  started?: number;
  succeeded?: number;
  failed?: number;
  message?: string;
}

export type LossReason =
  | "MachineFailed"
  | "MachineGone"
  | "MachineTakenBack"
  | "ProvisionTimeout"
  | "InstallFailed"
  | "JoinTimeout"
  | "SpotRevoked"
  | "NodeNotReady"
  | "NodeDeleted";

/** The one next step. Each is safe to repeat: the executor looks before it acts. */
export type Step =
  | { do: "order"; attempt: number; placement: number }
  /** The answer to an order is not known: ask who carries the claim. */
  | { do: "look" }
  | { do: "setNetwork" }
  | { do: "reinstall"; pass: 1 | 2 }
  | { do: "powerOn" }
  | { do: "wait"; for: string; recheckMs: number; deadline?: number }
  /** This machine will not come, or will not stay. */
  | { do: "giveUp"; reason: LossReason; message: string };

/** Whether the machine is in service, and nothing is waited for. */
export function isAtRest(step: Step): boolean {
  return step.do === "wait" && step.for === "nothing";
}

/** How long a provider's list may miss a machine that it has already sold. An unanswered order is repeated only after it. */
export const SETTLE_MS = 60_000;
const LOOK_AGAIN_MS = 10_000;
/** One list serves all machines of an account. Twice this is less than a spot market's notice of 120 s. */
export const DEFAULT_POLL_MS = 15_000;
/** A machine that has not asked for its boot script by then got no answer, and firmware asks once: it is booted again. */
const BOOT_AGAIN_MS = 10 * 60_000;
const NO_CAPACITY_BASE_MS = 60_000;
const NO_CAPACITY_MAX_MS = 10 * 60_000;

/** The next step for a claim that has no machine yet. */
export function nextPurchase(claim: Claim, journal: Journal, now: number): Step {
  const last = journal.purchase;
  if (last === undefined) return { do: "order", attempt: 1, placement: 0 };
  if (last.state !== "Refused") return unanswered(last, now);
  if (last.placement + 1 < claim.placements.length) {
    return { do: "order", attempt: last.attempt + 1, placement: last.placement + 1 };
  }
  const rounds = Math.max(1, Math.round(last.attempt / claim.placements.length));
  const due = last.at + Math.min(NO_CAPACITY_MAX_MS, NO_CAPACITY_BASE_MS * 2 ** (rounds - 1));
  if (now >= due) return { do: "order", attempt: last.attempt + 1, placement: 0 };
  return { do: "wait", for: "capacity at the provider", recheckMs: due - now };
}

function unanswered(last: NonNullable<Journal["purchase"]>, now: number): Step {
  const age = now - last.at;
  if (age < LOOK_AGAIN_MS / 10)
    return { do: "wait", for: "the provider's answer to the order", recheckMs: LOOK_AGAIN_MS / 10 };
  if (age < SETTLE_MS) return { do: "look" };
  return { do: "order", attempt: last.attempt + 1, placement: last.placement };
}

/** Whether an order without a known answer may still turn up in the provider's lists. `now`: ms since 1970. */
export function mayStillAppear({ machineId, purchase }: Journal, now: number): boolean {
  return machineId === undefined && purchase?.state === "Pending" && now - purchase.at < SETTLE_MS;
}

/** What is known of a machine that exists, when (ms since 1970). */
export interface Situation {
  claim: Claim;
  journal: Journal;
  machine: Machine;
  /** Nothing is left to do to its ports. */
  settled: boolean;
  now: number;
}

/** The next step for a machine that exists. */
export function nextStep(at: Situation): Step {
  const { machine } = at;
  if (machine.terminatesAt !== undefined) {
    return {
      do: "giveUp",
      reason: "SpotRevoked",
      message: "the provider takes the machine back: its spot price was exceeded",
    };
  }
  return PHASES[machine.phase](at);
}

const PHASES: Readonly<Record<Machine["phase"], (at: Situation) => Step>> = {
  building: (at) =>
    handedOver(at, `the provider to hand over the machine (${at.machine.providerState}${percent(at.machine)})`),
  unknown: (at) => handedOver(at, `the provider to say more than ${at.machine.providerState}`),
  failed: ({ machine }) => ({
    do: "giveUp",
    reason: "MachineFailed",
    message: `the provider reports the machine as ${machine.providerState}${said(machine)}`,
  }),
  releasing: ({ machine }) => ({
    do: "giveUp",
    reason: "MachineTakenBack",
    message: `the machine is ${machine.providerState}, though Slipway did not release it`,
  }),
  stopped: (at) => (at.journal.joined ? steady(at, "the machine to be powered on") : stopped(at)),
  reinstalling: (at) => installing(at),
  running: (at) => running(at),
};

function handedOver(at: Situation, what: string): Step {
  if (at.journal.joined) return steady(at, what);
  const deadline = (at.journal.purchase?.at ?? at.now) + at.claim.provisionTimeoutMs;
  if (at.now < deadline) return { do: "wait", for: what, recheckMs: at.claim.pollMs, deadline };
  return {
    do: "giveUp",
    reason: "ProvisionTimeout",
    message: `no machine within ${minutes(at.claim.provisionTimeoutMs)}: still ${at.machine.providerState}`,
  };
}

function stopped(at: Situation): Step {
  const late = overdue(at);
  return late ?? { do: "powerOn" };
}

function running(at: Situation): Step {
  const { claim, journal, settled } = at;
  const unset = !settled && !journal.networkSet;
  // Another machine would not get another network: a machine in service is not given up for it.
  if (journal.joined) return unset ? { do: "setNetwork" } : steady(at, "nothing");
  const late = overdue(at);
  if (late !== undefined) return late;
  if (unset) return { do: "setNetwork" };
  const { boot } = journal;
  if (claim.passes === 2 && boot?.pass !== 2) return { do: "reinstall", pass: 2 };
  if (boot !== undefined && !boot.sent) return unansweredBoot(at, boot);
  if (boot !== undefined && !hasBooted(journal.signals)) {
    const since = Math.max(boot.at, journal.runningSince ?? at.now);
    if (at.now >= since + BOOT_AGAIN_MS) return { do: "reinstall", pass: boot.pass };
  }
  return installing(at);
}

/** A boot that was announced and may have been sent: the machine's own word settles it, and time does. */
function unansweredBoot(at: Situation, boot: NonNullable<Journal["boot"]>): Step {
  if (hasBooted(at.journal.signals)) return installing(at);
  const due = boot.at + SETTLE_MS;
  if (at.now >= due) return { do: "reinstall", pass: boot.pass };
  return {
    do: "wait",
    for: "the provider's answer to the reinstallation",
    recheckMs: Math.min(at.claim.pollMs, due - at.now),
  };
}

/** Any word of the machine says that it got its boot: the first one may have been lost. */
function hasBooted({ scriptFetched, configFetched, started, succeeded, failed }: Signals): boolean {
  return (scriptFetched ?? configFetched ?? started ?? succeeded ?? failed) !== undefined;
}

/** The machine is on its own now; only what it says itself counts, never the provider's `active`. */
function installing(at: Situation): Step {
  const { signals } = at.journal;
  if (at.journal.joined) return steady(at, "nothing");
  if (signals.failed !== undefined && signals.failed >= (signals.started ?? 0)) {
    return {
      do: "giveUp",
      reason: "InstallFailed",
      message: `the installer reported a failure${signals.message ? `: ${signals.message}` : ""}`,
    };
  }
  return (
    overdue(at) ?? {
      do: "wait",
      for: awaited(signals, at.claim.lastStage),
      recheckMs: at.claim.pollMs,
      deadline: joinDeadline(at),
    }
  );
}

function awaited(signals: Signals, { awaited }: LastStage): string {
  if (signals.succeeded !== undefined) return awaited;
  if (signals.started !== undefined) return "the installer to finish";
  if (signals.configFetched !== undefined) return "the installer to start";
  if (signals.scriptFetched !== undefined) return "the machine to fetch its configuration";
  return "the machine to fetch its boot script";
}

function overdue(at: Situation): Step | undefined {
  if (at.now < joinDeadline(at)) return undefined;
  return {
    do: "giveUp",
    reason: "JoinTimeout",
    message: `${at.claim.lastStage.missed} within ${minutes(at.claim.joinTimeoutMs)}: it was waiting for ${blockedBy(at)}`,
  };
}

function blockedBy({ claim, journal, settled }: Situation): string {
  return settled || journal.networkSet ? awaited(journal.signals, claim.lastStage) : "its ports to be set";
}

function joinDeadline({ claim, journal, machine, now }: Situation): number {
  // If the machine was never running, the join deadline starts at the provisioning deadline.
  const due = journal.purchase === undefined ? now : journal.purchase.at + claim.provisionTimeoutMs;
  return (journal.runningSince ?? (machine.phase === "running" ? now : due)) + claim.joinTimeoutMs;
}

function steady({ claim }: Situation, what: string): Step {
  return { do: "wait", for: what, recheckMs: 2 * claim.pollMs };
}

function percent(machine: Machine): string {
  return machine.progress === undefined ? "" : `, ${Math.round(machine.progress)} %`;
}

function said(machine: Machine): string {
  return machine.lastEvent === undefined ? "" : `: ${machine.lastEvent}`;
}

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)}m`;
}
