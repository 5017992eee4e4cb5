/** Evictions and bindings of Pods: what schedulers and drains ask for. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Status } from "../model/status.ts";
import { type World, world } from "../testing.ts";

const PODS = "/api/v1/namespaces/default/pods";
const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const MERGE = { contentType: "application/merge-patch+json" };

async function started(t: TestContext): Promise<World> {
  const w = await world();
  t.after(() => w.close());
  return w;
}

/** Pods of an app, all running, and Ready where not said otherwise. */
async function pods(w: World, names: readonly string[], { ready = true, labels = { app: "x" } as object } = {}) {
  for (const name of names) {
    const spec = { nodeName: "n", containers: [{ name: "c", image: "a" }] };
    await w.ask("POST", PODS, { metadata: { name, labels }, spec });
    const status = { phase: "Running", conditions: [{ type: "Ready", status: ready ? "True" : "False" }] };
    await w.ask("PATCH", `${PODS}/${name}/status`, { status }, MERGE);
  }
}
const budget = (w: World, spec: object, name = "b") =>
  w.ask("POST", BUDGETS, { metadata: { name }, spec: { selector: { matchLabels: { app: "x" } }, ...spec } });
const eviction = (name: string, more: object = {}) => ({
  ...{ apiVersion: "policy/v1", kind: "Eviction", metadata: { name }, ...more },
});
const evict = async (w: World, name: string, body: unknown = eviction(name)): Promise<Status> =>
  (await w.send({ method: "POST", path: `${PODS}/${name}/eviction`, body })).body as Status;
const isLeaving = async (w: World, name: string) =>
  (await w.ask("GET", `${PODS}/${name}`)).metadata.deletionTimestamp !== undefined;

test("a Pod that no budget counts is evicted: it is deleted as it asks to be", async (t) => {
  const w = await started(t);
  await pods(w, ["a", "b"]);
  assert.deepEqual(await evict(w, "a"), {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    code: 201,
  });
  assert.equal((await w.ask("GET", `${PODS}/a`)).metadata.deletionGracePeriodSeconds, 30);
  await evict(w, "b", eviction("b", { deleteOptions: { gracePeriodSeconds: 0 } }));
  assert.equal((await w.refused("GET", `${PODS}/b`)).code, 404);
});

test("a dry run evicts nothing, and a uid or version of another Pod is a conflict", async (t) => {
  const w = await started(t);
  await pods(w, ["a"]);
  const query = { dryRun: "All" };
  assert.ok(await w.ask("POST", `${PODS}/a/eviction`, eviction("a"), { query }));
  assert.equal((await evict(w, "a", eviction("a", { deleteOptions: { dryRun: ["All"] } }))).code, 201);
  assert.equal(await isLeaving(w, "a"), false);
  for (const preconditions of [{ uid: "other" }, { resourceVersion: "1" }])
    assert.equal((await evict(w, "a", eviction("a", { deleteOptions: { preconditions } }))).code, 409);
  assert.equal(await isLeaving(w, "a"), false);
});

test("an eviction for another name, of another kind, or of a Pod that is not there is refused", async (t) => {
  const w = await started(t);
  await pods(w, ["a"]);
  const other = await evict(w, "a", eviction("b"));
  assert.deepEqual([other.code, other.message], [400, "name in URL does not match name in Eviction object"]);
  const kind = await evict(w, "a", { ...eviction("a"), kind: "Binding" });
  assert.match(kind.message!, /converting \(v1\.Binding\) to \(policy\.Eviction\): unknown conversion/);
  assert.equal((await evict(w, "none")).code, 404);
});

for (const [what, spec, allowed] of [
  ["minAvailable as a number", { minAvailable: 2 }, 1],
  ["minAvailable as a percentage, rounded up", { minAvailable: "34%" }, 1],
  ["maxUnavailable as a number", { maxUnavailable: 2 }, 2],
  ["maxUnavailable as a percentage, rounded up", { maxUnavailable: "34%" }, 2],
  ["one that must stay where nothing else is said", {}, 2],
  ["none that may go", { maxUnavailable: 0 }, 0],
] as const)
  test(`a budget allows as many evictions as it has left: ${what}`, async (t) => {
    const w = await started(t);
    const names = ["p1", "p2", "p3"];
    await pods(w, names);
    await budget(w, spec);
    const codes = [];
    for (const name of names) codes.push((await evict(w, name)).code);
    assert.deepEqual(
      codes,
      names.map((_, i) => (i < allowed ? 201 : 429)),
    );
    const refused = await evict(w, "p3");
    assert.equal(refused.reason, "TooManyRequests");
    assert.equal(refused.message, "Cannot evict pod as it would violate the pod's disruption budget.");
    const [cause] = (refused.details as { causes: { reason: string; message: string }[] }).causes;
    assert.equal(cause!.reason, "DisruptionBudget");
    assert.match(cause!.message, /^The disruption budget b needs \d healthy pods and has \d currently$/);
  });

test("Pods that are not ready, have ended or are leaving disrupt nothing; two budgets for one Pod are refused", async (t) => {
  const w = await started(t);
  await pods(w, ["sick"], { ready: false });
  await pods(w, ["done"]);
  await w.ask("PATCH", `${PODS}/done/status`, { status: { phase: "Succeeded" } }, MERGE);
  await pods(w, ["good"]);
  await budget(w, { maxUnavailable: 0 });
  assert.equal((await evict(w, "sick")).code, 201);
  assert.equal((await evict(w, "done")).code, 201);
  assert.equal((await evict(w, "good")).code, 429);
  await budget(w, { maxUnavailable: 0 }, "c");
  const twice = await evict(w, "good");
  assert.equal(twice.code, 500);
  assert.match(twice.message!, /^This pod has more than one PodDisruptionBudget/);
});

