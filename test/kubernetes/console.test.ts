/** The console on a real kube-apiserver: who signs in by what, and whose rights decide. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { systemClock as clock, json, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { ConfigMap } from "@slipway/kube/core";
import { loadConnection } from "@slipway/kube/http";
import { startConsole } from "../../src/console/server/console.ts";
import { transportOf } from "../../src/console/server/credentials.ts";
import { Browser, PAGE, signInWith } from "../../src/console/server/testing.ts";
import { startCluster, whyNotHere } from "./cluster.ts";

const skip = (await whyNotHere()) ?? false;
const MAPS = "/console/k8s/api/v1/namespaces/default/configmaps";

test("a client certificate and a ServiceAccount's token sign in, each with its own rights, and a page sees changes live", {
  skip,
}, async (t) => {
  const cluster = await startCluster();
  t.after(() => cluster.close());
  const { client, plane } = cluster;
  const api = await loadConnection({ kubeconfig: plane.kubeconfigFile, env: {}, clock });
  const { url, close } = await startConsole(
    {
      ...{ clock, random, log, page: async () => PAGE, http: async () => json(404, {}) },
      transport: (credentials) =>
        transportOf({ server: api.server, ...(api.ca !== undefined && { ca: api.ca }) }, credentials),
    },
    { port: 0 },
  );
  t.after(close);
  const admin = await signInWith(url, { kubeconfig: readFileSync(plane.kubeconfigFile, "utf8") });
  assert.equal(admin.status, 200, admin.body);
  assert.ok(JSON.parse(admin.body).groups.includes("system:masters"));

  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }];
  const group = "rbac.authorization.k8s.io";
  const root = `/apis/${group}/v1/namespaces/default`;
  const subjects = [{ kind: "ServiceAccount", name: "viewer", namespace: "default" }];
  const post = async (path: string, body: object) => {
    const answer = await cluster.transport.request({ method: "POST", path, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body as { status: { token: string } };
  };
  await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "viewer" } });
  await post(`${root}/roles`, { metadata: { name: "viewer" }, rules });
  await post(`${root}/rolebindings`, {
    metadata: { name: "viewer" },
    subjects,
    roleRef: { apiGroup: group, kind: "Role", name: "viewer" },
  });
  const { token } = (await post("/api/v1/namespaces/default/serviceaccounts/viewer/token", { spec: {} })).status;

  const viewer = await Browser.signIn(url, token);
  const events = await viewer.events("configmaps,nodes&namespace=default");
  await events.state("configmaps", "synced");
  await events.state("nodes", "denied");
  await client.create(ConfigMap, { metadata: { name: "live", namespace: "default" } });
  await events.until("the change", (one) => one.changes("configmaps").includes("set live"));
  await client.delete(ConfigMap, { name: "live", namespace: "default" });
  await events.until("the deletion", (one) => one.changes("configmaps").includes("gone live"));
  const denied = await viewer.ask(MAPS, { method: "POST", body: JSON.stringify({ metadata: { name: "no" } }) });
  assert.equal(denied.status, 403);
  assert.match(denied.body, /User \\"system:serviceaccount:default:viewer\\" cannot create resource/);
  assert.equal(
    (await viewer.ask(MAPS, { headers: { "impersonate-user": "root", "impersonate-group": "system:masters" } })).status,
    200,
  );
  assert.equal(
    (await viewer.ask("/console/k8s/api/v1/nodes", { headers: { "impersonate-group": "system:masters" } })).status,
    403,
  );
  events.close();
});
