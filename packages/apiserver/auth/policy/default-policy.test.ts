import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG_MAPS, type World, world } from "../../testing.ts";
import { ruleOf } from "./rule-text.ts";

test("a line of the default roles means the core group unless it names others", () => {
  assert.deepEqual(ruleOf("get,list pods,pods/log"), {
    verbs: ["get", "list"],
    apiGroups: [""],
    resources: ["pods", "pods/log"],
  });
  assert.deepEqual(ruleOf("create events in core,events.k8s.io"), {
    verbs: ["create"],
    apiGroups: ["", "events.k8s.io"],
    resources: ["events"],
  });
  assert.deepEqual(ruleOf("update leases in coordination.k8s.io named x,y"), {
    verbs: ["update"],
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: ["x", "y"],
  });
  assert.deepEqual(ruleOf("get configmaps named x"), {
    verbs: ["get"],
    apiGroups: [""],
    resources: ["configmaps"],
    resourceNames: ["x"],
  });
  assert.deepEqual(ruleOf("get at /healthz,/livez"), { verbs: ["get"], nonResourceURLs: ["/healthz", "/livez"] });
});

test("`view` reads the core group but no Secrets, `edit` writes it, and neither says who may", async (t) => {
  const w: World = await world();
  t.after(() => w.close());
  const bind = (role: string) =>
    w.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name: role },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: role }],
    });
  for (const role of ["view", "edit"]) await bind(role);
  await w.clock.settle();
  const status = async (name: string, method: "GET" | "POST", path: string, body?: object) =>
    (await w.server.transport({ name, groups: [] }).request({ method, path, body })).status;
  const secrets = "/api/v1/namespaces/default/secrets";
  const map = { metadata: { name: "a" } };
  assert.equal(await status("view", "GET", CONFIG_MAPS), 200);
  assert.equal(await status("view", "GET", "/api/v1/namespaces/default/pods"), 200);
  assert.equal(await status("view", "GET", secrets), 403);
  assert.equal(await status("view", "POST", CONFIG_MAPS, map), 403);
  assert.equal(await status("edit", "POST", CONFIG_MAPS, map), 201);
  assert.equal(await status("edit", "GET", secrets), 200);
  for (const name of ["view", "edit"])
    assert.equal(await status(name, "GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"), 403);
});
