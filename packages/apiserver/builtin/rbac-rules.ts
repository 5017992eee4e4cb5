import { sameJson } from "@slipway/base";
import { pathSegment } from "@slipway/cel/formats";
import { invalid, required } from "../model/field-error.ts";
import { at, objectsAt, textAt, textsAt } from "../model/read.ts";
import type { Body, FieldError } from "../model/served.ts";
import { validateLabelSelector, validateSubdomain } from "../rules/name-rules.ts";

/** What Roles, ClusterRoles and their bindings must be beyond their schema, in the words and order of upstream's validation. */

const GROUP = "rbac.authorization.k8s.io";

/** Rules for Roles: each names verbs and resources. */
export function validateRole(object: Body): FieldError[] {
  return objectsAt(object, "rules").flatMap((rule, i) => validateRule(rule, `rules[${i}]`, true));
}

/** Rules for ClusterRoles: as Roles, but paths are allowed, and selectors of an aggregation. */
export function validateClusterRole(object: Body): FieldError[] {
  const errors = objectsAt(object, "rules").flatMap((rule, i) => validateRule(rule, `rules[${i}]`, false));
  const path = "aggregationRule.clusterRoleSelectors";
  const selectors = objectsAt(object, path);
  if (at(object, "aggregationRule") !== undefined && selectors.length === 0)
    errors.push(required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  for (const [i, selector] of selectors.entries()) errors.push(...validateLabelSelector(selector, `${path}[${i}]`));
  return errors;
}

function validateRule(rule: unknown, path: string, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const [verbs, groups, resources] = [textsAt(rule, "verbs"), textsAt(rule, "apiGroups"), textsAt(rule, "resources")];
  const urls = textsAt(rule, "nonResourceURLs");
  if (verbs.length === 0) errors.push(required(`${path}.verbs`, "verbs must contain at least one value"));
  if (urls.length > 0) {
    const field = `${path}.nonResourceURLs`;
    if (namespaced) errors.push(invalid(field, urls, "namespaced rules cannot apply to non-resource URLs"));
    if (groups.length + resources.length + textsAt(rule, "resourceNames").length > 0)
      errors.push(invalid(field, urls, "rules cannot apply to both regular resources and non-resource URLs"));
    return errors;
  }
  if (groups.length === 0)
    errors.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
  if (resources.length === 0)
    errors.push(required(`${path}.resources`, "resource rules must supply at least one resource"));
  return errors;
}

/** Rules for RoleBindings. Their role can't be changed. */
export function validateRoleBinding(object: Body, old?: Body): FieldError[] {
  return validateBinding(object, old, ["Role", "ClusterRole"]);
}

/** Rules for ClusterRoleBindings. Their role can't be changed. */
export function validateClusterRoleBinding(object: Body, old?: Body): FieldError[] {
  return validateBinding(object, old, ["ClusterRole"]);
}

function validateBinding(object: Body, old: Body | undefined, kinds: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  const [group, kind, name] = [
    textAt(object, "roleRef.apiGroup"),
    textAt(object, "roleRef.kind"),
    textAt(object, "roleRef.name"),
  ];
  if (group !== GROUP) errors.push(unsupported("roleRef.apiGroup", group, [GROUP]));
  if (!kinds.includes(kind)) errors.push(unsupported("roleRef.kind", kind, kinds));
  if (name === "") errors.push(required("roleRef.name"));
  else for (const why of pathSegment(name)) errors.push(invalid("roleRef.name", name, why));
  for (const [i, subject] of objectsAt(object, "subjects").entries())
    errors.push(...validateSubject(subject, `subjects[${i}]`, kinds.includes("Role")));
  if (old !== undefined && !sameJson(at(object, "roleRef"), at(old, "roleRef")))
    errors.push(invalid("roleRef", { APIGroup: group, Kind: kind, Name: name }, "cannot change roleRef"));
  return errors;
}

function validateSubject(subject: unknown, path: string, namespaced: boolean): FieldError[] {
  const [kind, name, group] = [textAt(subject, "kind"), textAt(subject, "name"), textAt(subject, "apiGroup")];
  const errors = name === "" ? [required(`${path}.name`)] : [];
  switch (kind) {
    case "ServiceAccount":
      if (name !== "") errors.push(...validateSubdomain(name, `${path}.name`));
      if (group !== "") errors.push(unsupported(`${path}.apiGroup`, group, [""]));
      if (!namespaced && textAt(subject, "namespace") === "") errors.push(required(`${path}.namespace`));
      return errors;
    case "User":
    case "Group":
      if (group !== GROUP) errors.push(unsupported(`${path}.apiGroup`, group, [GROUP]));
      return errors;
    default:
      return [...errors, unsupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"])];
  }
}

function unsupported(field: string, value: string, supported: readonly string[]): FieldError {
  const list = supported.map((one) => JSON.stringify(one));
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${list.join(", ")}`;
  return { field, reason: "FieldValueNotSupported", message };
}
