import assert from "node:assert/strict";
import { test } from "node:test";
import { attributesOf, rightsUsed } from "./attributes.ts";
import { type Grant, grantsOf, isUsedBy, wordsOf } from "./grants.ts";

const words = (...of: Parameters<typeof attributesOf>): string | undefined => {
  const found = attributesOf(...of);
  return found && wordsOf(found);
};

test("a request is read in the words of RBAC", () => {
  const pods = "/api/v1/namespaces/n/pods";
  assert.equal(words({ method: "GET", path: "/api/v1/nodes" }), "list nodes");
  assert.equal(words({ method: "GET", path: "/api/v1/namespaces/n" }), "get namespaces n");
  assert.equal(words({ method: "GET", path: pods, query: { watch: "true" } }), "watch pods in n");
  assert.equal(words({ method: "POST", path: `${pods}/p/eviction` }), "create pods/eviction p in n");
  assert.equal(words({ method: "PUT", path: "/apis/g.io/v1/things/t/status" }), "update things/status.g.io t");
  assert.equal(words({ method: "GET", path: "/readyz" }), undefined);
});

test("an apply that created used the right to create as well", () => {
  const apply = { method: "PATCH", path: "/api/v1/nodes/a" } as const;
  assert.deepEqual(rightsUsed(apply, { status: 200 }).map(wordsOf), ["patch nodes a"]);
  assert.deepEqual(rightsUsed(apply, { status: 201 }).map(wordsOf), ["patch nodes a", "create nodes a"]);
});

test("each verb, resource and name of a role is a right of its own, used by a request that needed it", () => {
  const rules = [
    { apiGroups: [""], resources: ["secrets"], resourceNames: ["a", "b"], verbs: ["get", "patch"] as const },
  ];
  const role = { apiVersion: "v1", kind: "Role" as const, metadata: { name: "r", namespace: "n" } };
  const grants = grantsOf([{ ...role, rules: rules.map((rule) => ({ ...rule, verbs: [...rule.verbs] })) }]);
  const used = attributesOf({ method: "GET", path: "/api/v1/namespaces/n/secrets/a" })!;
  const idle = (grant: Grant): boolean => !isUsedBy(grant, used);
  assert.deepEqual(grants.filter(idle).map(wordsOf), [
    "patch secrets a in n",
    "get secrets b in n",
    "patch secrets b in n",
  ]);
  assert.ok(grants.every((grant) => !isUsedBy(grant, { ...used, namespace: "other" })));
});
