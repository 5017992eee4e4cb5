import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { Attributes } from "../../core/attributes.ts";
import type { User } from "../../model/request.ts";
import type { Body } from "../../model/served.ts";
import type { Status } from "../../model/status.ts";
import { Store } from "../../storage/store.ts";
import { CONFIG_MAPS, type World, world } from "../../testing.ts";
import { rbac } from "./authorizer.ts";
import { Grants } from "./grants.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const ROLES = `${RBAC}/namespaces/default/roles`;
const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;
const CLUSTER_ROLES = `${RBAC}/clusterroles`;
const CLUSTER_BINDINGS = `${RBAC}/clusterrolebindings`;

const bob: User = { name: "bob", groups: ["dev"] };
const configMaps = (...verbs: string[]) => ({ verbs, apiGroups: [""], resources: ["configmaps"] });
const grant = (name: string, kind: string, role: string, ...subjects: object[]) => ({
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: role },
  subjects,
});
const toBob = { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "bob" };

/** Sends requests of a user. */
const as = (w: World, user: User) => async (method: "GET" | "POST" | "PATCH", path: string, body?: unknown) => {
  const transport = w.server.transport(user);
  const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const answer = await transport.request({ method, path, body, ...(body !== undefined && { contentType }) });
  await transport.close();
  return { status: answer.status, body: answer.body as Body & Status };
};

async function withWorld(run: (w: World) => Promise<void>): Promise<void> {
  const w = await world();
  try {
    await run(w);
  } finally {
    await w.close();
  }
}

test("nobody may do anything but what a binding grants, and for no longer than it is there", () =>
  withWorld(async (w) => {
    const refused = await as(w, bob)("GET", CONFIG_MAPS);
    assert.equal(refused.status, 403);
    assert.equal(
      refused.body.message,
      'configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "default"',
    );
    await w.ask("POST", ROLES, { metadata: { name: "reader" }, rules: [configMaps("list")] });
    await w.ask("POST", BINDINGS, grant("readers", "Role", "reader", toBob));
    assert.equal((await as(w, bob)("GET", CONFIG_MAPS)).status, 200);
    assert.equal((await as(w, bob)("GET", "/api/v1/configmaps")).status, 403);
    await w.ask("DELETE", `${BINDINGS}/readers`);
    assert.equal((await as(w, bob)("GET", CONFIG_MAPS)).status, 403);
  }));

test("a right to one name is a right to the list of that name alone, however the selector is written", () =>
  withWorld(async (w) => {
    const rules = [{ ...configMaps("list"), resourceNames: ["one"] }];
    await w.ask("POST", ROLES, { metadata: { name: "one" }, rules });
    await w.ask("POST", BINDINGS, grant("one", "Role", "one", toBob));
    const transport = w.server.transport(bob);
    const status = async (fieldSelector: string) =>
      (await transport.request({ method: "GET", path: CONFIG_MAPS, query: { fieldSelector } })).status;
    assert.equal(await status("metadata.name=one"), 200);
    assert.equal(await status("metadata.name==one,metadata.namespace=default"), 200);
    const others = ["", "metadata.name=two", "metadata.name!=one", "metadata.namespace!=a\\,metadata.name=one"];
    for (const selector of others) assert.equal(await status(selector), 403, selector);
  }));

test("an apply that creates needs the right to create", () =>
  withWorld(async (w) => {
    await w.ask("POST", ROLES, { metadata: { name: "patcher" }, rules: [configMaps("patch")] });
    await w.ask("POST", BINDINGS, grant("patchers", "Role", "patcher", toBob));
    const transport = w.server.transport(bob);
    const apply = async () =>
      await transport.request({
        method: "PATCH",
        path: `${CONFIG_MAPS}/x`,
        query: { fieldManager: "bob" },
        contentType: "application/apply-patch+yaml",
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } },
      });
    assert.match(
      ((await apply()).body as Status).message ?? "",
      /^configmaps "x" is forbidden: .* cannot create resource/,
    );
    await w.ask("POST", CONFIG_MAPS, { metadata: { name: "x" } });
    assert.equal((await apply()).status, 200);
  }));

