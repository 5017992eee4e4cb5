import {
  type Condition,
  type Context,
  conditionOf,
  type KubeObject,
  type Resource,
  StatusRecord,
  setCondition,
} from "@slipway/kube";
import { isPaused, pausedCondition, showsPause } from "../../cluster-api/pause.ts";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";

interface Pausable extends KubeObject {
  status?: { conditions?: Condition[] | undefined };
}

/** Whether the condition Paused may come with the first status that the controller writes: the object has no such condition yet, and is not paused. */
export function pauseMayWait(object: Pausable, cluster: Cluster | undefined): boolean {
  return !isPaused(object, cluster) && conditionOf(object.status?.conditions, "Paused") === undefined;
}

/** Writes the condition Paused before anything else is done. True: nothing more is to be done now, since it is paused or the condition was just written. */
export async function pauseShown<T extends Pausable>(
  context: Context,
  resource: Resource<T>,
  object: T,
  cluster: Cluster | undefined,
): Promise<boolean> {
  const update = pausedCondition(object, cluster);
  const { conditions: held } = object.status ?? {};
  const isShown = showsPause(held, update);
  if (!isShown) {
    const conditions = setCondition(held, update, context.clock.now());
    await new StatusRecord<Pausable>(context, resource as unknown as Resource<Pausable>, object).write({ conditions });
  }
  return isPaused(object, cluster) || !isShown;
}
