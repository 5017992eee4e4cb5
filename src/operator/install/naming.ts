import { type Tree, value } from "./tree.ts";

/** On everything that is installed, and what the Pods are chosen by. */
export const LABELS = { "app.kubernetes.io/name": "slipway" } as const;

/** On the Service that serves metrics. */
export const METRICS_LABELS = { ...LABELS, "app.kubernetes.io/component": "metrics" } as const;

/** Metadata of an object in the operator's namespace. */
export function named(name: string): { [key: string]: Tree } {
  return { name, namespace: value("namespace"), labels: LABELS };
}