for (const [selector, isCounted] of [
  [{ matchExpressions: [{ key: "app", operator: "Exists" }] }, true],
  [{ matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, false],
  [{ matchExpressions: [{ key: "none", operator: "DoesNotExist" }] }, true],
  [{ matchExpressions: [{ key: "app", operator: "In", values: ["x", "y"] }] }, true],
  [{ matchExpressions: [{ key: "app", operator: "In", values: ["y"] }] }, false],
  [{ matchExpressions: [{ key: "app", operator: "NotIn", values: ["y"] }] }, true],
  [{ matchExpressions: [{ key: "app", operator: "NotIn", values: ["x"] }] }, false],
  [{ matchExpressions: [{ key: "none", operator: "NotIn", values: ["x"] }] }, true],
  [{ matchLabels: { app: "y" } }, false],
  [{ matchLabels: { app: "x" }, matchExpressions: [{ key: "app", operator: "In", values: ["y"] }] }, false],
  [{}, true],
  [null, false],
] as const)
  test(`a budget counts the Pods that it selects: ${JSON.stringify(selector)}`, async (t) => {
    const w = await started(t);
    await pods(w, ["a"]);
    await budget(w, { selector, maxUnavailable: 0 });
    assert.equal((await evict(w, "a")).code, isCounted ? 429 : 201);
  });

test("what a controller has counted for this version of the budget stands", async (t) => {
  const w = await started(t);
  await pods(w, ["a", "b"]);
  await budget(w, { maxUnavailable: 2 });
  const counted = (status: object) => w.ask("PATCH", `${BUDGETS}/b/status`, { status }, MERGE);
  const cause = async () => {
    const { details } = await evict(w, "a");
    return (details as { causes: { message: string }[] }).causes[0]!.message;
  };
  await counted({ observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 2 });
  assert.equal(await cause(), "The disruption budget b needs 2 healthy pods and has 2 currently");
  await counted({ observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 1, currentHealthy: 2 });
  assert.equal(await cause(), "The disruption budget b does not allow evicting pods currently");
  await counted({ observedGeneration: 1, disruptionsAllowed: 1 });
  assert.equal((await evict(w, "a")).code, 201);
  await w.ask("PATCH", `${BUDGETS}/b`, { spec: { maxUnavailable: 0 } }, MERGE);
  assert.equal((await evict(w, "b")).code, 429, "an older count says nothing");
});

const binding = (name: string, target: object, metadata: object = {}) => ({
  ...{ apiVersion: "v1", kind: "Binding", metadata: { name, ...metadata }, target },
});
const bind = async (w: World, name: string, body: unknown): Promise<Status> =>
  (await w.send({ method: "POST", path: `${PODS}/${name}/binding`, body })).body as Status;

test("a binding gives a Pod its Node, once, with what the scheduler notes on it", async (t) => {
  const w = await started(t);
  const spec = { containers: [{ name: "c", image: "a" }] };
  await w.ask("POST", PODS, { metadata: { name: "a", labels: { app: "x" }, annotations: { n: "1" } }, spec });
  await w.ask(
    "PATCH",
    `${PODS}/a/status`,
    { status: { conditions: [{ type: "PodScheduled", status: "False" }] } },
    MERGE,
  );
  const noted = { labels: { zone: "z" }, annotations: { by: "s" } };
  assert.equal((await bind(w, "a", binding("a", { kind: "Node", name: "n1" }, noted))).code, 201);
  const pod = (await w.ask("GET", `${PODS}/a`)) as unknown as {
    metadata: { labels: object; annotations: object };
    spec: { nodeName: string };
    status: { conditions: { type: string; status: string; lastTransitionTime: string }[] };
  };
  assert.equal(pod.spec.nodeName, "n1");
  assert.deepEqual(
    [pod.metadata.labels, pod.metadata.annotations],
    [
      { app: "x", zone: "z" },
      { n: "1", by: "s" },
    ],
  );
  const [condition, ...others] = pod.status.conditions;
  assert.deepEqual([condition!.type, condition!.status, others.length], ["PodScheduled", "True", 0]);
  assert.match(condition!.lastTransitionTime, /^\d{4}-/);
  const again = await bind(w, "a", binding("a", { name: "n2" }));
  assert.deepEqual([again.code, again.reason], [409, "Conflict"]);
  assert.match(again.message!, /pods\/binding "a": pod a is already assigned to node "n1"$/);
});

test("a binding to what is no Node, of another Pod, of a gated one or of one that is leaving is refused", async (t) => {
  const w = await started(t);
  const spec = { containers: [{ name: "c", image: "a" }] };
  await w.ask("POST", PODS, { metadata: { name: "a", finalizers: ["a.example/b"] }, spec });
  const message = async (body: unknown, name = "a") => (await bind(w, name, body)).message!;
  assert.equal(await message(binding("b", { name: "n" })), "name in URL does not match name in Binding object");
  assert.equal(
    await message(binding("a", { kind: "Pod", name: "n" })),
    'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
  );
  assert.equal(await message(binding("a", { kind: "Node" })), "target.name: Required value");
  await w.ask("POST", PODS, { metadata: { name: "g" }, spec: { ...spec, schedulingGates: [{ name: "a.example/g" }] } });
  assert.match(await message(binding("g", { name: "n" }), "g"), /pod g has non-empty \.spec\.schedulingGates$/);
  await w.ask("DELETE", `${PODS}/a`);
  assert.match(await message(binding("a", { name: "n" })), /pod a is being deleted, cannot be assigned to a host$/);
});
