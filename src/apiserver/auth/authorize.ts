import type { User } from "../request.ts";

/** What someone wants to do, in the terms of RBAC. */
export interface Attributes {
  user: User;
  verb: string;
  group: string;
  version: string;
  /** Empty for a non-resource path. */
  plural: string;
  subresource: string;
  namespace: string;
  name: string;
  /** The path, for requests that name no resource. */
  path: string;
}

export interface Decision {
  allowed: boolean;
  reason?: string;
}

/** The authorization port. RBAC is to stand here: a function over the stored Roles and Bindings. */
export type Authorize = (attributes: Attributes) => Decision | Promise<Decision>;

export const allowAll: Authorize = () => ({ allowed: true });

/** Lets `system:masters` do everything and asks `next` about the others. */
export function mastersOr(next: Authorize): Authorize {
  return (attributes) => (attributes.user.groups.includes("system:masters") ? { allowed: true } : next(attributes));
}

/** The refusal's text behind `is forbidden: `. */
export function denial(
  { user, verb, group, plural, subresource, namespace, path }: Attributes,
  reason: string | undefined,
): string {
  const who = `User ${JSON.stringify(user.name)} cannot`;
  const why = reason === undefined || reason === "" ? "" : `: ${reason}`;
  if (plural === "") return `${who} ${verb} path ${JSON.stringify(path)}${why}`;
  const what = subresource === "" ? plural : `${plural}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} ${verb} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}${why}`;
}
