import { invalid } from "../model/field-error.ts";
import { at, membersAt } from "../model/read.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";
import { validateLabelSelector } from "../rules/name-rules.ts";
import { atMost100Percent, numberOrPercent, oneOfField } from "../rules/value-rules.ts";
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
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = membersAt(object, "spec");
  const inGo = {
    MinAvailable: minAvailable ?? null,
    Selector: selector ?? null,
    MaxUnavailable: maxUnavailable ?? null,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
  };
  const both = minAvailable !== undefined && maxUnavailable !== undefined;
  return [
    ...(both ? [invalid("spec", inGo, "minAvailable and maxUnavailable cannot be both set")] : []),
    ...numberOrPercent(minAvailable, "spec.minAvailable"),
    ...atMost100Percent(minAvailable, "spec.minAvailable"),
    ...numberOrPercent(maxUnavailable, "spec.maxUnavailable"),
    ...atMost100Percent(maxUnavailable, "spec.maxUnavailable"),
    ...validateLabelSelector(selector, "spec.selector"),
    ...oneOfField(unhealthyPodEvictionPolicy, "spec.unhealthyPodEvictionPolicy", ["AlwaysAllow", "IfHealthyBudget"]),
  ];
}
