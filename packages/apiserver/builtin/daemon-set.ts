import { sameJson } from "@slipway/base";
import { immutable, required } from "../model/field-error.ts";
import { at, membersAt, numberAt, objectsAt } from "../model/read.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { nonNegative } from "../rules/value-rules.ts";
import { age, column, numberColumn, serve } from "./serve.ts";
import { labelText } from "./service.ts";
import { containerColumns, defaultTemplate, readyOf, scalable, selectorColumn } from "./workload.ts";
import { validateDaemonSet, validateStatefulSet } from "./workload-validation.ts";

export const daemonSet: ServedResource = serve({
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  description: "One Pod on each Node that fits.",
  shortNames: ["ds"],
  categories: ["all"],
  namespaced: true,
  status: true,
  hasGeneration: true,
  columns: [
    numberColumn("Desired", "status.desiredNumberScheduled"),
    numberColumn("Current", "status.currentNumberScheduled"),
    numberColumn("Ready", "status.numberReady"),
    numberColumn("Up-to-date", "status.updatedNumberScheduled"),
    numberColumn("Available", "status.numberAvailable"),
    column("Node Selector", (object) => labelText(membersAt(object, "spec.template.spec.nodeSelector"))),
    age,
    ...containerColumns,
    selectorColumn,
  ],
  setDefaults(object) {
    fillIn(object, { maxUnavailable: 1, maxSurge: 0 });
    object.metadata.annotations = { [TEMPLATE_GENERATION]: "0", ...object.metadata.annotations };
  },
  prepareCreate: (object) => countTemplates(object, Math.max(1, templateGeneration(object))),
  prepareUpdate(object, old) {
    const changed = !sameJson(at(object, "spec.template"), at(old, "spec.template"));
    countTemplates(object, templateGeneration(old) + (changed ? 1 : 0));
  },
  validate: validateDaemonSet,
});

/** The generation of a DaemonSet's Pods, kept where older versions of the API had a field for it. */
const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

function templateGeneration({ metadata }: Body): number {
  return Number(metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
}

function countTemplates({ metadata }: Body, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

export const statefulSet: ServedResource = serve({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  description: "A number of Pods with names and volumes of their own.",
  shortNames: ["sts"],
  categories: ["all"],
  namespaced: true,
  status: true,
  hasGeneration: true,
  scale: scalable,
  columns: [column("Ready", readyOf), age, ...containerColumns],
  setDefaults(object) {
    fillIn(object, { partition: 0 });
    for (const claim of objectsAt(object, "spec.volumeClaimTemplates")) {
      // Upstream's conversion writes what they are, whatever is sent.
      claim.apiVersion = "v1";
      claim.kind = "PersistentVolumeClaim";
      claim.status = { phase: "Pending", ...membersAt(claim, "status") };
    }
  },
  validate: validateStatefulSet,
});

export const controllerRevision: ServedResource = serve({
  apiVersion: "apps/v1",
  kind: "ControllerRevision",
  description: "A snapshot of a workload's state.",
  namespaced: true,
  validate: (object, old) => [
    ...(old === undefined || sameJson(object.data ?? null, old.data ?? null) ? [] : [immutable("data", object.data)]),
    ...nonNegative(object, "", ["revision"]).map((error) => ({ ...error, field: "revision" })),
    ...(object.data === undefined || object.data === null ? [required("data", "data is mandatory")] : []),
  ],
  columns: [
    column("Controller", (object) => {
      const owner = object.metadata.ownerReferences?.find((reference) => reference.controller === true);
      return owner === undefined ? "<none>" : `${owner.kind.toLowerCase()}.${owner.apiVersion}/${owner.name}`;
    }),
    column("Revision", (object) => numberAt(object, "revision")),
    age,
  ],
});

function fillIn(object: Body, rolling: Record<string, unknown>): void {
  defaultTemplate(object);
  if (at(object, "spec") === undefined) return;
  const spec = membersAt(object, "spec");
  const strategy: Record<string, unknown> = { ...membersAt(spec, "updateStrategy") };
  strategy.type ||= "RollingUpdate";
  if (strategy.type === "RollingUpdate") {
    strategy.rollingUpdate = { ...rolling, ...membersAt(strategy, "rollingUpdate") };
  }
  spec.updateStrategy = strategy;
}
