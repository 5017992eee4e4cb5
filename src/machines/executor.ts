/**
 * Carries out what the lifecycle decides for one machine: buys, looks, reinstalls, powers on, sets ports, gives back. Every effect that
 * must happen once stands in the claimant's journal first. Knows no kind of object.
 */
import { isFault } from "@slipway/base";
import type { Outcome } from "@slipway/kube";
import type { Job } from "./claimant.ts";
import { isAtRest, type Journal, mayStillAppear, type Step } from "./lifecycle.ts";
import type { Machine, Release } from "./machine.ts";
import type { Patience } from "./patience.ts";
import { bought, look, order } from "./purchase.ts";

const PORTS_AGAIN_MS = 1_000;

/** `rests`: the step was not tried, so nothing is known of what stalled it. */
export type Tried = Outcome & { rests?: boolean };

/** A step whose first write is the journal's entry of it: what is waiting to be written goes out with that. */
const ANNOUNCED: ReadonlySet<Step["do"]> = new Set<Step["do"]>(["order", "reinstall", "giveUp"]);

/**
 * Carries a step out, unless the provider has just refused it. `version`: of the specification; a changed one is tried at once.
 * `machine`: present for every step but `order`, `look` and `giveUp`.
 */
export async function tryStep(
  job: Job & { monotonic: () => number },
  {
    step,
    machine,
    version,
    patience,
  }: { step: Step; machine: Machine | undefined; version: unknown; patience: Patience },
): Promise<Tried> {
  const { claimant } = job;
  const { id } = claimant.claim;
  // A boot that may have been sent is waited for: what stalled it is not over.
  if (step.do === "wait") return { ...(await carryOut(job, step, machine)), rests: isUnanswered(claimant.journal) };
  const what = JSON.stringify([step, version]);
  const restMs = patience.restMs(id, what, job.monotonic());
  if (restMs > 0) {
    await claimant.flush();
    return { againAfterMs: restMs, rests: true };
  }
  try {
    const outcome = await carryOut(job, step, machine);
    patience.forget(id);
    return outcome;
  } catch (error) {
    if (isFault(error) && !isFault(error, "Conflict")) patience.refused(id, what, error, job.monotonic());
    throw error;
  }
}

function isUnanswered({ machineId, boot }: Journal): boolean {
  return machineId !== undefined && boot?.sent === false;
}

async function carryOut(job: Job, step: Step, machine: Machine | undefined): Promise<Outcome> {
  const { claimant, fleet, clock, signal } = job;
  const { journal, claim } = claimant;
  if (journal.joined && journal.boot !== undefined && (step.do === "wait" || step.do === "setNetwork"))
    return await discardBoot(job);
  if (!ANNOUNCED.has(step.do)) await claimant.flush();
  switch (step.do) {
    case "wait":
      return { againAfterMs: isAtRest(step) ? fleet.restMs(step.recheckMs) : step.recheckMs };
    case "order":
      return await order(job, step);
    case "look":
      return await look(job);
    case "setNetwork":
      fleet.note(await fleet.driver.setNetwork(machine!, claim.network!, signal));
      return { againAfterMs: PORTS_AGAIN_MS };
    case "reinstall":
      return await reinstall(job, machine!, step.pass);
    case "powerOn":
      await fleet.driver.power(machine!.id, "on", signal);
      await fleet.read(machine!.id);
      return { againAfterMs: claim.pollMs };
    case "giveUp":
      await claimant.write({ is: "lost", reason: step.reason, message: step.message, at: clock.now() });
      return { againAfterMs: 0 };
  }
}

/**
 * Removes the boot of a machine that has joined, and writes both down at once. No other boot can be under way: none is ordered for a
 * claim whose machine is there. Where the boot can't go now, that the machine joined is written all the same.
 */
async function discardBoot({ claimant, fleet }: Job): Promise<Outcome> {
  try {
    await claimant.discardBoot(fleet);
  } catch (error) {
    await claimant.flush();
    throw error;
  }
  await claimant.write({ is: "bootDiscarded" });
  return { againAfterMs: 0 };
}

/**
 * Installs anew: the second pass, or a boot without an answer. Prepared and written down first, then sent. Without a clear answer it
 * is sent again after a minute, unless the machine has asked for its script by then.
 */
async function reinstall({ claimant, fleet, clock, signal }: Job, machine: Machine, pass: 1 | 2): Promise<Outcome> {
  const boot = await claimant.prepareBoot({ pass, machine });
  const entry = { id: boot.id, pass, at: clock.now(), sent: false };
  await claimant.write({ is: "booting", boot: entry });
  await boot.publish();
  signal.throwIfAborted();
  await fleet.driver.reinstall(machine.id, boot, signal);
  await fleet.read(machine.id);
  await claimant.write({ is: "booted", boot: { ...entry, sent: true } });
  return { againAfterMs: claimant.claim.pollMs };
}

/** What a claim still holds at the provider. `unknown`: an order may have bought a machine. `none`: there is surely none. */
export type Left = Machine | "gone" | "unknown" | "none";

/**
 * What is left of a claim that ends. A machine whose order had no answer is written down when it is found, and `adopted` says so: look again.
 */
export async function whatIsLeft(job: Job): Promise<Left | "adopted"> {
  const { claimant, fleet, signal } = job;
  const { machineId } = claimant.journal;
  const left = machineId === undefined ? await whatWasOrdered(job) : await fleet.look(machineId, claimant.claim.pollMs);
  if (left === "gone" || left === "none") await fleet.driver.forget?.(claimant.claim.id, signal);
  return left;
}

async function whatWasOrdered(job: Job): Promise<Left | "adopted"> {
  const { claimant, fleet, clock, signal } = job;
  const found = await fleet.driver.find(claimant.claim.id, signal);
  if (found.length === 0) return mayStillAppear(claimant.journal, clock.now()) ? "unknown" : "none";
  await bought(job, found);
  return "adopted";
}

/** Whether anything was ever ordered, so that an account is needed to end the claim. */
export function wasOrdered({ machineId, purchase }: Journal): boolean {
  return machineId !== undefined || purchase?.state === "Pending";
}

/** Gives the machine `id` back to its provider, and writes down that the provider accepted it. */
export async function release({ claimant, fleet, signal }: Job, id: string, options: Release): Promise<void> {
  signal.throwIfAborted();
  await fleet.driver.release(id, options, signal);
  claimant.normal("Released", `machine ${id}`);
  await fleet.read(id);
  await claimant.write({ is: "released" });
}
