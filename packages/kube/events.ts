import type { KubeObject } from "./object.ts";

/**
 * Records what happened to an object, as `kubectl describe` and `kubectl get events` show it. Equal events within a
 * window are counted on one Event object. Never throws and never blocks a reconcile: an event that can't be written is dropped and counted.
 */
export interface EventRecorder {
  normal(on: KubeObject, reason: string, message: string): void;
  warning(on: KubeObject, reason: string, message: string): void;
}