test("groups and ServiceAccounts are granted what users are; a changed role counts at once", () =>
  withWorld(async (w) => {
    await w.ask("POST", CLUSTER_ROLES, { metadata: { name: "reader" }, rules: [configMaps("list")] });
    const group = { kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "dev" };
    const account = { kind: "ServiceAccount", name: "app", namespace: "default" };
    await w.ask("POST", CLUSTER_BINDINGS, grant("readers", "ClusterRole", "reader", group, account));
    const app: User = { name: "system:serviceaccount:default:app", groups: [] };
    for (const user of [bob, app]) assert.equal((await as(w, user)("GET", "/api/v1/configmaps")).status, 200);
    await w.ask(
      "PATCH",
      `${CLUSTER_ROLES}/reader`,
      { rules: [configMaps("get")] },
      { contentType: "application/merge-patch+json" },
    );
    for (const user of [bob, app]) assert.equal((await as(w, user)("GET", "/api/v1/configmaps")).status, 403);
  }));

test("why something is allowed names the binding, its role, and the subject that the user is", () =>
  withWorld(async (w) => {
    await w.ask("POST", ROLES, { metadata: { name: "reader" }, rules: [configMaps("list")] });
    const [toOps, toDev, toAnn] = ["ops", "dev", "ann"].map((name) => ({
      ...toBob,
      kind: name === "ann" ? "User" : "Group",
      name,
    }));
    await w.ask("POST", BINDINGS, grant("readers", "Role", "reader", toOps!, toAnn!, toDev!, toBob));
    const reasonFor = async (user: User): Promise<unknown> => {
      const resourceAttributes = { namespace: "default", verb: "list", resource: "configmaps" };
      const spec = { user: user.name, groups: user.groups, resourceAttributes };
      const review = await w.ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec });
      return (review.status as { reason: string }).reason;
    };
    const by = 'RBAC: allowed by RoleBinding "readers/default" of Role "reader" to';
    assert.equal(await reasonFor({ name: "bob", groups: [] }), `${by} User "bob"`);
    assert.equal(await reasonFor(bob), `${by} Group "dev"`);
    assert.equal(await reasonFor({ name: "ann", groups: ["dev"] }), `${by} User "ann"`);
  }));

test("a binding to a role that is not there says so in the refusal", () =>
  withWorld(async (w) => {
    await w.ask("POST", BINDINGS, grant("hanging", "ClusterRole", "nowhere", toBob));
    const { body } = await as(w, bob)("GET", CONFIG_MAPS);
    assert.match(body.message ?? "", /: RBAC: clusterrole\.rbac\.authorization\.k8s\.io "nowhere" not found$/);
  }));

