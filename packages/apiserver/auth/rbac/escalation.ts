import { sameJson } from "@slipway/base";
import type { AdmissionReview } from "../../core/admission.ts";
import type { Attributes } from "../../core/attributes.ts";
import type { Body } from "../../model/served.ts";
import { forbidden, notFound } from "../../model/status.ts";
import type { Store } from "../../storage/store.ts";
import { type Authorizer, isMaster } from "../authorize.ts";
import { rulesOfRole } from "./authorizer.ts";
import { uncovered } from "./coverage.ts";
import type { Grant } from "./grants.ts";
import { type PolicyRule, rulesOf } from "./policy-rule.ts";
import { describeRules, quotedList } from "./rule-text.ts";

const GROUP = "rbac.authorization.k8s.io";
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];
const TOO_MANY =
  "the rules are too many to be compared with the permissions held: spread them over several roles, or ask somebody who may escalate and bind";

/**
 * Nobody grants more than they hold: who writes a role must hold all its rules or may `escalate`, who binds one must hold its
 * rules or may `bind` it. An admission step; throws Forbidden in kube-apiserver's words.
 */
export function noEscalation(
  store: Store,
  { authorize, rulesFor }: Authorizer,
): (review: AdmissionReview) => Promise<void> {
  return async (review) => {
    const { resource, object, old, user, namespace } = review;
    if (resource.group !== GROUP || object === undefined || review.operation === "DELETE" || isMaster(user)) return;
    const may = async (verb: string, plural: string, name: string): Promise<boolean> => {
      const asked: Attributes = {
        user,
        verb,
        group: GROUP,
        version: "*",
        plural,
        subresource: "",
        namespace,
        name,
        path: "",
      };
      return (await authorize(asked)).allowed;
    };
    const { name } = object.metadata;
    const confirm = (rules: readonly PolicyRule[], instead?: string): void => {
      const held = rulesFor(user, namespace);
      const { parts, more, undecided } = uncovered(held.rules, rules);
      if (undecided) throw forbidden(resource, name, instead ?? TOO_MANY);
      if (parts.length === 0 && !more) return;
      const errors = held.error === undefined ? "" : `; resolution errors: [${held.error}]`;
      const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`;
      const missing = [...describeRules(parts), ...(more ? ["and more"] : [])].join("\n");
      const why = `${who} is attempting to grant RBAC permissions not currently held:\n${missing}${errors}`;
      throw forbidden(resource, name, instead ?? why);
    };

    if (resource.plural === "roles" || resource.plural === "clusterroles") {
      if (await may("escalate", resource.plural, old === undefined ? "" : name)) return;
      if (old !== undefined && changesOwnersOnly(object, old)) return;
      confirm(rulesOf(object));
      if (isAggregating(object) || (old !== undefined && isAggregating(old)))
        confirm(EVERYTHING, "must have cluster-admin privileges to use the aggregationRule");
      return;
    }
    if (old !== undefined && changesOwnersOnly(object, old)) return;
    const role = object.roleRef as Grant["role"];
    const plural = role.kind === "Role" ? "roles" : "clusterroles";
    if (await may("bind", plural, role.name)) return;
    const rules = rulesOfRole(store, role, namespace);
    if (rules === undefined) throw notFound(resource, role.name);
    confirm(rules);
  };
}

function isAggregating(role: Body): boolean {
  const rule = role.aggregationRule as { clusterRoleSelectors?: readonly unknown[] } | undefined;
  return (rule?.clusterRoleSelectors ?? []).length > 0;
}

/** Whether a write touches only what the garbage collector may need to touch. */
function changesOwnersOnly(object: Body, old: Body): boolean {
  const rest = ({ metadata, ...content }: Body) => {
    const { ownerReferences: _, finalizers: __, managedFields: ___, ...others } = metadata;
    return { ...content, metadata: others };
  };
  return sameJson(rest(object), rest(old));
}
