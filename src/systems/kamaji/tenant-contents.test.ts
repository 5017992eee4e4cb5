import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { isFault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Transport } from "@slipway/kube";
import type { Manifest } from "../../bootstrap/kubeadm/join-facts.ts";
import { TenantContents } from "./tenant-contents.ts";

const NAMES = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "names", namespace: "kube-system" } };
const ROLE = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "reader" },
  rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
};
const objects = (word: string): Manifest[] => [{ ...NAMES, data: { word } } as Manifest, ROLE as Manifest];

test("what a tenant must hold is applied once, again where it is another, and again for a tenant that was forgotten", async (t) => {
  const api = await createApiServer({ clock: new VirtualClock(), random: seededRandom(1), log: quietLog });
  t.after(() => api.close());
  const inner = api.transport();
  const asked: string[] = [];
  const transport: Transport = {
    ...inner,
    request: (request) => {
      asked.push(request.path);
      return inner.request(request);
    },
  };
  const contents = new TenantContents();
  const { signal } = new AbortController();
  const filled = async (id: string, word: string): Promise<[boolean, number]> => {
    const before = asked.length;
    return [await contents.fill(id, transport, { wanted: objects(word) }, signal), asked.length - before];
  };

  assert.deepEqual(await filled("a", "one"), [true, 2]);
  assert.deepEqual(await filled("a", "one"), [false, 0]);
  assert.deepEqual(await filled("b", "one"), [true, 2], "another tenant");
  assert.deepEqual(await filled("a", "two"), [true, 2]);
  contents.forget("a");
  assert.deepEqual(await filled("a", "two"), [true, 2]);
  const path = "/api/v1/namespaces/kube-system/configmaps/names";
  const { body } = await inner.request({ method: "GET", path });
  assert.deepEqual((body as { data: object }).data, { word: "two" });
});

/** Answers each request with the next of these statuses, and records what was asked. */
function answering(...statuses: readonly number[]): { transport: Transport; asked: string[] } {
  const asked: string[] = [];
  const left = [...statuses];
  const request = async ({ method, path }: { method: string; path: string }) => {
    asked.push(`${method} ${path}`);
    return { status: left.shift() ?? 200, headers: {}, body: { message: "no room" } };
  };
  return { transport: { request } as unknown as Transport, asked };
}

test("what is no longer wanted is removed first; that it was gone is as good, and a refusal ends the work", async () => {
  const { signal } = new AbortController();
  const [unwanted, wanted] = [[NAMES as Manifest], [ROLE as Manifest]];
  const path = "/api/v1/namespaces/kube-system/configmaps/names";
  for (const status of [200, 404]) {
    const { transport, asked } = answering(status);
    await new TenantContents().fill("a", transport, { wanted, unwanted }, signal);
    assert.deepEqual(asked, [`DELETE ${path}`, "PATCH /apis/rbac.authorization.k8s.io/v1/clusterroles/reader"]);
  }
  const contents = new TenantContents();
  const { transport, asked } = answering(500);
  await assert.rejects(contents.fill("a", transport, { wanted, unwanted }, signal), (error) => {
    return isFault(error, "Unavailable") && /ConfigMap\/names in the tenant: no room/.test(error.message);
  });
  assert.equal(asked.length, 1);
  await contents.fill("a", transport, { wanted, unwanted }, signal);
  assert.equal(asked.length, 3, "what failed is asked for again");
  await assert.rejects(new TenantContents().fill("a", answering(403).transport, { wanted }, signal), (error) =>
    isFault(error, "Forbidden"),
  );
});

test("B20 the configuration of coredns is made once, and left to the tenant's user from then on", async () => {
  const { signal } = new AbortController();
  const metadata = { name: "coredns", namespace: "kube-system" };
  const wanted = [{ ...NAMES, metadata } as Manifest];
  const { transport, asked } = answering(409);
  assert.equal(await new TenantContents().fill("a", transport, { wanted }, signal), true);
  assert.deepEqual(asked, ["POST /api/v1/namespaces/kube-system/configmaps"]);
  const names = answering(409);
  await assert.rejects(new TenantContents().fill("a", names.transport, { wanted: [NAMES as Manifest] }, signal));
});