test("nobody grants more than they hold, unless they may escalate or bind", () =>
  withWorld(async (w) => {
    const everyRole = { verbs: ["*"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles", "rolebindings"] };
    await w.ask("POST", ROLES, {
      metadata: { name: "granter" },
      rules: [{ ...everyRole, verbs: ["create", "patch"] }],
    });
    await w.ask("POST", BINDINGS, grant("granters", "Role", "granter", toBob));
    const wanted = { metadata: { name: "more" }, rules: [configMaps("get", "list")] };
    const refused = await as(w, bob)("POST", ROLES, wanted);
    assert.equal(
      refused.body.message,
      'roles.rbac.authorization.k8s.io "more" is forbidden: user "bob" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["configmaps"], Verbs:["get" "list"]}',
    );
    await w.ask("POST", ROLES, wanted);
    assert.equal((await as(w, bob)("POST", BINDINGS, grant("mine", "Role", "more", toBob))).status, 403);
    assert.equal((await as(w, bob)("PATCH", `${ROLES}/more`, { metadata: { labels: { a: "b" } } })).status, 403);
    await w.ask("POST", ROLES, {
      metadata: { name: "trusted" },
      rules: [{ ...everyRole, verbs: ["bind", "escalate"] }],
    });
    await w.ask("POST", BINDINGS, grant("trusted", "Role", "trusted", toBob));
    assert.equal((await as(w, bob)("POST", BINDINGS, grant("mine", "Role", "more", toBob))).status, 201);
    assert.equal((await as(w, bob)("POST", ROLES, { ...wanted, metadata: { name: "most" } })).status, 201);
  }));

test("who holds rights may grant some of them", () =>
  withWorld(async (w) => {
    const roles = { verbs: ["create"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles", "rolebindings"] };
    await w.ask("POST", ROLES, { metadata: { name: "granter" }, rules: [roles, configMaps("get", "list")] });
    await w.ask("POST", BINDINGS, grant("granters", "Role", "granter", toBob));
    const some = (name: string, ...verbs: string[]) => ({ metadata: { name }, rules: [configMaps(...verbs)] });
    assert.equal((await as(w, bob)("POST", ROLES, some("less", "get"))).status, 201);
    assert.equal((await as(w, bob)("POST", BINDINGS, grant("less", "Role", "less", toBob))).status, 201);
    assert.equal((await as(w, bob)("POST", ROLES, some("more", "get", "delete"))).status, 403);
  }));

test("a SelfSubjectRulesReview lists what its sender may do in the namespace, and the roles that are missing", () =>
  withWorld(async (w) => {
    const rules = [configMaps("get", "list"), { ...configMaps("update"), resourceNames: ["one"] }];
    await w.ask("POST", ROLES, { metadata: { name: "reader" }, rules });
    await w.ask("POST", BINDINGS, grant("readers", "Role", "reader", toBob));
    await w.ask("POST", CLUSTER_ROLES, {
      metadata: { name: "meter" },
      rules: [{ verbs: ["get"], nonResourceURLs: ["/metrics"] }],
    });
    await w.ask("POST", CLUSTER_BINDINGS, grant("meters", "ClusterRole", "meter", toBob));
    await w.ask("POST", BINDINGS, grant("hanging", "Role", "nowhere", toBob));
    const review = async (namespace: string) => {
      const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
      const { body } = await as(w, bob)("POST", path, { spec: { namespace } });
      return body.status as unknown as {
        resourceRules: unknown[];
        nonResourceRules: object[];
        evaluationError?: string;
      };
    };
    const here = await review("default");
    for (const rule of rules)
      assert.deepEqual(
        here.resourceRules.filter((one) => isDeepStrictEqual(one, rule)),
        [rule],
      );
    assert.ok(
      here.nonResourceRules.some((one) => isDeepStrictEqual(one, { verbs: ["get"], nonResourceURLs: ["/metrics"] })),
    );
    assert.equal(here.evaluationError, 'role.rbac.authorization.k8s.io "nowhere" not found');
    const elsewhere = await review("kube-system");
    assert.ok(!elsewhere.resourceRules.some((one) => isDeepStrictEqual(one, rules[0])));
    assert.equal(elsewhere.evaluationError, undefined);
  }));

test("an aggregated role's rules are those of all that its selector chooses", () =>
  withWorld(async (w) => {
    const clusterRoleSelectors = [{ matchLabels: { part: "yes" } }];
    await w.ask("POST", CLUSTER_ROLES, { metadata: { name: "sum" }, aggregationRule: { clusterRoleSelectors } });
    const part = (name: string, ...verbs: string[]) => ({
      metadata: { name, labels: { part: "yes" } },
      rules: [configMaps(...verbs)],
    });
    for (const [name, verb] of [
      ["b", "list"],
      ["a", "get"],
      ["c", "get"],
    ] as const)
      await w.ask("POST", CLUSTER_ROLES, part(name, verb));
    await w.clock.settle();
    assert.deepEqual((await w.ask("GET", `${CLUSTER_ROLES}/sum`)).rules, [configMaps("get"), configMaps("list")]);
    await w.ask("DELETE", `${CLUSTER_ROLES}/b`);
    await w.clock.settle();
    assert.deepEqual((await w.ask("GET", `${CLUSTER_ROLES}/sum`)).rules, [configMaps("get")]);
  }));

test("whatever happens to bindings, those of a user are those that a fresh look finds", () => {
  const name = fc.constantFrom("a", "b", "c");
  const subject = fc.oneof(
    fc.record({ kind: fc.constantFrom("User", "Group"), name }),
    fc.record({ kind: fc.constant("ServiceAccount"), name, namespace: fc.constantFrom("", "n") }),
  );
  const change = fc.record({
    key: fc.constantFrom("x", "y"),
    namespace: fc.constantFrom("", "n"),
    subjects: fc.array(subject),
    gone: fc.boolean(),
  });
  const users: User[] = [
    { name: "a", groups: ["b"] },
    { name: "system:serviceaccount:n:c", groups: ["a", "b"] },
  ];
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const store = new Store();
      const kept = new Grants(store);
      for (const { key, namespace, subjects, gone } of changes) {
        const plural = namespace === "" ? "clusterrolebindings" : "rolebindings";
        const at = [`rbac.authorization.k8s.io/${plural}`, `${namespace}/${key}`] as const;
        const version = store.get(...at)?.metadata.resourceVersion;
        const metadata = { name: key, ...(namespace !== "" && { namespace }) };
        const body = { metadata, subjects, roleRef: { kind: "ClusterRole", name: "r" } } as unknown as Body;
        if (!gone) store.put(...at, body, version);
        else if (version !== undefined) store.remove(...at, version);
      }
      const shown = (grants: Grants) =>
        users.map((user) => [...grants.of(user, "n")].map((g) => `${g.namespace}/${g.binding.metadata.name}`).sort());
      assert.deepEqual(shown(kept), shown(new Grants(store)));
    }),
  );
});

test("a subject of an unknown kind, and a ServiceAccount of no namespace, are granted nothing", () => {
  const store = new Store();
  const grants = new Grants(store);
  const roleRef = { kind: "ClusterRole", name: "r" };
  const put = (plural: string, key: string, namespace: string, subject: object): void => {
    const metadata = { name: key, ...(namespace !== "" && { namespace }) };
    const body = { metadata, subjects: [subject], roleRef } as unknown as Body;
    store.put(`rbac.authorization.k8s.io/${plural}`, `${namespace}/${key}`, body, undefined);
  };
  put("rolebindings", "odd", "n", { kind: "Robot", name: "c" });
  put("clusterrolebindings", "nowhere", "", { kind: "ServiceAccount", name: "c" });
  for (const name of ["c", "system:serviceaccount:n:c", "system:serviceaccount::c"])
    assert.deepEqual([...grants.of({ name, groups: [] }, "n")], [], name);
});

test("a decision among a thousand bindings reads only the roles that the user is bound to", async () => {
  const store = new Store();
  const put = (plural: string, key: string, body: object): void =>
    void store.put(
      `rbac.authorization.k8s.io/${plural}`,
      key,
      { metadata: { name: key }, ...body } as unknown as Body,
      undefined,
    );
  for (let i = 0; i < 1000; i++) {
    put("clusterroles", `reader-${i}`, { rules: [configMaps("get")] });
    put("clusterrolebindings", `b${i}`, {
      roleRef: { kind: "ClusterRole", name: `reader-${i}` },
      subjects: [{ kind: "User", name: `user-${i}` }],
    });
  }
  const { authorize } = rbac(store);
  const asked: Attributes = {
    user: { name: "user-999", groups: ["g1", "g2", "g3"] },
    verb: "list",
    group: "",
    version: "v1",
    plural: "configmaps",
    subresource: "",
    namespace: "default",
    name: "",
    path: "",
  };
  const read: string[] = [];
  const get = store.get.bind(store);
  store.get = (collection, key) => {
    read.push(key);
    return get(collection, key);
  };

  assert.deepEqual(await authorize(asked), { allowed: false });
  assert.deepEqual(read, ["reader-999"]);
});
