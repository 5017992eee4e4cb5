import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient, type KubeObject } from "@slipway/kube";
import { applyObjects } from "./apply.ts";

/** As they stand in files: the server has not filled them in yet. */
const manifests = (objects: object[]) => objects as KubeObject[];

test("objects of any served kind are applied, namespaces first, and without a namespace into `default`", async () => {
  const ports = { clock: new VirtualClock(), random: seededRandom(1), log: quietLog };
  const api = await createApiServer(ports);
  const transport = api.transport();
  const to = { client: createClient(transport, ports), transport };
  const named = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "rack" } };
  const unnamed = { apiVersion: "apps/v1", kind: "ControllerRevision", metadata: { name: "b" }, revision: 1 };
  const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "c" }, rules: [] };
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "rack" } };

  const applied = await applyObjects(to, manifests([named, role, namespace]));
  assert.deepEqual(
    applied.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}`),
    ["Namespace ", "ConfigMap rack", "ClusterRole "],
  );
  const [config] = await applyObjects(to, manifests([{ ...named, metadata: { name: "d" } }]));
  assert.equal(config?.metadata.namespace, "default");
  const empty = { ...named, metadata: { ...named.metadata, name: "e", labels: null }, data: { a: "1", b: null } };
  const [bare] = (await applyObjects(to, manifests([empty]))) as (KubeObject & { data?: object })[];
  assert.deepEqual([bare?.metadata.labels, bare?.data], [undefined, { a: "1" }], "what is null is left out");
  await assert.rejects(applyObjects(to, manifests([unnamed])), {
    code: "NotFound",
    message: /apps\/v1 ControllerRevision/,
  });
  await api.close();
});
