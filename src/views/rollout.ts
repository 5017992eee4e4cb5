import type { KubeObject } from "@slipway/kube";
import { at } from "../kinds/cluster-api/field-path.ts";

/** How far a pool or a control plane is with what it is to be. */
export interface Rollout {
  wanted: number;
  /** Members of today's specification. */
  upToDate: number;
  ready: number;
  /** Members that differ from the specification, and are not replaced by themselves. */
  drifted: number;
  isDone: boolean;
}

/** Undefined: the object has no members. Pure. */
export function rolloutOf(object: KubeObject): Rollout | undefined {
  const number = (...paths: string[]): number | undefined =>
    paths.map((path) => at(object, path)).find((value): value is number => typeof value === "number");
  const wanted = number("spec.count", "spec.replicas", "spec.controlPlane.deployment.replicas");
  if (wanted === undefined) return undefined;
  const deployment = "status.kubernetesResources.deployment";
  const drifted = number("status.drifted") ?? 0;
  const has = number("status.replicas", `${deployment}.replicas`) ?? 0;
  const upToDate =
    number("status.upToDateReplicas", "status.updatedReplicas", `${deployment}.updatedReplicas`) ??
    Math.max(0, has - drifted);
  const ready = number("status.readyReplicas", "status.ready", `${deployment}.readyReplicas`) ?? 0;
  return { wanted, upToDate, ready, drifted, isDone: upToDate === wanted && ready === wanted && has === wanted };
}

/** Fields in which a machine differs from its pool. Pure. */
export function driftOf(object: KubeObject): readonly string[] {
  const drift = at(object, "status.drift");
  return (Array.isArray(drift) ? drift : []).filter((field): field is string => typeof field === "string");
}
