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
