import { at, membersAt } from "../model/read.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { age, column, numberColumn, serve } from "./serve.ts";
import { containerColumns, defaultTemplate, podNameWarnings, readyOf, scalable, selectorColumn } from "./workload.ts";
import { validateDeployment, validateReplicaSet } from "./workload-validation.ts";

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
