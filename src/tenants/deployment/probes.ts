import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import type { Component } from "../../kinds/kamaji/deployment.ts";

type Probes = NonNullable<CompleteSpec["controlPlane"]["deployment"]["probes"]>;
const KINDS = ["liveness", "readiness", "startup"] as const;
type Kind = (typeof KINDS)[number];

/** Four minutes, as kubeadm gives: a first start on a slow datastore is no failure. */
const STARTUP_FAILURES = 24;

const defaultsOf = (kind: Kind): object => ({
  initialDelaySeconds: 0,
  // A second, which is Kamaji's, restarts components whose host is busy.
  timeoutSeconds: 15,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: kind === "startup" ? STARTUP_FAILURES : 3,
});

/** The probes of a container: its own numbers before those for all components, those before the defaults. */
export function probesOf(
  probes: Probes | undefined,
  component: Component,
  port: number,
  path: Readonly<Record<Kind, string>>,
): Record<`${Kind}Probe`, object> {
  const each = KINDS.map((kind) => [
    `${kind}Probe`,
    {
      httpGet: { path: path[kind], port, scheme: "HTTPS" },
      ...defaultsOf(kind),
      ...probes?.[kind],
      ...probes?.[component]?.[kind],
    },
  ]);
  return Object.fromEntries(each) as Record<`${Kind}Probe`, object>;
}
