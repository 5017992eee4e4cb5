import { equalJson } from "../patch/json.ts";
import type { Body, FieldError, ServedResource } from "../served.ts";
import { immutableField, invalidField } from "./field-errors.ts";
import { humanDuration } from "./human-duration.ts";
import { at, objectsAt, textAt } from "./read.ts";
import { about, bytes, fields, int32, keyedForApply, listOf, mapOf, text, texts, time } from "./schema-words.ts";
import { age, column, serve } from "./serve.ts";

const condition = fields({
  "type!": text,
  "status!": text,
  reason: text,
  message: text,
  lastUpdateTime: time,
  lastTransitionTime: time,
});

export const certificateSigningRequest: ServedResource = serve({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  description: "A request for a certificate.",
  shortNames: ["csr"],
  namespaced: false,
  status: true,
  untracked: true,
  members: {
    spec: fields({
      "request!": about("PEM of the request, in base64.", bytes),
      "signerName!": about("Who is to sign.", text),
      expirationSeconds: int32,
      usages: texts,
      username: text,
      uid: text,
      groups: texts,
      extra: mapOf(listOf(text)),
    }),
    status: fields({
      conditions: keyedForApply(condition, "type"),
      certificate: about("PEM of the issued certificate, in base64.", bytes),
    }),
  },
  required: ["spec"],
  selectableFields: { "spec.signerName": (object) => textAt(object, "spec.signerName") },
  columns: [
    age,
    column("SignerName", (object) => textAt(object, "spec.signerName") || "<none>"),
    column("Requestor", (object) => textAt(object, "spec.username")),
    column("RequestedDuration", (object) => {
      const seconds = at(object, "spec.expirationSeconds");
      return typeof seconds === "number" ? humanDuration(seconds * 1000) : "<none>";
    }),
    column("Condition", printedCondition),
  ],
  validate: validateRequest,
});

function printedCondition(object: Body): string {
  const types = objectsAt(object, "status.conditions").map((c) => c.type);
  const told = types.includes("Denied") ? ["Denied"] : types.includes("Approved") ? ["Approved"] : [];
  if (types.includes("Failed")) told.push("Failed");
  if (textAt(object, "status.certificate") !== "") told.push("Issued");
  return told.join(",") || "Pending";
}

function validateRequest(object: Body, old?: Body): FieldError[] {
  if (old !== undefined) {
    return equalJson(object.spec, old.spec) ? [] : [immutableField("spec", "")];
  }
  const pem = Buffer.from(textAt(object, "spec.request"), "base64").toString("latin1");
  if (pem.includes("-----BEGIN CERTIFICATE REQUEST-----")) return [];
  return [invalidField("spec.request", textAt(object, "spec.request"), "PEM block type must be CERTIFICATE REQUEST")];
}
