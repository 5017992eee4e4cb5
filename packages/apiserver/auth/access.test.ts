import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ServerAnswer } from "../model/request.ts";
import type { Body } from "../model/served.ts";
import type { Status } from "../model/status.ts";
import { type World, world } from "../testing.ts";

const WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const tokens = {
  admin: { name: "admin", groups: ["system:masters"] },
  helper: { name: "helper", groups: [] },
};

type Headers = Record<string, string>;

const got = (w: World, path: string, headers: Headers = {}) => sent(w, { method: "GET", path, headers });
const reviewed = (w: World, headers: Headers) => sent(w, { method: "POST", path: WHO, headers, body: {} });

async function sent(w: World, request: { method: string; path: string; headers: Headers; body?: unknown }) {
  const answer: ServerAnswer = await w.server.handle({
    ...request,
    query: new URLSearchParams(),
    headers: { "content-type": "application/json", ...request.headers },
  });
  return answer as { status: number; body: Body & Status & { status: { userInfo: { groups: string[] } } } };
}

async function withWorld(run: (w: World) => Promise<void>): Promise<void> {
  const w = await world({ tokens });
  try {
    await run(w);
  } finally {
    await w.close();
  }
}

test("a stranger sees whether the server is well and what it is, and no more", () =>
  withWorld(async (w) => {
    for (const path of ["/healthz", "/livez", "/readyz", "/version"]) assert.equal((await got(w, path)).status, 200);
    const refused = await got(w, "/metrics");
    assert.equal(refused.body.message, 'forbidden: User "system:anonymous" cannot get path "/metrics"');
    assert.equal((await got(w, "/readyz/ping")).status, 403);
    assert.equal((await got(w, "/api", { authorization: "Bearer wrong" })).status, 401);
  }));

test("health shows each check when asked, leaves some out, and each has a page of its own", () =>
  withWorld(async (w) => {
    const asked = async (path: string, query = "") => {
      const { body } = (await w.server.handle({
        method: "GET",
        path,
        query: new URLSearchParams(query),
        headers: { authorization: "Bearer admin" },
      })) as { body: unknown };
      return body;
    };
    assert.equal(await asked("/readyz"), "ok");
    assert.equal(await asked("/healthz/etcd"), "ok");
    assert.equal(await asked("/healthz/nothing"), "404 page not found\n");
  }));

test("impersonation needs the right to each thing that is taken on", () =>
  withWorld(async (w) => {
    const helper = { authorization: "Bearer helper" };
    const bob = { ...helper, "impersonate-user": "bob" };
    const first = await reviewed(w, bob);
    assert.equal(
      first.body.message,
      'selfsubjectreviews.authentication.k8s.io is forbidden: User "helper" cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
    );
    const rules = [{ apiGroups: [""], resources: ["users"], verbs: ["impersonate"], resourceNames: ["bob"] }];
    await w.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { metadata: { name: "h" }, rules });
    await w.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name: "h" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "h" },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "helper" }],
    });
    assert.deepEqual((await reviewed(w, bob)).body.status.userInfo, {
      username: "bob",
      groups: ["system:authenticated"],
    });
    const grouped = await reviewed(w, { ...bob, "impersonate-group": "dev" });
    assert.equal(
      grouped.body.message,
      'groups "dev" is forbidden: User "helper" cannot impersonate resource "groups" in API group "" at the cluster scope',
    );
    assert.equal((await reviewed(w, { ...helper, "impersonate-user": "eve" })).status, 403);
  }));

test("the impersonated have the groups that follow from their names, and headers without a user are refused", () =>
  withWorld(async (w) => {
    const admin = { authorization: "Bearer admin" };
    const groups = async (headers: Record<string, string>) =>
      (await reviewed(w, { ...admin, ...headers })).body.status.userInfo.groups;
    assert.deepEqual(await groups({ "impersonate-user": "system:serviceaccount:a:b" }), [
      "system:serviceaccounts",
      "system:serviceaccounts:a",
      "system:authenticated",
    ]);
    assert.deepEqual(await groups({ "impersonate-user": "x", "impersonate-group": "a\nb, c" }), [
      "a",
      "b, c",
      "system:authenticated",
    ]);
    const alone = await got(w, "/api", { ...admin, "impersonate-group": "dev" });
    assert.match(
      alone.body.message!,
      /^requested &user\.DefaultInfo\{.*Groups:\[\]string\{"dev"\}.*without impersonating a user name$/,
    );
  }));

test("the default policy is whole again after a restart, but for what is kept out of it", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-policy-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const storage = { file: join(dir, "api.db") };
  const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const merge = { contentType: "application/merge-patch+json" };
  const before = await world({ storage });
  const own = { verbs: ["get"], apiGroups: [""], resources: ["widgets"] };
  await before.ask("PATCH", `${roles}/system:monitoring`, { rules: [own] }, merge);
  const annotations = { "rbac.authorization.kubernetes.io/autoupdate": "false" };
  await before.ask("PATCH", `${roles}/system:discovery`, { metadata: { annotations }, rules: [own] }, merge);
  await before.ask("DELETE", `${roles}/system:node`);
  await before.close();

  const after = await world({ storage });
  t.after(() => after.close());
  const rulesOf = async (name: string) => (await after.ask("GET", `${roles}/${name}`)).rules as unknown[];
  const monitoring = await rulesOf("system:monitoring");
  assert.deepEqual(monitoring[0], own, "what was added stays");
  assert.ok(monitoring.length > 1, "what was taken is back");
  assert.deepEqual(await rulesOf("system:discovery"), [own]);
  assert.ok((await rulesOf("system:node")).length > 0);
});
