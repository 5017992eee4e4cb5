import type { Attributes } from "../core/attributes.ts";
import { invalid, required } from "../model/field-error.ts";
import { at, membersAt, objectsAt, textAt, textsAt } from "../model/read.ts";
import type { User } from "../model/request.ts";
import type { Body, FieldError } from "../model/served.ts";

const NOTHING = { group: "", version: "*", plural: "", subresource: "", namespace: "", name: "", path: "" };

/** What a review asks about `user`. */
export function askedOf(review: Body, user: User): Attributes {
  const path = at(review, "spec.nonResourceAttributes");
  const resource = at(review, "spec.resourceAttributes");
  if (resource === undefined) return { ...NOTHING, user, verb: textAt(path, "verb"), path: textAt(path, "path") };
  return {
    user,
    verb: textAt(resource, "verb"),
    group: textAt(resource, "group"),
    version: textAt(resource, "version") || "*",
    plural: textAt(resource, "resource"),
    subresource: textAt(resource, "subresource"),
    namespace: textAt(resource, "namespace"),
    name: textAt(resource, "name"),
    path: "",
  };
}

/** Whom a review that names somebody is about. */
export function subjectOf(review: Body): User {
  const extra = membersAt(review, "spec.extra") as Record<string, string[]>;
  const uid = textAt(review, "spec.uid");
  return {
    name: textAt(review, "spec.user"),
    groups: textsAt(review, "spec.groups"),
    ...(uid !== "" && { uid }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** What is wrong with a question, in upstream's order. `namesSomebody`: it asks about others than the asker. */
export function questionErrors(review: Body, { namesSomebody }: { namesSomebody: boolean }): FieldError[] {
  const resource = at(review, "spec.resourceAttributes");
  const path = at(review, "spec.nonResourceAttributes");
  const errors: FieldError[] = [];
  if (resource !== undefined && path !== undefined) {
    const both = { Path: textAt(path, "path"), Verb: textAt(path, "verb") };
    const why = "cannot be specified in combination with resourceAttributes";
    errors.push(invalid("spec.nonResourceAttributes", both, why));
  }
  if (resource === undefined && path === undefined) {
    const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    errors.push(invalid("spec.resourceAttributes", null, why));
  }
  if (namesSomebody && textAt(review, "spec.user") === "" && textsAt(review, "spec.groups").length === 0)
    errors.push(invalid("spec.user", "", "at least one of user or group must be specified"));
  for (const selector of ["fieldSelector", "labelSelector"]) errors.push(...selectorErrors(resource, selector));
  return errors;
}

function selectorErrors(resource: unknown, name: string): FieldError[] {
  const selector = at(resource, name);
  if (selector === undefined) return [];
  const field = `spec.resourceAttributes.${name}`;
  const raw = textAt(selector, "rawSelector");
  const some = objectsAt(selector, "requirements").length > 0;
  if (raw !== "" && some)
    return [invalid(`${field}.rawSelector`, raw, "may not specified at the same time as requirements")];
  if (raw !== "" || some) return [];
  const why = `when ${field} is specified, requirements or rawSelector is required`;
  return [required(`${field}.requirements`, why)];
}

/** A question has no metadata of its own, beside what `allowed` says. */
export function metadataError(review: Body, allowed: "namespace" | undefined): FieldError[] {
  const { managedFields: _, namespace, ...rest } = review.metadata;
  const others = Object.values(allowed === "namespace" ? rest : { ...rest, ...(namespace && { namespace }) });
  if (others.every((value) => value === undefined || value === "")) return [];
  const why = allowed === undefined ? "must be empty" : "must be empty except for namespace";
  return [invalid("metadata", review.metadata, why)];
}
