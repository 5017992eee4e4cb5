import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Node } from "./core.ts";
import { drainStep } from "./drain.ts";
import { FakeApi, failure } from "./fake-api.ts";
import { createClient } from "./rest-client.ts";

const PODS = "/api/v1/namespaces/x/pods";

/** The pods are put under the cluster-wide path too, since a drain lists across namespaces. */
function world() {
  const api = new FakeApi();
  const client = createClient(api, { clock: new VirtualClock(), random: seededRandom(1), log: quietLog });
  api.put("/api/v1/nodes/a", { metadata: { name: "a" } });
  const pods: object[] = [];
  const evicted: string[] = [];
  const forbidden = new Set<string>();
  api.intercept = (request) => {
    const name = request.path.split("/")[6] ?? "";
    if (request.path === "/api/v1/pods") {
      assert.equal(request.query?.fieldSelector, "spec.nodeName=a");
      return { status: 200, headers: {}, body: { metadata: { resourceVersion: "1" }, items: pods } };
    }
    if (!request.path.startsWith(PODS)) return undefined;
    if (request.path.endsWith("/eviction") && forbidden.has(name))
      return failure(429, "TooManyRequests", "budget", { details: { causes: [{ reason: "DisruptionBudget" }] } });
    if (request.query?.dryRun === undefined) evicted.push(`${request.method} ${name}`);
    return { status: 201, headers: {}, body: {} };
  };
  const pod = (name: string, owner: string | undefined, more: object = {}): void => {
    const ownerReferences = owner === undefined ? [] : [{ kind: owner, name: "o", uid: "o", controller: true }];
    pods.push({ metadata: { name, namespace: "x", uid: name, ownerReferences, ...more } });
  };
  return { api, client, pods, pod, evicted, forbidden };
}

test("the node is cordoned, and only Pods that must go are evicted", async () => {
  const { api, client, pods, pod, evicted } = world();
  pod("web", "ReplicaSet");
  pod("daemon", "DaemonSet");
  pod("static", "Node", { annotations: { "kubernetes.io/config.mirror": "h" } });
  pods.push({ metadata: { name: "job", namespace: "x" }, status: { phase: "Succeeded" } });
  assert.deepEqual(await drainStep(client, "a"), { waitingFor: "x/web to end", remaining: 1 });
  assert.equal((api.objects.get("/api/v1/nodes/a") as Node).spec?.unschedulable, true);
  assert.deepEqual(evicted, ["POST web"]);
  pods.shift();
  assert.deepEqual(await drainStep(client, "a"), { done: true });
});

test("a Pod that is already ending is not asked again", async () => {
  const { client, pod, evicted } = world();
  pod("web", "ReplicaSet", { deletionTimestamp: "2026-01-01T00:00:00Z" });
  assert.deepEqual(await drainStep(client, "a"), { waitingFor: "x/web to end", remaining: 1 });
  assert.deepEqual(evicted, []);
});

test("a disruption budget is waited for, by name, until it may be ignored", async () => {
  const { client, pod, evicted, forbidden } = world();
  pod("db", "StatefulSet");
  forbidden.add("db");
  const waiting = { waitingFor: "a PodDisruptionBudget to allow the eviction of x/db", remaining: 1 };
  assert.deepEqual(await drainStep(client, "a"), waiting);
  assert.deepEqual(await drainStep(client, "a", { gracePeriodSeconds: 0 }), waiting);
  assert.deepEqual(evicted, []);
  await drainStep(client, "a", { ignoreBudgets: true });
  assert.deepEqual(evicted, ["DELETE db"]);
});

test("a bare Pod is lost only by force", async () => {
  const { client, pod, evicted } = world();
  pod("bare", undefined);
  const { waitingFor } = (await drainStep(client, "a")) as { waitingFor: string };
  assert.match(waitingFor, /x\/bare, which no controller would replace/);
  assert.deepEqual(evicted, []);
  await drainStep(client, "a", { force: true });
  assert.deepEqual(evicted, ["POST bare"]);
});

test("a step whose signal is aborted asks for no more evictions, and ends with the signal's reason", async () => {
  const { api, client, pod, evicted } = world();
  pod("web", "ReplicaSet");
  const [stopping, reason] = [new AbortController(), new Error("the operator stops")];
  const answer = api.intercept;
  api.intercept = (request) => {
    if (request.path === "/api/v1/pods") stopping.abort(reason);
    return answer(request);
  };
  await assert.rejects(drainStep(client, "a", { signal: stopping.signal }), reason);
  assert.deepEqual(evicted, []);
});

test("a node that is gone is drained", async () => {
  const { api, client } = world();
  api.remove("/api/v1/nodes/a");
  assert.deepEqual(await drainStep(client, "a"), { done: true });
});
