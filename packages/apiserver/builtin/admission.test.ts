import assert from "node:assert/strict";
import { test } from "node:test";
import { world } from "../testing.ts";

test("a new Node takes no Pods before it is ready, and says so once", async () => {
  const { ask, close } = await world();
  const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  const own = { key: "gpu", effect: "NoExecute" };
  const taints = async (name: string, given?: object[]) => {
    const body = { metadata: { name }, ...(given && { spec: { taints: given } }) };
    return (await ask("POST", "/api/v1/nodes", body)).spec as { taints: object[] };
  };
  assert.deepEqual((await taints("a")).taints, [taint]);
  assert.deepEqual((await taints("b", [own])).taints, [own, taint]);
  assert.deepEqual((await taints("c", [taint])).taints, [taint]);
  await close();
});

test("a Job without labels has those of its Pods, another keeps its own", async () => {
  const { ask, close } = await world();
  const pod = { containers: [{ name: "c", image: "a" }], restartPolicy: "Never" };
  const labels = async (name: string, own: object | undefined, ofPods: object) => {
    const spec = { template: { metadata: { labels: ofPods }, spec: pod } };
    const metadata = { name, ...(own && { labels: own }) };
    return (await ask("POST", "/apis/batch/v1/namespaces/default/jobs", { metadata, spec })).metadata.labels;
  };
  assert.equal((await labels("a", undefined, { app: "x" }))?.app, "x");
  const own = await labels("b", { tier: "web" }, { app: "x" });
  assert.deepEqual([own?.tier, own?.app], ["web", undefined]);
  await close();
});

const PODS = "/api/v1/namespaces/default/pods";
const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";
const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: "c", image: "a" }], ...spec },
});

test("a Pod's priority is that of its class, of the least important default, or none", async () => {
  const { ask, refused, close } = await world();
  const made = async (name: string, spec: object = {}) => {
    const { priority, priorityClassName, preemptionPolicy } = (await ask("POST", PODS, pod(name, spec))).spec as Record<
      string,
      unknown
    >;
    return [priority, priorityClassName, preemptionPolicy];
  };
  assert.deepEqual(await made("a"), [0, undefined, "PreemptLowerPriority"]);
  await ask("POST", CLASSES, { metadata: { name: "high" }, value: 100, preemptionPolicy: "Never" });
  await ask("POST", CLASSES, { metadata: { name: "usual" }, value: 20, globalDefault: true });
  await ask("POST", CLASSES, { metadata: { name: "low" }, value: 10, globalDefault: true });
  assert.deepEqual(await made("b"), [10, "low", "PreemptLowerPriority"]);
  assert.deepEqual(await made("c", { priorityClassName: "high" }), [100, "high", "Never"]);
  assert.deepEqual(await made("d", { priorityClassName: "high", priority: 100 }), [100, "high", "Never"]);
  const why = async (spec: object) => (await refused("POST", PODS, pod("e", spec))).message;
  assert.equal(
    await why({ priorityClassName: "none" }),
    'pods "e" is forbidden: no PriorityClass with name none was found',
  );
  const computed = "must not be provided in pod spec; priority admission controller computed";
  assert.equal(
    await why({ priorityClassName: "high", priority: 5 }),
    `pods "e" is forbidden: the integer value of priority (5) ${computed} 100 from the given PriorityClass name`,
  );
  assert.equal(
    await why({ priorityClassName: "low", preemptionPolicy: "Never" }),
    `pods "e" is forbidden: the string value of PreemptionPolicy (Never) ${computed} PreemptLowerPriority from the given PriorityClass name`,
  );
  const { resourceVersion } = (await ask("GET", `${PODS}/c`)).metadata;
  const again = pod("c", { priorityClassName: "high", nodeName: undefined });
  const replaced = await ask("GET", `${PODS}/c`);
  const { priority: _p, preemptionPolicy: _q, ...spec } = replaced.spec as Record<string, unknown>;
  const kept = (await ask("PUT", `${PODS}/c`, { ...again, metadata: { name: "c", resourceVersion }, spec })).spec;
  const { priority, preemptionPolicy } = kept as Record<string, unknown>;
  assert.deepEqual([priority, preemptionPolicy], [100, "Never"], "a writer that does not know them keeps them");
  await close();
});

test("a Pod bears a Node that is not ready or not reachable for five minutes, unless it says otherwise", async () => {
  const { ask, close } = await world();
  const usual = (name: string) => ({
    ...{ key: `node.kubernetes.io/${name}`, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
  });
  const tolerations = async (name: string, given?: object[]) =>
    ((await ask("POST", PODS, pod(name, given && { tolerations: given }))).spec as { tolerations: object[] })
      .tolerations;
  assert.deepEqual(await tolerations("a"), [usual("not-ready"), usual("unreachable")]);
  const own = { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 };
  assert.deepEqual(await tolerations("b", [own]), [own, usual("unreachable")]);
  const anyEffect = { key: "node.kubernetes.io/unreachable", operator: "Exists" };
  assert.deepEqual(await tolerations("c", [anyEffect]), [anyEffect, usual("not-ready")]);
  const all = { operator: "Exists" };
  assert.deepEqual(await tolerations("d", [all]), [all]);
  const other = { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoSchedule" };
  assert.equal((await tolerations("e", [other])).length, 3);
  await close();
});

test("volumes and claims are guarded while they are used, and a claim gets the youngest default class", async () => {
  const { ask, clock, close } = await world();
  const volume = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/a" } };
  const pv = async (name: string, finalizers?: string[]) =>
    (await ask("POST", "/api/v1/persistentvolumes", { metadata: { name, finalizers }, spec: volume })).metadata
      .finalizers;
  assert.deepEqual(await pv("a"), ["kubernetes.io/pv-protection"]);
  assert.deepEqual(await pv("b", ["kubernetes.io/pv-protection"]), ["kubernetes.io/pv-protection"]);
  assert.deepEqual(await pv("c", ["a.example/b"]), ["a.example/b", "kubernetes.io/pv-protection"]);
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const claim = async (name: string, more: object = {}) => {
    const path = "/api/v1/namespaces/default/persistentvolumeclaims";
    const made = await ask("POST", path, { metadata: { name }, spec: { ...spec, ...more } });
    assert.deepEqual(made.metadata.finalizers, ["kubernetes.io/pvc-protection"]);
    return (made.spec as { storageClassName?: string }).storageClassName;
  };
  assert.equal(await claim("a"), undefined);
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  const storageClass = (name: string, more: object = { annotations }) =>
    ask("POST", "/apis/storage.k8s.io/v1/storageclasses", { metadata: { name, ...more }, provisioner: "a.example/b" });
  await storageClass("plain", {});
  assert.equal(await claim("b"), undefined);
  await storageClass("old");
  await clock.run(2000);
  await storageClass("young");
  assert.equal(await claim("c"), "young");
  assert.equal(await claim("d", { storageClassName: "old" }), "old");
  assert.equal(await claim("e", { storageClassName: "" }), "");
  await close();
});
