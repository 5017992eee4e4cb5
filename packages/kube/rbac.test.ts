import assert from "node:assert/strict";
import { test } from "node:test";
import { type Access, type Controller, DONE, source } from "./controller.ts";
import { ConfigMap, Node, Pod } from "./core.ts";
import { rulesOf } from "./rbac.ts";

const controller = (of: Partial<Controller>): Controller => ({
  ...{ name: "c", system: "s", sources: [], access: [], reconcile: async () => DONE },
  ...of,
});

test("what is watched is listed and watched; what is declared is allowed, verbs in one order", () => {
  const { clusterRules, roles } = rulesOf([
    controller({
      sources: [source({ resource: Node })],
      access: [
        { resource: Pod, verbs: ["delete", "get"] },
        { resource: Pod, verbs: ["create"] },
      ],
    }),
  ]);
  assert.deepEqual(roles, []);
  assert.deepEqual(clusterRules, [
    { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "create", "delete"] },
  ]);
});

test("rights within a namespace are in a role there; a name narrows a watch to it", () => {
  const { clusterRules, roles } = rulesOf([
    controller({
      sources: [source({ resource: ConfigMap, namespace: "b", fieldSelector: "metadata.name=one" })],
      access: [{ resource: ConfigMap, verbs: ["patch"], namespace: "a" }],
    }),
  ]);
  assert.deepEqual(clusterRules, []);
  assert.deepEqual(roles, [
    { namespace: "a", rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["patch"] }] },
    {
      namespace: "b",
      rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"], verbs: ["list", "watch"] }],
    },
  ]);
});

test("creating is tied to no name, since there is none yet; subresources stand for themselves", () => {
  const access: Access[] = [
    { resource: ConfigMap, verbs: ["create", "get"], names: ["b", "a", "b"] },
    { resource: Pod, verbs: ["create"], names: ["x"] },
    { resource: Pod, verbs: ["create"], subresource: "eviction" },
  ];
  assert.deepEqual(rulesOf([], access).clusterRules, [
    { apiGroups: [""], resources: ["configmaps", "pods", "pods/eviction"], verbs: ["create"] },
    { apiGroups: [""], resources: ["configmaps"], resourceNames: ["a", "b"], verbs: ["get"] },
  ]);
});

test("the same rights give the same rules, in whatever order they come", () => {
  const access: Access[] = [
    { resource: Node, verbs: ["get"] },
    { resource: Pod, verbs: ["get"] },
    { resource: Pod, verbs: ["list"], names: ["a"] },
    { resource: ConfigMap, verbs: ["get", "list"] },
  ];
  assert.deepEqual(rulesOf([], access), rulesOf([], access.toReversed()));
  assert.equal(rulesOf([], access).clusterRules.length, 3);
});
