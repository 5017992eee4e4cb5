import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog, seededRandom } from "@slipway/base";
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
