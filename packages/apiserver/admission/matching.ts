import { convertBetween } from "../conversion/between.ts";
import type { AdmissionReview } from "../core/admission.ts";
import type { Core } from "../core/call.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { forbidden, notFound } from "../model/status.ts";
import { selects } from "../rules/name-rules.ts";
import { collectionOf } from "../storage/keys.ts";
import type { Hook, Rule } from "./configuration.ts";
import type { Invocation } from "./invocation.ts";
import { conditionsHold } from "./match-conditions.ts";
import { isWhole, requestOf } from "./review.ts";

/**
 * Whether and how a webhook is called about a write: its selectors, its rules (for equivalent versions too, where it takes them), its match
 * conditions. Throws what is answered when this can't be decided: the namespace is missing, or a condition failed.
 */
export async function invocationOf(core: Core, hook: Hook, review: AdmissionReview): Promise<Invocation | undefined> {
  if (!selectsObject(hook, review)) return undefined;
  const inNamespace = selectsNamespace(core, hook, review);
  if (inNamespace === false) return undefined;
  const as = resourceFor(core, hook, review);
  if (as === undefined) return undefined;
  if (inNamespace === "missing")
    throw notFound({ group: "", plural: "namespaces", kind: "Namespace" }, review.namespace);
  const invocation = { hook, as, ...(await inVersion(review, as)) };
  if (hook.matchConditions.length === 0) return invocation;
  const given = { object: invocation.object, oldObject: invocation.old, request: requestOf(review, invocation) };
  const held = conditionsHold(hook, given);
  if (typeof held === "boolean") return held ? invocation : undefined;
  throw forbidden(review.resource, review.name, held.failed);
}

async function inVersion(review: AdmissionReview, as: ServedResource) {
  const { resource, object, old } = review;
  const convert = async (body: Body | undefined) =>
    body === undefined || as === resource || !isWhole(review) ? body : await convertBetween(body, resource, as);
  return { object: await convert(object), old: await convert(old) };
}

const isEmpty = (selector: Record<string, unknown>): boolean => Object.values(selector).every(hasNone);
const hasNone = (part: unknown): boolean => typeof part !== "object" || part === null || Object.keys(part).length === 0;

function selectsObject({ objectSelector }: Hook, { object, old }: AdmissionReview): boolean {
  if (isEmpty(objectSelector)) return true;
  return [object, old].some((body) => body !== undefined && selects(objectSelector, body.metadata.labels ?? {}));
}

function selectsNamespace(
  core: Core,
  { namespaceSelector }: Hook,
  { resource, subresource, namespace, operation, object }: AdmissionReview,
): boolean | "missing" {
  const isNamespace = resource.holdsOthers === true;
  if ((namespace === "" && !isNamespace) || isEmpty(namespaceSelector)) return true;
  const written = isNamespace && subresource === "" && operation !== "DELETE";
  const found = written ? object : core.store.get("/namespaces", namespace);
  return found === undefined ? "missing" : selects(namespaceSelector, found.metadata.labels ?? {});
}

/** The resource that the first matching rule names: the request's own, else one that shows the same objects. */
function resourceFor(core: Core, hook: Hook, review: AdmissionReview): ServedResource | undefined {
  const { resource } = review;
  if (hook.rules.some((rule) => matches(rule, review, resource))) return resource;
  if (hook.matchPolicy !== "Equivalent") return undefined;
  const same = equivalents(core, resource);
  for (const rule of hook.rules) {
    const found = same.find((other) => matches(rule, review, other));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The other resources that show the same objects: versions of a custom resource, and Events. */
function equivalents({ registry }: Core, resource: ServedResource): ServedResource[] {
  const isServed = (r: ServedResource): boolean => registry.find(r.group, r.version, r.plural) === r;
  if (resource.versions !== undefined)
    return [...resource.versions.values()].filter((r) => r !== resource && isServed(r));
  if (resource.storageKey === undefined && resource.storageVersion === apiVersionOf(resource)) return [];
  return registry.all().filter((r) => r !== resource && collectionOf(r) === collectionOf(resource));
}

function matches(
  rule: Rule,
  { operation, subresource, namespace }: AdmissionReview,
  resource: ServedResource,
): boolean {
  const has = (list: readonly string[], value: string): boolean => list.includes("*") || list.includes(value);
  const isNamespace = resource.holdsOthers === true;
  const isClusterWide = isNamespace || namespace === "";
  return (
    (rule.scope === "*" || (rule.scope === "Cluster") === isClusterWide) &&
    has(rule.operations, operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, resource.version) &&
    rule.resources.some((text) => {
      const [plural = "", sub = ""] = text.split("/", 2);
      return has([plural], resource.plural) && has([sub], subresource);
    })
  );
}
