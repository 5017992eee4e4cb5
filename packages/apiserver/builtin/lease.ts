import { invalid } from "../model/field-error.ts";
import { at, membersAt, textAt } from "../model/read.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";
import { nonNegative } from "../rules/value-rules.ts";
import { age, column, serve } from "./serve.ts";

export const lease: ServedResource = serve({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  createsOnUpdate: true,
  needsVersion: true,
  description: "Held by one of several candidates, for a time.",
  namespaced: true,
  columns: [column("Holder", (object) => textAt(object, "spec.holderIdentity")), age],
  // Coordinated election is off where upstream's defaults are on.
  prepareCreate: dropCoordination,
  prepareUpdate: dropCoordination,
  validate: (object) => [
    ...positive(at(object, "spec.leaseDurationSeconds"), "spec.leaseDurationSeconds"),
    ...nonNegative(at(object, "spec"), "spec", ["leaseTransitions"]),
  ],
});

function positive(value: unknown, field: string): FieldError[] {
  return typeof value === "number" && value <= 0 ? [invalid(field, value, "must be greater than 0")] : [];
}

function dropCoordination(object: Body): void {
  const { strategy: _strategy, preferredHolder: _preferred, ...spec } = membersAt(object, "spec");
  object.spec = spec;
}
