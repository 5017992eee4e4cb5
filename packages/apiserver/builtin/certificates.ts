import { duplicate, forbidden, invalid, required } from "../model/field-error.ts";
import { at, objectsAt, textAt, textsAt } from "../model/read.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";
import { oneOfField } from "../rules/value-rules.ts";
import { humanDuration } from "./human-duration.ts";
import { laterOnes } from "./later-ones.ts";
import { age, column, serve } from "./serve.ts";

export const certificateSigningRequest: ServedResource = serve({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  description: "A request for a certificate.",
  shortNames: ["csr"],
  namespaced: false,
  status: true,
  untracked: true,
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
  // What was asked for stays as it was, whatever is sent.
  prepareUpdate(object, old) {
    object.spec = old.spec;
  },
});

function printedCondition(object: Body): string {
  const types = objectsAt(object, "status.conditions").map((c) => c.type);
  const states = types.includes("Denied") ? ["Denied"] : types.includes("Approved") ? ["Approved"] : [];
  if (types.includes("Failed")) states.push("Failed");
  if (textAt(object, "status.certificate") !== "") states.push("Issued");
  return states.join(",") || "Pending";
}

function validateRequest(object: Body, old?: Body): FieldError[] {
  const request = at(object, "spec.request") ?? null;
  const pem = Buffer.from(textAt(object, "spec.request"), "base64").toString("latin1");
  const usages = textsAt(object, "spec.usages");
  const again = laterOnes(usages);
  const seconds = at(object, "spec.expirationSeconds");
  return [
    ...(pem.includes("-----BEGIN CERTIFICATE REQUEST-----")
      ? []
      : [invalid("spec.request", request, "PEM block type must be CERTIFICATE REQUEST")]),
    ...(usages.length === 0 ? [required("spec.usages")] : []),
    ...usages.flatMap((usage, i) => oneOfField(usage, `spec.usages[${i}]`, USAGES)),
    ...usages.flatMap((usage, i) => (again.has(i) ? [duplicate(`spec.usages[${i}]`, usage)] : [])),
    ...validateSigner(textAt(object, "spec.signerName")),
    ...(typeof seconds === "number" && seconds < MIN_SECONDS
      ? [
          invalid(
            "spec.expirationSeconds",
            seconds,
            `may not specify a duration less than ${MIN_SECONDS} seconds (10 minutes)`,
          ),
        ]
      : []),
    ...(old === undefined ? [] : validateConditionsKept(object, old)),
  ];
}

const MIN_SECONDS = 600;
const USAGES = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

function validateSigner(name: string): FieldError[] {
  const field = "spec.signerName";
  if (name === "") return [required(field)];
  if (name === "kubernetes.io/legacy-unknown")
    return [invalid(field, name, "the legacy signerName is not allowed via this API version")];
  const [domain = "", path = ""] = name.split("/");
  if (name.split("/").length === 2 && domain.includes(".") && path !== "") return [];
  const rule = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
  return [invalid(field, name, rule)];
}

function validateConditionsKept(object: Body, old: Body): FieldError[] {
  const count = (of: Body, type: string) => objectsAt(of, "status.conditions").filter((c) => c.type === type).length;
  return ["Approved", "Denied", "Failed"]
    .filter((type) => count(object, type) < count(old, type))
    .map((type) => forbidden("status.conditions", `updates may not remove a condition of type "${type}"`));
}
