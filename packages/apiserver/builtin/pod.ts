import { sameJson } from "@slipway/base";
import { at, membersAt, numberAt, objectsAt, textAt } from "../model/read.ts";
import type { ServedResource } from "../model/served.ts";
import { defaultPodSpec, defaultRunningSpec } from "./pod-defaults.ts";
import { podReady, podRestarts, podStatus, readinessGates } from "./pod-status.ts";
import { validatePodUpdate } from "./pod-update.ts";
import { hostnameWarnings, validatePodSpec } from "./pod-validation.ts";
import { age, column, serve, wide } from "./serve.ts";

export const pod: ServedResource = serve({
  apiVersion: "v1",
  kind: "Pod",
  answersDeleted: true,
  description: "Containers that run together on one Node.",
  shortNames: ["po"],
  categories: ["all"],
  namespaced: true,
  status: true,
  statusKeeps: ["ownerReferences"],
  hasGeneration: true,
  selectableFields: {
    "spec.nodeName": (object) => textAt(object, "spec.nodeName"),
    "spec.restartPolicy": (object) => textAt(object, "spec.restartPolicy"),
    "spec.schedulerName": (object) => textAt(object, "spec.schedulerName"),
    "spec.serviceAccountName": (object) => textAt(object, "spec.serviceAccountName"),
    "spec.hostNetwork": (object) => String(at(object, "spec.hostNetwork") === true),
    "status.phase": (object) => textAt(object, "status.phase"),
    "status.podIP": (object) => textAt(object, "status.podIP"),
    // Upstream knows the name but finds nothing by it.
    "status.podIPs": () => "",
    "status.nominatedNodeName": (object) => textAt(object, "status.nominatedNodeName"),
  },
  columns: [
    column("Ready", podReady, { description: "Containers that are ready, of all." }),
    column("Status", podStatus, { description: "The state of the Pod in one word." }),
    column("Restarts", podRestarts, { description: "Restarts of all containers, and when the last was." }),
    age,
    wide("IP", (object) => textAt(object, "status.podIP") || "<none>"),
    wide("Node", (object) => textAt(object, "spec.nodeName") || "<none>"),
    wide("Nominated Node", (object) => textAt(object, "status.nominatedNodeName") || "<none>"),
    wide("Readiness Gates", readinessGates),
  ],
  setDefaults(object) {
    defaultPodSpec(membersAt(object, "spec"));
    defaultRunningSpec(membersAt(object, "spec"));
  },
  prepareCreate(object) {
    object.status = { phase: "Pending", qosClass: qosClass(membersAt(object, "spec")) };
  },
  warnings: (object, old) => [
    ...(old === undefined ? hostnameWarnings(object, "the Pod's hostname") : []),
    ...objectsAt(object, "spec.imagePullSecrets").flatMap(({ name }, i) =>
      (name ?? "") === "" ? [`spec.imagePullSecrets[${i}].name: invalid empty name ""`] : [],
    ),
  ],
  *validate(object, old) {
    const errors = yield* validatePodSpec(at(object, "spec"), "spec");
    return old === undefined ? errors : [...errors, ...validatePodUpdate(object, old)];
  },
  gracePeriodSeconds(object) {
    // A Pod that never reached a Node, or has ended, has nothing to wind down.
    const phase = textAt(object, "status.phase");
    if (textAt(object, "spec.nodeName") === "" || phase === "Succeeded" || phase === "Failed") return 0;
    return at(object, "spec.terminationGracePeriodSeconds") === undefined
      ? 30
      : numberAt(object, "spec.terminationGracePeriodSeconds");
  },
});

/** Guaranteed: all limits are set and asked for; BestEffort: nothing is; Burstable: the rest. */
function qosClass(spec: unknown): string {
  const all = [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")];
  const requests = all.map((c) => membersAt(c, "resources.requests"));
  const limits = all.map((c) => membersAt(c, "resources.limits"));
  if ([...requests, ...limits].every((r) => r.cpu === undefined && r.memory === undefined)) return "BestEffort";
  const guaranteed = limits.every((limit, i) =>
    ["cpu", "memory"].every((name) => limit[name] !== undefined && sameJson(limit[name], requests[i]?.[name])),
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}
