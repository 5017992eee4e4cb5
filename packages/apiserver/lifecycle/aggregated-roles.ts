import { sameJson } from "@slipway/base";
import { type PolicyRule, rulesOf } from "../auth/rbac/policy-rule.ts";
import type { Core } from "../core/call.ts";
import { canonicalJson } from "../json/canonical.ts";
import { noteSize } from "../json/turns.ts";
import { at, objectsAt } from "../model/read.ts";
import type { Body } from "../model/served.ts";
import { selects } from "../rules/name-rules.ts";
import { APPLY, patch } from "../verbs/patch.ts";
import { ownCall, Work } from "./work.ts";

const CLUSTER_ROLES = "rbac.authorization.k8s.io/clusterroles";
const MANAGER = "clusterrole-aggregation-controller";

/** Keeps the rules of each ClusterRole with an `aggregationRule` those of all that its selectors choose, in the order of names. */
export function roleAggregation(core: Core): { close(): Promise<void> } {
  const work = new Work<string>(core, "aggregated roles", (name) => gather(core, name));
  const aggregated = new Set<string>();
  const note = (role: Body): void => {
    if (isAggregated(role)) aggregated.add(role.metadata.name);
    else aggregated.delete(role.metadata.name);
  };
  const stop = core.store.listen(CLUSTER_ROLES, ({ object, type }) => {
    if (type === "DELETED") aggregated.delete(object.metadata.name);
    else note(object);
    for (const name of aggregated) work.add(name);
  });
  for (const [name, role] of core.store.collection(CLUSTER_ROLES).range("", "")) {
    note(role);
    if (aggregated.has(name)) work.add(name);
  }
  return {
    close: () => {
      stop();
      return work.close();
    },
  };
}

function isAggregated(role: Body): boolean {
  return at(role, "aggregationRule") !== undefined;
}

/** The rules of all roles that it selects, each once. */
function gathered(core: Core, role: Body): PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  const others = [...core.store.collection(CLUSTER_ROLES).range("", "")].filter(
    ([other]) => other !== role.metadata.name,
  );
  for (const selector of objectsAt(role, "aggregationRule.clusterRoleSelectors"))
    for (const [, candidate] of others.filter(([, one]) => selects(selector, one.metadata.labels ?? {})))
      for (const rule of rulesOf(candidate)) {
        const text = canonicalJson(rule);
        if (!rules.has(text)) rules.set(text, rule);
      }
  return [...rules.values()];
}

async function gather(core: Core, name: string): Promise<void> {
  const role = core.store.get(CLUSTER_ROLES, name);
  if (role === undefined || !isAggregated(role)) return;
  const rules = gathered(core, role);
  if (sameJson(rules, rulesOf(role))) return;
  const call = ownCall(core, core.registry.findKind(role.apiVersion, role.kind)!, { name, manager: MANAGER });
  call.query.set("force", "true");
  const { apiVersion, kind } = role;
  const body = { apiVersion, kind, metadata: { name }, ...(rules.length > 0 && { rules: structuredClone(rules) }) };
  noteSize(call, body);
  await patch({ ...call, contentType: APPLY, body });
}
