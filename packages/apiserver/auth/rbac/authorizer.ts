import type { Attributes } from "../../core/attributes.ts";
import type { Decision } from "../../core/authorize.ts";
import type { User } from "../../model/request.ts";
import type { Store } from "../../storage/store.ts";
import type { Authorizer } from "../authorize.ts";
import { describe, type Grant, Grants } from "./grants.ts";
import { allows, type PolicyRule, rulesOf } from "./policy-rule.ts";

const GROUP = "rbac.authorization.k8s.io";

/** Role-based access control over the Roles and bindings in the store, as kube-apiserver's RBAC mode decides. */
export function rbac(store: Store): Authorizer {
  const grants = new Grants(store);
  return {
    authorize(asked: Attributes): Decision {
      const missing = new Set<string>();
      for (const grant of grants.of(asked.user, asked.namespace)) {
        const rules = rulesOfRole(store, grant.role, grant.namespace);
        if (rules === undefined) missing.add(noSuchRole(grant.role));
        else if (rules.some((rule) => allows(rule, asked)))
          return { allowed: true, reason: `RBAC: allowed by ${describe(grant, asked.user)}` };
      }
      return missing.size === 0 ? { allowed: false } : { allowed: false, reason: `RBAC: ${aggregate(missing)}` };
    },
    rulesFor(user: User, namespace: string) {
      const missing = new Set<string>();
      const rules: PolicyRule[] = [];
      for (const grant of grants.of(user, namespace)) {
        const found = rulesOfRole(store, grant.role, grant.namespace);
        if (found === undefined) missing.add(noSuchRole(grant.role));
        else rules.push(...found);
      }
      return { rules, incomplete: false, ...(missing.size > 0 && { error: aggregate(missing) }) };
    },
  };
}

/** The rules of the role that a binding in `namespace` (empty: of the cluster) refers to; undefined when there is none. */
export function rulesOfRole(store: Store, role: Grant["role"], namespace: string): readonly PolicyRule[] | undefined {
  const found =
    role.kind === "ClusterRole"
      ? store.get(`${GROUP}/clusterroles`, role.name)
      : store.get(`${GROUP}/roles`, `${namespace}/${role.name}`);
  return found === undefined ? undefined : rulesOf(found);
}

function noSuchRole({ kind, name }: Grant["role"]): string {
  return `${kind.toLowerCase()}.${GROUP} ${JSON.stringify(name)} not found`;
}

/** Several errors as apimachinery's `Aggregate` writes them: one stands bare, more stand in brackets. */
function aggregate(errors: ReadonlySet<string>): string {
  return errors.size === 1 ? [...errors][0]! : `[${[...errors].join(", ")}]`;
}
