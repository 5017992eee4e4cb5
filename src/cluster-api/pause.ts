import type { Condition, ConditionUpdate, KubeObject } from "@slipway/kube";
import type { Cluster } from "../kinds/cluster-api/cluster.ts";
import { ANNOTATIONS } from "./names.ts";

/** Whether controllers must leave the object alone: its Cluster is paused, or its annotation is there with any value. */
export const isPaused = (object: KubeObject, cluster: Cluster | undefined): boolean =>
  cluster?.spec.paused === true || object.metadata.annotations?.[ANNOTATIONS.paused] !== undefined;

/** The condition Paused of an object. */
export function pausedCondition(object: KubeObject, cluster: Cluster | undefined): ConditionUpdate {
  const observedGeneration = object.metadata.generation;
  const common = { type: "Paused", ...(observedGeneration !== undefined && { observedGeneration }) };
  if (!isPaused(object, cluster)) return { ...common, status: "False", reason: "NotPaused", message: "" };
  const why = [
    cluster?.spec.paused === true && "Cluster spec.paused is set to true",
    object.metadata.annotations?.[ANNOTATIONS.paused] !== undefined &&
      `${object.kind} has the ${ANNOTATIONS.paused} annotation`,
  ].filter((text) => text !== false);
  return { ...common, status: "True", reason: "Paused", message: why.join(", ") };
}

/** Whether the condition Paused says what holds already. */
export function showsPause(conditions: readonly Condition[] | undefined, update: ConditionUpdate): boolean {
  const shown = conditions?.find(({ type }) => type === "Paused");
  return shown !== undefined && shown.status === update.status && shown.message === update.message;
}
