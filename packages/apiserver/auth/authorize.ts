import type { Authorize } from "../core/authorize.ts";
import type { User } from "../model/request.ts";
import type { PolicyRule } from "./rbac/policy-rule.ts";

/** What a user may do in a namespace, as far as it can be known. */
export interface Permissions {
  rules: readonly PolicyRule[];
  /** Somebody else than these rules has a say. */
  incomplete: boolean;
  error?: string;
}

/** Who decides, and can say what it would allow. */
export interface Authorizer {
  authorize: Authorize;
  rulesFor(user: User, namespace: string): Permissions;
}

/** Lets `system:masters` do everything, without a reason, and asks `next` about the others. */
export function mastersOr(next: Authorize): Authorize {
  return (attributes) => (isMaster(attributes.user) ? { allowed: true } : next(attributes));
}

/** Whoever the server itself is, and who has the keys to it. */
export function isMaster(user: User): boolean {
  return user.groups.includes("system:masters");
}
