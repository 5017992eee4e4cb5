import { sameJson } from "@slipway/base";
import type { Passes } from "../json/turns.ts";
import { immutable, invalid, required } from "../model/field-error.ts";
import { at, membersAt, textAt } from "../model/read.ts";
import type { Body, FieldError } from "../model/served.ts";
import { selects, validateLabelSelector } from "../rules/name-rules.ts";
import { nonNegative, oneOfField } from "../rules/value-rules.ts";
import { validateTemplate } from "./workload-validation.ts";

const CONTROLLER_UID = "batch.kubernetes.io/controller-uid";
/** What of a Job never changes. */
const FIXED = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"];

/** Rules for Jobs (batch validation); with `old`, what may change of one. */
export function* validateJob(object: Body, old?: Body): Passes<FieldError[]> {
  const spec = membersAt(object, "spec");
  const selector = spec.selector ?? null;
  const labels = at(spec, "template.metadata.labels") ?? null;
  const generated = { matchLabels: { [CONTROLLER_UID]: object.metadata.uid } };
  const before = membersAt(old, "spec");
  return [
    ...(old === undefined && spec.manualSelector !== true && !sameJson(selector, generated)
      ? [invalid("spec.selector", selector, "`selector` not auto-generated")]
      : []),
    ...(yield* validateWork(spec, "spec")),
    ...(selector === null ? [required("spec.selector")] : validateLabelSelector(selector, "spec.selector")),
    ...(selects(selector, membersAt(spec, "template.metadata.labels"))
      ? []
      : [invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")]),
    ...(old === undefined ? [] : validateKept(spec, before)),
  ];
}

function validateKept(spec: Record<string, unknown>, before: Record<string, unknown>): FieldError[] {
  const changed = (name: string) => !sameJson(spec[name] ?? null, before[name] ?? null);
  const completions = changed("completions") && spec.completionMode !== "Indexed" ? ["completions"] : [];
  return [...completions, "selector", "template", ...FIXED]
    .filter(changed)
    .map((name) => immutable(`spec.${name}`, spec[name] ?? null));
}

/** A CronJob's name has room for what its Jobs' names add. */
const MAX_CRON_NAME = 52;

/** Rules for CronJobs: schedule, policies, history limits and the Job that is made. */
export function* validateCronJob(object: Body, old?: Body): Passes<FieldError[]> {
  const spec = membersAt(object, "spec");
  const { name } = object.metadata;
  return [
    ...validateSchedule(textAt(spec, "schedule")),
    ...nonNegative(spec, "spec", ["startingDeadlineSeconds"]),
    ...oneOfField(spec.concurrencyPolicy, "spec.concurrencyPolicy", ["Allow", "Forbid", "Replace"]),
    ...(yield* validateWork(membersAt(spec, "jobTemplate.spec"), "spec.jobTemplate.spec")),
    ...(at(spec, "jobTemplate.spec.selector") === undefined
      ? []
      : [
          invalid(
            "spec.jobTemplate.spec.selector",
            at(spec, "jobTemplate.spec.selector"),
            "`selector` will be auto-generated",
          ),
        ]),
    ...nonNegative(spec, "spec", ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"]),
    ...(old === undefined && name.length > MAX_CRON_NAME
      ? [invalid("metadata.name", name, `must be no more than ${MAX_CRON_NAME} characters`)]
      : []),
  ];
}

function validateSchedule(schedule: string): FieldError[] {
  const field = "spec.schedule";
  if (schedule === "") return [required(field)];
  if (schedule.startsWith("@")) return [];
  const parts = schedule.trim().split(/\s+/);
  if (parts.length === 5) return [];
  return [invalid(field, schedule, `expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`)];
}

/** A JobSpec, in a Job or in a CronJob's template. */
function* validateWork(spec: Record<string, unknown>, path: string): Passes<FieldError[]> {
  const numbers = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ];
  const policy = textAt(spec, "template.spec.restartPolicy");
  const at = `${path}.template.spec.restartPolicy`;
  return [
    ...nonNegative(spec, path, numbers),
    ...oneOfField(spec.completionMode, `${path}.completionMode`, ["NonIndexed", "Indexed"]),
    ...(yield* validateTemplate(spec, path)),
    ...(policy === "Always" || policy === ""
      ? [required(at, 'valid values: "OnFailure", "Never"')]
      : oneOfField(policy, at, ["OnFailure", "Never"])),
  ];
}
