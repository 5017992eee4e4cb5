import { qualifiedName } from "@slipway/cel/formats";
import { invalid } from "../model/field-error.ts";
import { membersAt, textAt, textsAt } from "../model/read.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";
import { age, column, serve } from "./serve.ts";

/** Every cluster needs these. */
const NEEDED: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

export const namespace: ServedResource = serve({
  apiVersion: "v1",
  kind: "Namespace",
  description: "A space of names for objects.",
  shortNames: ["ns"],
  namespaced: false,
  status: true,
  verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
  selectableFields: { "status.phase": (object) => textAt(object, "status.phase") },
  columns: [column("Status", (object) => textAt(object, "status.phase")), age],
  holdsOthers: true,
  deletion: {
    refuses: (name) => (NEEDED.has(name) ? "this namespace may not be deleted" : undefined),
    status: (status) => ({ ...(status as object | undefined), phase: "Terminating" }),
  },
  validate: (object, old) => [
    ...textsAt(object, "spec.finalizers").flatMap((name, i) =>
      validateFinalizer(name, old === undefined ? "spec.finalizers" : `spec.finalizers[${i}]`),
    ),
    ...(old === undefined ? [] : validatePhase(object)),
  ],
  setDefaults(object) {
    if (textAt(object, "metadata.name") !== "") nameLabel(object);
    object.status = { phase: "Active", ...membersAt(object, "status") };
  },
  prepareCreate(object) {
    nameLabel(object);
    const finalizers = textsAt(object, "spec.finalizers");
    object.spec = { finalizers: finalizers.includes("kubernetes") ? finalizers : [...finalizers, "kubernetes"] };
    object.status = { phase: "Active" };
  },
  prepareUpdate(object, old) {
    // The server takes its own finalizer off when the namespace is empty; a plain write keeps it.
    object.spec = old.spec ?? {};
  },
});

function nameLabel(object: { metadata: { name: string; labels?: Record<string, string> } }): void {
  if (object.metadata.name === undefined) return;
  object.metadata.labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": object.metadata.name };
}

function validatePhase(object: Body): FieldError[] {
  const phase = textAt(object, "status.phase");
  const leaving = object.metadata.deletionTimestamp !== undefined;
  if (phase === (leaving ? "Terminating" : "Active")) return [];
  const rule = leaving
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  return [invalid("status.Phase", phase, rule)];
}

function validateFinalizer(name: string, field: string): FieldError[] {
  const errors = qualifiedName(name).map((rule) => invalid(field, name, rule));
  if (name.includes("/") || name === "kubernetes") return errors;
  return [...errors, invalid(field, name, "name is neither a standard finalizer name nor is it fully qualified")];
}
