import { equalJson } from "../patch/json.ts";
import type { Body, Column, FieldError, ServedResource } from "../served.ts";
import { immutableField, invalidField } from "./field-errors.ts";
import { selects, validateLabelSelector } from "./name-rules.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { hostnameWarnings, validatePodSpec } from "./pod-validation.ts";
import { at, membersAt, numberAt, objectsAt } from "./read.ts";
import { selectorText } from "./selector-text.ts";
import { wide } from "./serve.ts";

/** What Deployments, ReplicaSets, DaemonSets, StatefulSets and Jobs have in common: a selector and a template of Pods. */
export const scalable: NonNullable<ServedResource["scale"]> = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".spec.selector",
};

export const containerColumns: readonly Column[] = [
  wide("Containers", (object) => containers(object, "name")),
  wide("Images", (object) => containers(object, "image")),
];

export const selectorColumn: Column = wide("Selector", (object) => selectorText(at(object, "spec.selector")));

function containers(object: Body, field: string): string {
  return objectsAt(object, "spec.template.spec.containers")
    .map((container) => String(container[field] ?? ""))
    .join(",");
}

/** `2/3`: replicas that are ready, of those wanted. */
export function readyOf(object: Body): string {
  const wanted = at(object, "spec.replicas");
  return `${numberAt(object, "status.readyReplicas")}/${typeof wanted === "number" ? wanted : 1}`;
}

/** What is told of the names of those that make Pods. */
export function podNameWarnings(object: Body, old?: Body): string[] {
  return old === undefined ? hostnameWarnings(object, "Pod names and hostnames") : [];
}

/** Fills in the template's PodSpec. */
export function defaultTemplate(object: Body): void {
  if (at(object, "spec.template.spec") !== undefined) defaultPodSpec(membersAt(object, "spec.template.spec"));
}

/** The rules of selector and template; the selector never changes. */
export function validateWorkload(object: Body, old?: Body): FieldError[] {
  const selector = at(object, "spec.selector");
  const errors = validateLabelSelector(selector, "spec.selector");
  const labels = membersAt(object, "spec.template.metadata.labels");
  if (selector === undefined) return errors;
  if (isEmpty(selector)) {
    errors.push(invalidField("spec.selector", selector, "empty selector is invalid for deployment"));
  } else if (!selects(selector, labels)) {
    const field = "spec.template.metadata.labels";
    errors.push(invalidField(field, labels, "`selector` does not match template `labels`"));
  }
  if (old !== undefined && !equalJson(selector, at(old, "spec.selector"))) {
    errors.push(immutableField("spec.selector", selector));
  }
  for (const field of ["replicas", "minReadySeconds", "revisionHistoryLimit"]) {
    const value = at(object, `spec.${field}`);
    if (typeof value !== "number" || value >= 0) continue;
    errors.push(invalidField(`spec.${field}`, value, "must be greater than or equal to 0"));
  }
  return [...errors, ...validatePodSpec(at(object, "spec.template.spec"), "spec.template.spec")];
}

function isEmpty(selector: unknown): boolean {
  return (
    Object.keys(membersAt(selector, "matchLabels")).length === 0 && objectsAt(selector, "matchExpressions").length === 0
  );
}
