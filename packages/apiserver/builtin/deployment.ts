import type { Body, ServedResource } from "../served.ts";
import { podTemplate } from "./pod-spec.ts";
import { at, membersAt } from "./read.ts";
import {
  about,
  bool,
  conditions,
  fields,
  int32,
  int64,
  intOrString,
  labelSelector,
  retainingKeys,
  text,
  time,
  withDefault,
} from "./schema-words.ts";
import { age, column, numberColumn, serve } from "./serve.ts";
import { containerColumns, defaultTemplate, podNameWarnings, readyOf, scalable, selectorColumn } from "./workload.ts";
import { validateDeployment, validateReplicaSet } from "./workload-validation.ts";

const replicas = about("Pods wanted.", withDefault(int32, 1));

export const deployment: ServedResource = serve({
  apiVersion: "apps/v1",
  kind: "Deployment",
  generationCounts: ["annotations"],
  description: "A number of equal Pods, replaced step by step when the template changes.",
  shortNames: ["deploy"],
  categories: ["all"],
  namespaced: true,
  status: true,
  statusKeeps: ["labels"],
  hasGeneration: true,
  scale: scalable,
  members: {
    spec: fields({
      replicas,
      "selector!": labelSelector,
      "template!": podTemplate,
      strategy: retainingKeys(
        fields({ type: text, rollingUpdate: fields({ maxUnavailable: intOrString, maxSurge: intOrString }) }),
      ),
      minReadySeconds: int32,
      revisionHistoryLimit: withDefault(int32, 10),
      paused: bool,
      progressDeadlineSeconds: withDefault(int32, 600),
    }),
    status: fields({
      observedGeneration: int64,
      replicas: int32,
      updatedReplicas: int32,
      readyReplicas: int32,
      availableReplicas: int32,
      unavailableReplicas: int32,
      terminatingReplicas: int32,
      conditions: conditions({ lastUpdateTime: time }),
      collisionCount: int32,
    }),
  },
  required: ["spec"],
  columns: [
    column("Ready", readyOf),
    { ...numberColumn("Up-to-date", "status.updatedReplicas"), type: "string" },
    { ...numberColumn("Available", "status.availableReplicas"), type: "string" },
    age,
    ...containerColumns,
    selectorColumn,
  ],
  warnings: podNameWarnings,
  setDefaults: fillIn,
  validate: validateDeployment,
});

function fillIn(object: Body): void {
  defaultTemplate(object);
  if (at(object, "spec") === undefined) return;
  const spec = membersAt(object, "spec");
  const strategy: Record<string, unknown> = { ...membersAt(spec, "strategy") };
  strategy.type ||= "RollingUpdate";
  if (strategy.type === "RollingUpdate") {
    strategy.rollingUpdate = { maxUnavailable: "25%", maxSurge: "25%", ...membersAt(strategy, "rollingUpdate") };
  }
  spec.strategy = strategy;
}

export const replicaSet: ServedResource = serve({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  description: "A number of equal Pods.",
  shortNames: ["rs"],
  categories: ["all"],
  namespaced: true,
  status: true,
  hasGeneration: true,
  scale: scalable,
  members: {
    spec: fields({ replicas, minReadySeconds: int32, "selector!": labelSelector, template: podTemplate }),
    status: fields({
      replicas: int32,
      fullyLabeledReplicas: int32,
      readyReplicas: int32,
      availableReplicas: int32,
      terminatingReplicas: int32,
      observedGeneration: int64,
      conditions: conditions(),
    }),
  },
  columns: [
    numberColumn("Desired", "spec.replicas"),
    numberColumn("Current", "status.replicas"),
    numberColumn("Ready", "status.readyReplicas"),
    age,
    ...containerColumns,
    selectorColumn,
  ],
  warnings: podNameWarnings,
  setDefaults: defaultTemplate,
  validate: validateReplicaSet,
});
