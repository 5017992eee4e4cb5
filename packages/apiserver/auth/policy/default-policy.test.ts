import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CONFIG_MAPS, type World, world } from "../../testing.ts";
import { defaultPolicy } from "./default-policy.ts";
import { ruleOf } from "./rule-text.ts";
import { policyDigest } from "./testing.ts";
import { AGGREGATED_ROLES } from "./user-roles.ts";

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

/** What editors may change, and viewers may not read: it holds secrets, or acts in the place of another. */
const KEPT_FROM_VIEWERS = [
  ...["pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "pods/eviction", "services/proxy"],
  ...["secrets", "serviceaccounts/token", "deployments/rollback", "leases"],
];

test("`view` reads whatever `edit` changes, but for what holds secrets or acts in another's place", () => {
  const named = (lines: readonly string[], verb: string): Set<string> =>
    new Set(
      lines
        .map(ruleOf)
        .filter(({ verbs }) => verbs.includes(verb))
        .flatMap(({ apiGroups = [], resources = [] }) =>
          apiGroups.flatMap((group) => resources.map((resource) => `${resource} in ${group}`)),
        ),
    );
  const changed = named(AGGREGATED_ROLES["system:aggregate-to-edit"]!, "create");
  for (const verb of ["get", "list", "watch"]) {
    const read = named(AGGREGATED_ROLES["system:aggregate-to-view"]!, verb);
    const missing = [...changed].filter((each) => !read.has(each)).map((each) => each.split(" ")[0]!);
    assert.deepEqual(new Set(missing), new Set(KEPT_FROM_VIEWERS), verb);
  }
});

test("a start gives default roles and bindings back what they miss, and leaves what was added", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "policy-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const storage = { file: join(folder, "db") };
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const [role, binding] = [`${rbac}/clusterroles/system:basic-user`, `${rbac}/clusterrolebindings/system:basic-user`];
  const added = { verbs: ["get"], apiGroups: [""], resources: ["nodes"] };
  const other = { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "other" };
  const first = await world({ storage });
  const { rules } = await first.ask("GET", role);
  const { subjects } = await first.ask("GET", binding);
  const merge = { contentType: "application/merge-patch+json" };
  await first.ask("PATCH", role, { rules: [added, ...(rules as object[]).slice(1)] }, merge);
  await first.ask("PATCH", binding, { subjects: [other] }, merge);
  await first.close();
  const second = await world({ storage });
  t.after(() => second.close());
  const granted = (list: unknown) => (list as { resources: string[] }[]).flatMap((rule) => rule.resources).sort();
  assert.deepEqual(granted((await second.ask("GET", role)).rules), [...granted(rules), "nodes"].sort());
  assert.deepEqual((await second.ask("GET", binding)).subjects, [other, ...(subjects as object[])]);
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

/**
 * What each role and binding of kube-apiserver 1.36.3 grants, by its digest. Where one differs,
 * `kubectl get clusterroles,clusterrolebindings,roles,rolebindings -A -o yaml` of both shows how.
 */
const OF_KUBERNETES = JSON.parse(readFileSync(new URL("kubernetes-policy.json", import.meta.url), "utf8")) as Record<
  string,
  string
>;

test("each default role and binding grants what that of kube-apiserver does, and there are no others", () => {
  const ours = defaultPolicy().map(({ plural, namespace, name, labels, content }) => [
    `${plural}/${namespace === "" ? "" : `${namespace}/`}${name}`,
    policyDigest({ metadata: { labels }, ...content }),
  ]);
  assert.deepEqual(ours.map(([name]) => name).sort(), Object.keys(OF_KUBERNETES).sort());
  const different = ours.filter(([name, digest]) => OF_KUBERNETES[name!] !== digest).map(([name]) => name);
  assert.deepEqual(different, []);
});
