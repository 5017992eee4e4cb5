import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { DEFAULT_NAMESPACE } from "./defaults.ts";
import { operatorRules, rbacObjects } from "./rbac.ts";

const { clusterRules, roles } = operatorRules();
const everything = [...clusterRules, ...roles.flatMap((role) => role.rules)];

test("H19 no rule has a wildcard", () => {
  for (const rule of rbacObjects().flatMap((object) => object.rules ?? []))
    assert.ok(![...rule.apiGroups, ...rule.resources, ...rule.verbs].some((word) => word.includes("*")));
});

test("H19 Secrets are read by name in the operator's namespace only, never listed or watched", () => {
  const touches = (rule: { resources: string[] }) => rule.resources.includes("secrets");
  assert.deepEqual(clusterRules.filter(touches), []);
  const secrets = roles.flatMap(({ namespace, rules }) => rules.filter(touches).map((rule) => ({ namespace, rule })));
  assert.deepEqual([...new Set(secrets.map(({ namespace }) => namespace))], [DEFAULT_NAMESPACE]);
  for (const { rule } of secrets) assert.ok(!rule.verbs.some((verb) => verb === "list" || verb === "watch"));
});

test("H19 what the operator watches and its leases are within its rules", () => {
  const may = (resource: string, verb: string) =>
    everything.some((rule) => rule.resources.includes(resource) && rule.verbs.some((allowed) => allowed === verb));
  for (const resource of ["instances", "instancepools", "machineproviders", "nodes"]) assert.ok(may(resource, "watch"));
  for (const verb of ["get", "create", "update"]) assert.ok(may("leases", verb));
  assert.ok(!may("customresourcedefinitions", "patch"), "rights to install CRDs are a role of their own");
});

test("every role is bound to the operator's account", () => {
  const objects = rbacObjects();
  for (const role of objects.filter(({ kind }) => kind.endsWith("Role"))) {
    const binding = objects.find(
      ({ kind, metadata, roleRef }) =>
        kind === `${role.kind}Binding` &&
        roleRef?.name === role.metadata.name &&
        metadata.namespace === role.metadata.namespace,
    );
    assert.deepEqual(binding?.subjects, [{ kind: "ServiceAccount", name: "slipway", namespace: DEFAULT_NAMESPACE }]);
  }
});

test("deploy/rbac.yaml is what the controllers declare", () => {
  const held = loadAll(readFileSync(new URL("../../deploy/rbac.yaml", import.meta.url), "utf8"));
  assert.deepEqual(held, JSON.parse(JSON.stringify(rbacObjects())));
});
