import { asFault, isFault } from "@slipway/base";
import { carryOut, type Hands } from "./carry-out.ts";
import type { NodeFound } from "./found.ts";
import { look } from "./look.ts";
import { leftoversOf, type PlanContext, planNode } from "./plan.ts";
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
}

/** Each round does what the one before has made possible. */
const MOST_ROUNDS = 8;

/**
 * Makes the node as it is wanted, as far as it can be. What fails keeps only itself from going on. Rejects with a `Fault` when libvirt or the
 * kernel can't be asked at all.
 */
export async function converge(hands: Hands, wish: NodeWish, context: PlanContext): Promise<Standing> {
  const failed = new Map<string, string>();
  for (let round = 1; ; round++) {
    const found = await look(hands.libvirt, hands.links);
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
      if (failed.has(step.about)) continue;
      try {
        await carryOut(hands, step);
        hands.log.info({ about: step.about, step: step.do }, "the node was changed");
      } catch (error) {
        if (isFault(error, "Unavailable", "LostAnswer") && error.on === "libvirt") throw error;
        const fault = asFault(error, step.about);
        failed.set(step.about, fault.advice);
        hands.log.warn({ about: step.about, step: step.do, error: fault.advice }, "a step failed");
      }
    }
  }
}
