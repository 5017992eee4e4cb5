import { asFault, isFault } from "@slipway/base";
import type { Guard } from "../guard/guard.ts";
import type { Stop } from "../guard/stop.ts";
import { carryOut, type Hands } from "./carry-out.ts";
import type { NodeFound } from "./found.ts";
import { look } from "./look.ts";
import { leftoversOf, type PlanContext, planNode } from "./plan.ts";
import type { Step } from "./steps.ts";
import type { NodeWish } from "./wish.ts";

/** How the node is, after all that could be done was done. */
export interface Standing {
  found: NodeFound;
  problems: ReadonlyMap<string, string>;
  waits: ReadonlyMap<string, string>;
  /** What nobody wants any more, and is still there. */
  leftovers: readonly string[];
  /** Something failed that may go well another time. */
  again: boolean;
  /** Why nothing was done at all. */
  stop?: Stop;
}

/** Each round does what the one before has made possible. */
const MOST_ROUNDS = 8;

/**
 * Makes the node as it is wanted, as far as it can be. What fails keeps only itself from going on. Rejects with a `Fault` when libvirt or the
 * kernel can't be asked at all. Where the guard says stop, nothing is changed.
 */
export async function converge(
  hands: Hands,
  wish: NodeWish,
  context: PlanContext,
  guard?: Pick<Guard, "check">,
): Promise<Standing> {
  const found = await look(hands.libvirt, hands.links);
  const stop = await guard?.check(found, wish);
  if (stop === undefined) return await settle(hands, { wish, found }, context);
  return { found, stop, waits: new Map(), problems: wish.problems, leftovers: [], again: false };
}

async function settle(
  hands: Hands,
  { wish, found: first }: { wish: NodeWish; found: NodeFound },
  context: PlanContext,
): Promise<Standing> {
  const failed = new Map<string, string>();
  for (let round = 1, found = first; ; round++, found = await look(hands.libvirt, hands.links)) {
    const plan = planNode(wish, found, context);
    const steps = plan.steps.filter(({ about }) => !failed.has(about));
    if (steps.length === 0 || round === MOST_ROUNDS) {
      const problems = new Map([...plan.problems, ...failed]);
      return {
        ...{ found, waits: plan.waits, problems },
        leftovers: leftoversOf(wish, found, new Map([...plan.waits, ...problems])),
        again: failed.size > 0 || steps.length > 0,
      };
    }
    for (const step of steps) {
      const why = failed.has(step.about) ? undefined : await failureOf(hands, step);
      if (why !== undefined) failed.set(step.about, why);
    }
  }
}

/** Carries out a step; resolves with the reason why that failed. Rejects when libvirt has gone. */
async function failureOf(hands: Hands, step: Step): Promise<string | undefined> {
  const { about, do: what } = step;
  try {
    await carryOut(hands, step);
    hands.log.info({ about, step: what }, "the node was changed");
    return undefined;
  } catch (error) {
    if (isFault(error, "Unavailable", "LostAnswer") && error.on === "libvirt") throw error;
    const { advice } = asFault(error, about);
    hands.log.warn({ about, step: what, error: advice }, "a step failed");
    return advice;
  }
}
