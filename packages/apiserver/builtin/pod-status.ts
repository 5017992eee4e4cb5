import { at, numberAt, objectsAt, textAt } from "../model/read.ts";
import type { Body } from "../model/served.ts";
import { humanDuration } from "./human-duration.ts";

type Container = Record<string, unknown>;

/** A Pod's state in one word, as `kubectl get pods` prints it: the most specific reason wins over the phase. */
export function podStatus(pod: Body): string {
  const reason = initReason(pod) ?? containersReason(pod);
  if (at(pod, "metadata.deletionTimestamp") === undefined) return reason;
  if (textAt(pod, "status.reason") === "NodeLost") return "Unknown";
  const phase = textAt(pod, "status.phase");
  return phase === "Succeeded" || phase === "Failed" ? reason : "Terminating";
}

/** Set while init containers are at work or have failed. */
function initReason(pod: Body): string | undefined {
  const specs = objectsAt(pod, "spec.initContainers");
  const sidecars = new Set(specs.filter((c) => c.restartPolicy === "Always").map((c) => c.name));
  for (const [i, status] of objectsAt(pod, "status.initContainerStatuses").entries()) {
    const ended = at(status, "state.terminated");
    if (ended !== undefined && numberAt(ended, "exitCode") === 0) continue;
    if (sidecars.has(status.name) && status.started === true) continue;
    if (ended !== undefined) return `Init:${exitReason(ended)}`;
    const waiting = textAt(status, "state.waiting.reason");
    if (waiting !== "" && waiting !== "PodInitializing") return `Init:${waiting}`;
    return `Init:${i}/${specs.length}`;
  }
  return undefined;
}

function containersReason(pod: Body): string {
  const scheduled = conditionReason(pod, "PodScheduled") === "SchedulingGated" ? "SchedulingGated" : "";
  let reason = scheduled || textAt(pod, "status.reason") || textAt(pod, "status.phase") || "Unknown";
  let running = false;
  for (const status of objectsAt(pod, "status.containerStatuses").reverse()) {
    const waiting = textAt(status, "state.waiting.reason");
    const ended = at(status, "state.terminated");
    if (waiting !== "") reason = waiting;
    else if (ended !== undefined) reason = exitReason(ended);
    else if (status.ready === true && at(status, "state.running") !== undefined) running = true;
  }
  if (reason !== "Completed" || !running) return reason;
  return conditionStatus(pod, "Ready") === "True" ? "Running" : "NotReady";
}

function exitReason(ended: unknown): string {
  const reason = textAt(ended, "reason");
  if (reason !== "") return reason;
  const signal = numberAt(ended, "signal");
  return signal === 0 ? `ExitCode:${numberAt(ended, "exitCode")}` : `Signal:${signal}`;
}

/** `1/2`: containers that are ready, of all; started sidecars count too. */
export function podReady(pod: Body): string {
  const sidecars = objectsAt(pod, "spec.initContainers").filter((c) => c.restartPolicy === "Always");
  const names = new Set(sidecars.map((c) => c.name));
  const all = objectsAt(pod, "spec.containers").length + sidecars.length;
  const ready =
    objectsAt(pod, "status.containerStatuses").filter((s) => s.ready === true && at(s, "state.running") !== undefined)
      .length +
    objectsAt(pod, "status.initContainerStatuses").filter((s) => names.has(s.name) && s.ready === true).length;
  return `${ready}/${all}`;
}

/** `3 (5m ago)`: restarts of all containers, and when the last was. */
export function podRestarts(pod: Body, now: number): string {
  const statuses: Container[] = objectsAt(pod, "status.containerStatuses");
  const restarts = statuses.reduce((sum, status) => sum + numberAt(status, "restartCount"), 0);
  const ends = statuses
    .map((s) => Date.parse(textAt(s, "lastState.terminated.finishedAt")))
    .filter((t) => !Number.isNaN(t));
  if (restarts === 0 || ends.length === 0) return String(restarts);
  return `${restarts} (${humanDuration(now - Math.max(...ends))} ago)`;
}

/** `1/2`: readiness gates that hold; `<none>` without gates. */
export function readinessGates(pod: Body): string {
  const gates = objectsAt(pod, "spec.readinessGates");
  if (gates.length === 0) return "<none>";
  return `${gates.filter((gate) => conditionStatus(pod, textAt(gate, "conditionType")) === "True").length}/${gates.length}`;
}

function conditionStatus(object: Body, type: string): string {
  return textAt(
    objectsAt(object, "status.conditions").find((c) => c.type === type),
    "status",
  );
}

function conditionReason(object: Body, type: string): string {
  return textAt(
    objectsAt(object, "status.conditions").find((c) => c.type === type),
    "reason",
  );
}
