import { at, membersAt, objectsAt } from "../model/read.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { validatePodSpec } from "./pod-validation.ts";
import { column, serve } from "./serve.ts";
import { labelText } from "./service.ts";

export const podTemplate: ServedResource = serve({
  apiVersion: "v1",
  kind: "PodTemplate",
  description: "A description of Pods that makes none.",
  namespaced: true,
  hasGeneration: true,
  columns: [
    column("Containers", (object) => ofContainers(object, "name")),
    column("Images", (object) => ofContainers(object, "image")),
    column("Pod Labels", (object) => labelText(membersAt(object, "template.metadata.labels"))),
  ],
  setDefaults: fillIn,
  validate: (object) => validatePodSpec(at(object, "template.spec"), "template.spec"),
});

function fillIn(object: Body): void {
  if (at(object, "template.spec") !== undefined) defaultPodSpec(membersAt(object, "template.spec"));
}

function ofContainers(object: Body, field: "name" | "image"): string {
  return objectsAt(object, "template.spec.containers")
    .map((container) => String(container[field] ?? ""))
    .join(",");
}
