import { readFile } from "node:fs/promises";
import { loadAll } from "js-yaml";
import type { RbacObject } from "../../src/operator/rbac.ts";
import type { Attributes } from "./attributes.ts";

/** One right that a role gives: one verb on one resource, and on one name where names are given. */
export interface Grant {
  verb: string;
  group: string;
  resource: string;
  /** undefined: in the whole cluster. */
  namespace: string | undefined;
  name: string | undefined;
}

/** The shipped RBAC, as it stands in a file of `deploy/`. */
export async function shippedRbac(file = "rbac.yaml"): Promise<RbacObject[]> {
  const objects = loadAll(await readFile(`deploy/${file}`, "utf8")) as (RbacObject | { kind: "Namespace" })[];
  return objects.filter((object): object is RbacObject => object.kind !== "Namespace");
}

/** Every single right in the roles. */
export function grantsOf(objects: readonly RbacObject[]): Grant[] {
  return objects.flatMap(({ metadata, rules = [] }) =>
    rules.flatMap(({ apiGroups, resources, resourceNames = [undefined], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) =>
            verbs.map((verb) => ({ verb, group, resource, namespace: metadata.namespace, name })),
          ),
        ),
      ),
    ),
  );
}

/** Whether this right is one that the request needed. */
export function isUsedBy(grant: Grant, used: Attributes): boolean {
  return (
    grant.verb === used.verb &&
    grant.group === used.group &&
    grant.resource === used.resource &&
    (grant.namespace === undefined || grant.namespace === used.namespace) &&
    (grant.name === undefined || grant.name === used.name)
  );
}

/** A right in words, for messages. */
export function wordsOf({ verb, group, resource, namespace, name }: Grant | Attributes): string {
  const what = group === "" ? resource : `${resource}.${group}`;
  return [verb, what, name, namespace && `in ${namespace}`].filter((word) => word !== undefined).join(" ");
}
