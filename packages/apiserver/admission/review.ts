import type { AdmissionReview } from "../core/admission.ts";
import { isRecord } from "../json/value.ts";
import type { Body } from "../model/served.ts";
import { REVIEWS } from "../webhook/review-version-rules.ts";
import type { Invocation } from "./invocation.ts";

/** Whether the write is about objects of the resource's own kind, and not of a subresource's. */
export function isWhole({ kind, resource }: AdmissionReview): boolean {
  return kind.group === resource.group && kind.kind === resource.kind;
}

/** `request` of an AdmissionReview, short of its uid. Members stand in the order in which kube-apiserver writes them. */
export function requestOf(review: AdmissionReview, { as, object, old }: Omit<Invocation, "hook">) {
  const { resource, kind, subresource, name, namespace, operation, user, dryRun, options } = review;
  const isOwn = isWhole(review);
  const of = ({ group, version }: { group: string; version: string }, member: object) => ({
    group,
    version,
    ...member,
  });
  return {
    kind: isOwn ? of(as, { kind: as.kind }) : of(kind, { kind: kind.kind }),
    resource: of(as, { resource: as.plural }),
    ...(subresource !== "" && { subResource: subresource }),
    requestKind: of(kind, { kind: kind.kind }),
    requestResource: of(resource, { resource: resource.plural }),
    ...(subresource !== "" && { requestSubResource: subresource }),
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid !== undefined && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(Object.keys(user.extra ?? {}).length > 0 && { extra: user.extra }),
    },
    object: object ?? null,
    oldObject: old ?? null,
    dryRun,
    options,
  };
}

/** The AdmissionReview to send, in the first version that both sides speak; undefined when there is none. */
export function reviewFor(review: AdmissionReview, invocation: Invocation, uid: string) {
  const version = invocation.hook.admissionReviewVersions.find((v) => REVIEWS.includes(v));
  if (version === undefined) return undefined;
  return {
    kind: "AdmissionReview",
    apiVersion: `admission.k8s.io/${version}`,
    request: { uid, ...requestOf(review, invocation) },
  };
}

/** What a webhook answered. */
export interface Verdict {
  allowed: boolean;
  /** JSON of a JSON patch, of mutating webhooks. */
  patch: string | undefined;
  /** How the patch is written; only `JSONPatch` is understood. */
  patchType: string;
  /** `meta/v1` Status of a refusal. */
  status: Partial<Body> & { code?: number; message?: string; reason?: string; status?: string };
  warnings: readonly string[];
}

/** Reads an answer to `sent`. Gives a text that says what is wrong with it instead when it breaks the protocol. */
export function verdictOf(
  sent: { apiVersion: string; request: { uid: string } },
  answer: Record<string, unknown>,
  mutating: boolean,
): Verdict | string {
  const { response } = answer;
  if (!isRecord(response)) return "webhook response was absent";
  const strict = sent.apiVersion.endsWith("/v1");
  if (strict) {
    const uid = String(response.uid ?? "");
    if (uid !== sent.request.uid)
      return `expected response.uid=${JSON.stringify(sent.request.uid)}, got ${JSON.stringify(uid)}`;
    if (answer.apiVersion !== sent.apiVersion || answer.kind !== "AdmissionReview")
      return `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${String(answer.apiVersion || "/")}, Kind=${String(answer.kind ?? "")}`;
  }
  const patch = typeof response.patch === "string" && response.patch !== "" ? response.patch : undefined;
  const type = response.patchType ?? undefined;
  const wrong = strict ? wrongPatch(mutating, patch, type) : undefined;
  if (wrong !== undefined) return wrong;
  const warnings = Array.isArray(response.warnings) ? response.warnings.filter((w) => typeof w === "string") : [];
  return {
    allowed: response.allowed === true,
    patch: mutating && patch !== undefined ? Buffer.from(patch, "base64").toString("utf8") : undefined,
    patchType: strict ? String(type) : "JSONPatch",
    status: isRecord(response.status) ? response.status : {},
    warnings,
  };
}

function wrongPatch(mutating: boolean, patch: string | undefined, type: unknown): string | undefined {
  if (!mutating) {
    if (patch !== undefined) return "validating webhook may not return response.patch";
    return type === undefined ? undefined : "validating webhook may not return response.patchType";
  }
  if (patch !== undefined && type === undefined) return "webhook returned response.patch but not response.patchType";
  if (patch === undefined && type !== undefined) return "webhook returned response.patchType but not response.patch";
  return type === "" ? 'webhook returned invalid response.patchType of ""' : undefined;
}
