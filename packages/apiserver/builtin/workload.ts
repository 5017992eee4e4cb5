import { at, membersAt, numberAt, objectsAt } from "../model/read.ts";
import type { Body, Column, ServedResource } from "../model/served.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { hostnameWarnings } from "./pod-validation.ts";
import { selectorText } from "./selector-text.ts";
import { wide } from "./serve.ts";

/** What Deployments, ReplicaSets, DaemonSets, StatefulSets and Jobs have in common: a selector and a template of Pods. */
export const scalable: NonNullable<ServedResource["scale"]> = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".spec.selector",
};

/** The names and images of a Pod template's containers, by its path. */
export const containerColumnsAt = (template: string): readonly Column[] => [
  wide("Containers", (object) => containers(object, template, "name")),
  wide("Images", (object) => containers(object, template, "image")),
];

export const containerColumns = containerColumnsAt("spec.template");

export const selectorColumn: Column = wide("Selector", (object) => selectorText(at(object, "spec.selector")));

function containers(object: Body, template: string, field: string): string {
  return objectsAt(object, `${template}.spec.containers`)
    .map((container) => String(container[field] ?? ""))
    .join(",");
}

/** `2/3`: replicas that are ready, of those wanted. */
export function readyOf(object: Body): string {
  const wanted = at(object, "spec.replicas");
  return `${numberAt(object, "status.readyReplicas")}/${typeof wanted === "number" ? wanted : 1}`;
}

/** Warnings about the names of kinds that make Pods. */
export function podNameWarnings(object: Body, old?: Body): string[] {
  return old === undefined ? hostnameWarnings(object, "Pod names and hostnames") : [];
}

/** Fills in the template's PodSpec. */
export function defaultTemplate(object: Body): void {
  if (at(object, "spec.template.spec") !== undefined) defaultPodSpec(membersAt(object, "spec.template.spec"));
}
