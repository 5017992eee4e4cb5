import { at, membersAt, numberAt, objectsAt, textAt } from "../model/read.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { humanDuration } from "./human-duration.ts";
import { validateCronJob, validateJob } from "./job-validation.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { selectorText } from "./selector-text.ts";
import { age, ageOf, column, serve, wide } from "./serve.ts";
import { containerColumns, containerColumnsAt, defaultTemplate, podNameWarnings, selectorColumn } from "./workload.ts";

export const job: ServedResource = serve({
  apiVersion: "batch/v1",
  kind: "Job",
  description: "Pods that run until the work is done.",
  categories: ["all"],
  namespaced: true,
  status: true,
  hasGeneration: true,
  selectableFields: { "status.successful": (object) => String(numberAt(object, "status.succeeded")) },
  columns: [
    column("Status", jobStatus),
    column("Completions", completions),
    column("Duration", duration),
    age,
    ...containerColumns,
    selectorColumn,
  ],
  warnings: podNameWarnings,
  setDefaults: defaultJob,
  prepareCreate: ownPods,
  validate: validateJob,
});

export const cronJob: ServedResource = serve({
  apiVersion: "batch/v1",
  kind: "CronJob",
  description: "Makes Jobs by the clock.",
  shortNames: ["cj"],
  categories: ["all"],
  namespaced: true,
  status: true,
  hasGeneration: true,
  warnings: podNameWarnings,
  validate: validateCronJob,
  setDefaults: (object) => defaultPodSpec(membersAt(object, "spec.jobTemplate.spec.template.spec")),
  columns: [
    column("Schedule", (object) => textAt(object, "spec.schedule")),
    column("Timezone", (object) => textAt(object, "spec.timeZone") || "<none>"),
    column("Suspend", (object) => (at(object, "spec.suspend") === true ? "True" : "False"), { type: "boolean" }),
    column("Active", (object) => objectsAt(object, "status.active").length, { type: "integer" }),
    column("Last Schedule", (object, now) => {
      const last = textAt(object, "status.lastScheduleTime");
      return last === "" ? "<none>" : ageOf(last, now);
    }),
    age,
    ...containerColumnsAt("spec.jobTemplate.spec.template"),
    wide("Selector", (object) => selectorText(at(object, "spec.jobTemplate.spec.selector"))),
  ],
});

/** The defaults of a Job; a CronJob's template gets none of them. */
function defaultJob(object: Body): void {
  const spec = membersAt(object, "spec");
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
  const labels = membersAt(spec, "template.metadata.labels");
  if (Object.keys(object.metadata.labels ?? {}).length === 0 && Object.keys(labels).length > 0)
    object.metadata.labels = { ...labels } as Record<string, string>;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed";
  spec.manualSelector ??= false;
  defaultTemplate(object);
}

/** Without a selector of the writer's, a Job selects its Pods by its own uid. */
function ownPods(object: Body): void {
  const spec = membersAt(object, "spec");
  if (spec.manualSelector === true) return;
  const { name, uid } = object.metadata;
  const metadata = membersAt(spec, "template.metadata");
  metadata.labels = {
    "job-name": name,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "batch.kubernetes.io/controller-uid": uid,
    ...membersAt(metadata, "labels"),
  };
  const selector = membersAt(spec, "selector");
  spec.selector = {
    ...selector,
    matchLabels: { "batch.kubernetes.io/controller-uid": uid, ...membersAt(selector, "matchLabels") },
  };
}

const MAX_INT32 = 2 ** 31 - 1;

function jobStatus(object: Body): string {
  const holds = (type: string) =>
    objectsAt(object, "status.conditions").some((c) => c.type === type && c.status === "True");
  if (holds("Complete")) return "Complete";
  if (holds("Failed")) return "Failed";
  if (at(object, "metadata.deletionTimestamp") !== undefined) return "Terminating";
  if (holds("Suspended")) return "Suspended";
  if (holds("FailureTarget")) return "FailureTarget";
  return holds("SuccessCriteriaMet") ? "SuccessCriteriaMet" : "Running";
}

function completions(object: Body): string {
  const done = numberAt(object, "status.succeeded");
  const wanted = at(object, "spec.completions");
  if (typeof wanted === "number") return `${done}/${wanted}`;
  const parallel = numberAt(object, "spec.parallelism");
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
}

function duration(object: Body, now: number): string {
  const start = Date.parse(textAt(object, "status.startTime"));
  if (Number.isNaN(start)) return "";
  const end = Date.parse(textAt(object, "status.completionTime"));
  return humanDuration((Number.isNaN(end) ? now : end) - start);
}
