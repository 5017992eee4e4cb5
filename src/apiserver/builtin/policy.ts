import type { Body, FieldError, ServedResource } from "../served.ts";
import { invalidField } from "./field-errors.ts";
import { validateLabelSelector } from "./name-rules.ts";
import { at, numberAt } from "./read.ts";
import {
  about,
  conditions,
  fields,
  int32,
  int64,
  intOrString,
  labelSelector,
  mapOf,
  text,
  time,
} from "./schema-words.ts";
import { age, column, numberColumn, serve } from "./serve.ts";

export const podDisruptionBudget: ServedResource = serve({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  needsVersion: true,
  description: "How many Pods of a set may be evicted at a time.",
  shortNames: ["pdb"],
  namespaced: true,
  status: true,
  hasGeneration: true,
  members: {
    spec: fields({
      minAvailable: about("Pods that must stay, a number or a percentage.", intOrString),
      maxUnavailable: about("Pods that may be away, a number or a percentage.", intOrString),
      selector: { ...labelSelector, "x-kubernetes-patch-strategy": "replace" },
      unhealthyPodEvictionPolicy: text,
    }),
    status: fields({
      observedGeneration: int64,
      disruptedPods: mapOf(time),
      disruptionsAllowed: int32,
      currentHealthy: int32,
      desiredHealthy: int32,
      expectedPods: int32,
      conditions: conditions({ observedGeneration: int64 }),
    }),
  },
  columns: [
    column("Min Available", (object) => printed(at(object, "spec.minAvailable"))),
    column("Max Unavailable", (object) => printed(at(object, "spec.maxUnavailable"))),
    numberColumn("Allowed Disruptions", "status.disruptionsAllowed"),
    age,
  ],
  validate: validateBudget,
});

function printed(value: unknown): string {
  return value === undefined || value === null ? "N/A" : String(value);
}

function validateBudget(object: Body): FieldError[] {
  const errors = validateLabelSelector(at(object, "spec.selector"), "spec.selector");
  if (at(object, "spec.minAvailable") !== undefined && at(object, "spec.maxUnavailable") !== undefined) {
    errors.push(invalidField("spec", object.spec, "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const name of ["minAvailable", "maxUnavailable"]) {
    const value = at(object, `spec.${name}`);
    if (typeof value === "number" && numberAt(object, `spec.${name}`) < 0) {
      errors.push(invalidField(`spec.${name}`, value, "must be greater than or equal to 0"));
    } else if (typeof value === "string" && !/^[0-9]+%$/.test(value)) {
      const rule =
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
      errors.push(invalidField(`spec.${name}`, value, rule));
    }
  }
  return errors;
}
