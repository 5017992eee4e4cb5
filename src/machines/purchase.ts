import { Fault, isFault } from "@slipway/base";
import type { Outcome } from "@slipway/kube";
import type { Claimant, Job, Purchase } from "./claimant.ts";
import type { Fleet } from "./fleet.ts";
import type { Machine, Order } from "./machine.ts";

const LOOK_AGAIN_MS = 10_000;
const NEXT_PLACEMENT_MS = 1_000;
/** Faults after which the provider surely has sold nothing. */
const NO_EFFECT = [
  ...(["Throttled", "Unavailable", "BadCredentials", "UntrustedCertificate"] as const),
  ...(["Invalid", "MissingInput", "Unsupported", "Forbidden", "Unauthorized"] as const),
] as const;
/** A boot that an order is tried with before there is one. */
export const TRIAL_BOOT = { scriptUrl: "https://boot.invalid/", userData: "" };

/**
 * Buys a machine, once: the order is written down under the object's version, the provider is asked who carries the claim already,
 * and only then is it sent. Whatever happens in between, the next call finds the order and looks before it sends another (H1).
 */
export async function order(
  job: Job,
  { attempt, placement }: { attempt: number; placement: number },
): Promise<Outcome> {
  const { claimant, fleet, clock, signal } = job;
  const wanted = { placement: claimant.claim.placements[placement]!, attempt };
  refuseImpossible(claimant, fleet, claimant.order({ ...wanted, boot: TRIAL_BOOT }));
  const boot = await claimant.prepareBoot({ pass: 1 });
  const before = claimant.journal.purchase;
  const purchase: Purchase = { attempt, at: clock.now(), state: "Pending", placement };
  await claimant.write({ is: "ordering", purchase, boot: { id: boot.id, pass: 1, at: boot.at, sent: false } });
  await boot.publish();
  signal.throwIfAborted();
  const claimed = await fleet.driver.find(claimant.claim.id, signal);
  const existing = claimed.length > 0 ? claimed : await claimant.unmarked(fleet);
  if (existing.length > 0) return await bought(job, existing);
  try {
    const machine = await fleet.driver.create(claimant.order({ ...wanted, boot }), signal);
    return await bought(job, [machine]);
  } catch (error) {
    if (isFault(error, "NoCapacity")) {
      await claimant.write({ is: "orderRefused", purchase: { ...purchase, state: "Refused", at: clock.now() } });
      claimant.warning("NoCapacity", error.message);
      return { againAfterMs: NEXT_PLACEMENT_MS };
    }
    if (isFault(error, ...NO_EFFECT)) await claimant.write({ is: "orderFailed", purchase: before });
    throw error;
  }
}

/** Asks the provider who carries the claim of an order whose answer was lost. */
export async function look(job: Job): Promise<Outcome> {
  const existing = await job.fleet.driver.find(job.claimant.claim.id, job.signal);
  return existing.length > 0 ? await bought(job, existing) : { againAfterMs: LOOK_AGAIN_MS };
}

/** Writes down which machine is the claim's. Should the provider have sold two, the younger goes back at once. */
export async function bought({ claimant, fleet, signal }: Job, machines: readonly Machine[]): Promise<Outcome> {
  const [first, ...extra] = machines.toSorted(
    (a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0) || (a.id < b.id ? -1 : 1),
  );
  const machine = fleet.note(first!);
  await claimant.write({ is: "bought", machine, provider: fleet.driver.type });
  claimant.normal("Ordered", `machine ${machine.id}${machine.metro === undefined ? "" : ` in ${machine.metro}`}`);
  for (const { id } of extra) {
    claimant.warning("ReleasingDuplicate", `machine ${id} carries the same claim`);
    await fleet.driver.release(id, { force: true }, signal);
  }
  return { againAfterMs: claimant.claim.pollMs };
}

/** Reports what the provider would ignore of an order; throws `Invalid` for what can't work. */
function refuseImpossible(claimant: Claimant, fleet: Fleet, trial: Order): void {
  const concerns = [...claimant.concerns(fleet.driver.capabilities), ...fleet.driver.check(trial)];
  for (const { field, message, fatal } of concerns) if (!fatal) claimant.warning("Ignored", `${field}: ${message}`);
  const fatal = concerns.filter((concern) => concern.fatal).map(({ field, message }) => `${field}: ${message}`);
  if (fatal.length > 0)
    throw new Fault("Invalid", claimant.on, fatal.join("; "), { remedy: "correct the specification" });
}
