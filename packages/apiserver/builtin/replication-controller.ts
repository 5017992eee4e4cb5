import { membersAt } from "../model/read.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { age, numberColumn, serve, wide } from "./serve.ts";
import { labelText } from "./service.ts";
import { containerColumns, defaultTemplate } from "./workload.ts";
import { validateReplicationController } from "./workload-validation.ts";

export const replicationController: ServedResource = serve({
  apiVersion: "v1",
  kind: "ReplicationController",
  description: "A number of equal Pods; ReplicaSets have taken its place.",
  shortNames: ["rc"],
  categories: ["all"],
  namespaced: true,
  status: true,
  hasGeneration: true,
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".spec.selector",
  },
  columns: [
    numberColumn("Desired", "spec.replicas"),
    numberColumn("Current", "status.replicas"),
    numberColumn("Ready", "status.readyReplicas"),
    age,
    ...containerColumns,
    wide("Selector", (object) => labelText(membersAt(object, "spec.selector"))),
  ],
  setDefaults: fillIn,
  validate: validateReplicationController,
});

/** What the writer leaves open comes from the template's labels. */
function fillIn(object: Body): void {
  defaultTemplate(object);
  const labels = membersAt(object, "spec.template.metadata.labels") as Record<string, string>;
  if (Object.keys(labels).length === 0) return;
  const spec = membersAt(object, "spec");
  if (Object.keys(membersAt(spec, "selector")).length === 0) spec.selector = { ...labels };
  if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels };
}
