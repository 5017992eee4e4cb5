import { isoTime, parseTime } from "@slipway/base";
import { isStalled, type StatusFields, setCondition, type Waiting, waitFor } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import type { Instance } from "../../kinds/harvester/instance.ts";
import { FORCE_DELETE } from "./names.ts";
import { releaseOf } from "./release-entry.ts";
import { drainTimeout, type ReleaseStep } from "./release-plan.ts";

const WAITS: Readonly<Record<Exclude<ReleaseStep["do"], "hold">, string | undefined>> = {
  look: "the answer to an order that may have bought a machine",
  drain: "its Node to be drained",
  release: "the provider to take the machine back",
  awaitGone: "the provider to take the machine back",
  removeNode: "its Node to be removed",
  finish: undefined,
};

/** The fields of the status of an Instance whose release is at `step`. `drained`: `done`, or what draining waits for. `now`: ms since 1970. Pure. */
export function releaseStatus(
  instance: Instance,
  { step, node, drained, now }: { step: ReleaseStep; node: Node | undefined; drained: string | undefined; now: number },
): StatusFields<Instance> {
  const release = { ...releaseOf(instance, now), ...(drained === "done" && { drained: true }) };
  const stuck =
    drained !== undefined && drained !== "done" && now - (parseTime(release.at) ?? now) > drainTimeout(instance);
  const waitsFor =
    step.do === "hold" ? step.message : step.do === "drain" && drained !== "done" ? drained : WAITS[step.do];
  const [reason, message] =
    step.do === "hold"
      ? [step.reason, step.message]
      : stuck
        ? [
            "DrainStuck",
            `Node ${node?.metadata.name} is not drained: it waits for ${drained}; end that, or set ${FORCE_DELETE}`,
          ]
        : ["Releasing", waitsFor === undefined ? "nothing of the machine is left" : `waiting for ${waitsFor}`];
  const observedGeneration = instance.metadata.generation ?? 0;
  const released = { type: "Released", status: "False" as const, reason, message, observedGeneration };
  const gone = {
    type: "Ready",
    status: "False" as const,
    reason: "Deleting",
    message: "the Instance is being deleted",
    observedGeneration,
  };
  return {
    status: "releasing",
    release,
    conditions: [...setCondition(setCondition(instance.status?.conditions, released, now), gone, now)],
    ...waitOf(instance, step, waitsFor, now),
  };
}

/** What is waited for. What stalled the release stands until it went through. */
function waitOf({ status }: Instance, step: ReleaseStep, what: string | undefined, now: number): Waiting {
  if (step.do === "release" && isStalled(status) && status?.waitingFor !== undefined)
    return { waitingFor: status.waitingFor, waitingSince: status.waitingSince, deadline: undefined };
  const waiting = waitFor(status, { what, now });
  return {
    ...waiting,
    deadline: step.do === "drain" && step.deadline !== undefined ? isoTime(step.deadline) : undefined,
  };
}
