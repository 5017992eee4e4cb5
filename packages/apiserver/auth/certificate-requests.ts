import { type Clock, rfc3339, sameJson } from "@slipway/base";
import type { Admission, AdmissionReview } from "../core/admission.ts";
import type { Authorize } from "../core/authorize.ts";
import { objectsAt, textAt } from "../model/read.ts";
import type { Body } from "../model/served.ts";
import { forbidden } from "../model/status.ts";

/** Its certificates are let in by this API. */
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

/**
 * CertificateSigningRequests name who made them, whatever they claim; approving and signing them need the right to do so for
 * their signer (`approve` and `sign` on `signers`). Nobody asks for the administrators' group. Conditions are dated. An admission step; throws Forbidden.
 */
export function certificateRequests(authorize: Authorize, clock: Pick<Clock, "now">): Admission {
  return async (review) => {
    const { resource, operation, subresource, object, old } = review;
    if (resource.plural !== "certificatesigningrequests" || object === undefined) return;
    if (operation === "CREATE" && subresource === "") admitNew(review, object);
    if (operation !== "UPDATE" || old === undefined || subresource === "") return;
    stampConditions(object, old, rfc3339(clock.now()));
    if (subresource === "approval") await permitFor("approve", old, review, authorize);
    if (subresource === "status" && isSigning(object, old)) await permitFor("sign", old, review, authorize);
  };
}

function admitNew(review: AdmissionReview, object: Body): void {
  object.spec = { ...specOf(object), ...requestor(review) };
  if (textAt(object, "spec.signerName") === CLIENT_SIGNER && namesMasters(textAt(object, "spec.request")))
    throw forbidden(
      review.resource,
      review.name,
      `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`,
    );
}

function specOf(object: Body): object {
  const { username: _, uid: __, groups: ___, extra: ____, ...spec } = (object.spec ?? {}) as Record<string, unknown>;
  return spec;
}

function requestor({ user: { name, uid, groups, extra } }: AdmissionReview): object {
  const hasExtra = Object.keys(extra ?? {}).length > 0;
  return {
    username: name,
    ...(uid !== undefined && { uid }),
    groups: [...groups],
    ...(hasExtra && { extra: { ...extra } }),
  };
}

/** Whether a request (PEM in base64) asks for the organization `system:masters`, of whatever kind of string (X.520 §6.4.1: 2.5.4.10). */
function namesMasters(request: string): boolean {
  const pem = Buffer.from(request, "base64").toString("latin1");
  const der = Buffer.from(pem.replace(/-----[^-]*-----/g, ""), "base64");
  return STRINGS.some((tag) => der.includes(Buffer.from([0x06, 3, 0x55, 0x04, 0x0a, tag, MASTERS.length, ...MASTERS])));
}

const MASTERS = Buffer.from("system:masters");
/** UTF8String, PrintableString, TeletexString, IA5String. */
const STRINGS = [0x0c, 0x13, 0x14, 0x16];

/** Giving the certificate, or saying more of the request. */
function isSigning(object: Body, old: Body): boolean {
  const signed = (of: Body) => ({
    certificate: textAt(of, "status.certificate"),
    conditions: objectsAt(of, "status.conditions"),
  });
  return !sameJson(signed(object), signed(old));
}

/** Conditions have the time at which they were written and when they turned, where the writer did not say. */
function stampConditions(object: Body, old: Body, now: string): void {
  for (const condition of objectsAt(object, "status.conditions")) {
    condition.lastUpdateTime ??= now;
    const same = objectsAt(old, "status.conditions").find(
      ({ type, status }) => type === condition.type && status === condition.status,
    );
    condition.lastTransitionTime ??= same?.lastTransitionTime ?? now;
  }
}

async function permitFor(
  verb: "approve" | "sign",
  request: Body,
  { user, resource, name: requestName }: AdmissionReview,
  authorize: Authorize,
): Promise<void> {
  const signer = textAt(request, "spec.signerName");
  for (const name of [signer, `${signer.split("/")[0]}/*`]) {
    const at = {
      group: "certificates.k8s.io",
      version: "*",
      plural: "signers",
      subresource: "",
      namespace: "",
      path: "",
    };
    if ((await authorize({ user, verb, name, ...at })).allowed) return;
  }
  throw forbidden(
    resource,
    requestName,
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`,
  );
}
