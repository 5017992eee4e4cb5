import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Access, type Controller, DONE, source } from "./controller.ts";
import { ConfigMap, Node, Pod, Secret } from "./core.ts";
import { declaredClient } from "./declared-client.ts";
import { FakeApi } from "./fake-api.ts";
import { rulesOf } from "./rbac.ts";
import { createClient } from "./rest-client.ts";

function clientWith(access: Access[]) {
  const api = new FakeApi();
  const client = createClient(api, { clock: new VirtualClock(), random: seededRandom(1), log: quietLog });
  return { api, client: declaredClient(client, access, "pool") };
}

const undeclared = { code: "Undeclared" };

test("verbs that were not declared never reach the API", async () => {
  const { api, client } = clientWith([{ resource: Node, verbs: ["get"] }]);
  const metadata = { name: "a", uid: "", resourceVersion: "", creationTimestamp: "" };
  const object = { apiVersion: "v1", kind: "Node", metadata };
  await assert.rejects(client.list(Node), undeclared);
  await assert.rejects(client.watch(Node, { resourceVersion: "1" }), undeclared);
  await assert.rejects(client.create(Node, { metadata: { name: "a" } }), undeclared);
  await assert.rejects(client.update(Node, object), undeclared);
  await assert.rejects(client.updateStatus(Node, object), undeclared);
  await assert.rejects(client.patch(Node, { name: "a" }, { type: "merge", body: {} }), undeclared);
  await assert.rejects(client.delete(Node, { name: "a" }), undeclared);
  await assert.rejects(client.evict({ name: "a", namespace: "x" }), undeclared);
  await assert.rejects(client.get(Pod, { name: "a", namespace: "x" }), undeclared);
  assert.deepEqual(api.requests, []);
  assert.equal(await client.find(Node, { name: "a" }), undefined);
});

test("a subresource is declared on its own", async () => {
  const { client } = clientWith([{ resource: Node, verbs: ["patch"], subresource: "status" }]);
  const patch = { type: "merge" as const, body: {} };
  await assert.rejects(client.patch(Node, { name: "a" }, patch), undeclared);
  await assert.rejects(client.patch(Node, { name: "a" }, patch, { subresource: "status" }), { code: "NotFound" });
});

test("access to one name in one namespace reaches nothing else", async () => {
  const { client } = clientWith([{ resource: Secret, verbs: ["get", "list"], namespace: "s", names: ["token"] }]);
  assert.equal(await client.find(Secret, { name: "token", namespace: "s" }), undefined);
  await assert.rejects(client.find(Secret, { name: "other", namespace: "s" }), undeclared);
  await assert.rejects(client.find(Secret, { name: "token", namespace: "t" }), undeclared);
  await assert.rejects(client.list(Secret, { namespace: "s" }), undeclared);
  await client.list(Secret, { namespace: "s", fieldSelector: "metadata.name=token" });
});

const controllers: Controller[] = [
  {
    name: "one",
    system: "s",
    sources: [
      source({ resource: Node }),
      source({ resource: Secret, namespace: "n", fieldSelector: "metadata.name=vip" }),
    ],
    access: [
      { resource: Node, verbs: ["patch", "get"] },
      { resource: Node, verbs: ["patch"], subresource: "status" },
      { resource: ConfigMap, verbs: ["create", "patch"], names: ["b", "a"], namespace: "n" },
    ],
    reconcile: async () => DONE,
  },
  {
    name: "two",
    system: "s",
    sources: [source({ resource: Pod })],
    access: [{ resource: Node, verbs: ["delete"] }],
    reconcile: async () => DONE,
  },
];

test("RBAC rules are the declared access and reading the sources, in one fixed order", () => {
  const rules = rulesOf(controllers);
  assert.deepEqual(rules, {
    clusterRules: [
      { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch", "patch", "delete"] },
      { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] },
    ],
    roles: [
      {
        namespace: "n",
        rules: [
          { apiGroups: [""], resources: ["configmaps"], resourceNames: ["a", "b"], verbs: ["patch"] },
          { apiGroups: [""], resources: ["configmaps"], verbs: ["create"] },
          { apiGroups: [""], resources: ["secrets"], resourceNames: ["vip"], verbs: ["list", "watch"] },
        ],
      },
    ],
  });
  assert.equal(JSON.stringify(rulesOf(controllers.toReversed())), JSON.stringify(rules));
});
