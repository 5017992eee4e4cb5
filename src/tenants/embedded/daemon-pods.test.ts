import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import type { Cache, KubeObject } from "@slipway/kube";
import type { Node, Pod } from "@slipway/kube/core";
import { daemonPodsController } from "./daemon-pods.ts";
import { type DaemonSet, daemonPods } from "./daemon-pods-plan.ts";

const ref = { namespace: "kube-system", name: "net" };
const set = {
  metadata: { ...ref, uid: "u-net", generation: 3 },
  spec: { template: { metadata: { labels: { app: "net" } }, spec: { containers: [{ name: "c", image: "i" }] } } },
} as unknown as DaemonSet;
const node = { metadata: { name: "a", uid: "u-a" } } as unknown as Node;

/** A tenant with this set, nodes and Pods; `refusal` answers each creation. */
function tenantOf(held: { set?: DaemonSet; nodes?: Node[]; pods?: Pod[] }, refusal?: Fault) {
  const asked: string[] = [];
  const cache = {
    get: () => held.set,
    list: ({ kind }: { kind: string }, namespace?: string) => {
      if (kind === "DaemonSet") return held.set === undefined ? [] : [held.set];
      if (kind === "Node") return held.nodes ?? [];
      assert.equal(namespace, "kube-system");
      return held.pods ?? [];
    },
  } as unknown as Cache;
  const client = {
    async create(_: unknown, { spec }: Pod) {
      asked.push(`create on ${spec?.nodeName}`);
      if (refusal !== undefined) throw refusal;
    },
    async delete(_: unknown, { name }: { name: string }, { uid }: { uid: string }) {
      asked.push(`delete ${name} ${uid}`);
      if (refusal !== undefined) throw refusal;
    },
    async updateStatus(_: unknown, { status }: { status: object }) {
      asked.push(`status ${(status as { desiredNumberScheduled: number }).desiredNumberScheduled}`);
      if (refusal?.code === "Conflict") throw refusal;
    },
  };
  const controller = daemonPodsController("joining");
  const reconcile = () => controller.reconcile(ref, { cache, client } as never);
  return { asked, cache, controller, reconcile };
}

test("a DaemonSet of a tenant with nodes gets its Pods and its status; one that is as wanted costs no request", async () => {
  const { asked, reconcile } = tenantOf({ set, nodes: [node] });
  await reconcile();
  assert.deepEqual(asked, ["create on a", "status 1"]);
  const { create } = daemonPods(set, [node], []);
  const held = { ...create[0]!, metadata: { ...create[0]!.metadata, uid: "u-pod" } } as unknown as Pod;
  const { status } = daemonPods(set, [node], [held]);
  const settled = tenantOf({ set: { ...set, status }, nodes: [node], pods: [held] });
  await settled.reconcile();
  assert.deepEqual(settled.asked, []);
  const left = tenantOf({ set: { ...set, status }, nodes: [], pods: [held] });
  await left.reconcile();
  assert.deepEqual(left.asked, [`delete ${held.metadata.name} u-pod`, "status 0"]);
});

test("a DaemonSet that is gone or going gets nothing", async () => {
  const going = { ...set, metadata: { ...set.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  for (const held of [{ nodes: [node] }, { set: going as DaemonSet, nodes: [node] }]) {
    const { asked, reconcile } = tenantOf(held);
    await reconcile();
    assert.deepEqual(asked, []);
  }
});

test("a Pod that is there already is taken as made; any other refusal is passed on", async () => {
  const made = tenantOf({ set, nodes: [node] }, new Fault("AlreadyExists", "Pod", "it is there"));
  await made.reconcile();
  assert.deepEqual(made.asked, ["create on a", "status 1"]);
  for (const code of ["Forbidden", "Conflict"] as const)
    await assert.rejects(tenantOf({ set, nodes: [node] }, new Fault(code, "Pod", "no")).reconcile(), (error) =>
      isFault(error, code),
    );
  const status = tenantOf({ set }, new Fault("Conflict", "DaemonSet", "changed"));
  await assert.rejects(status.reconcile(), (error) => isFault(error, "Conflict"));
  const { create } = daemonPods(set, [node], []);
  const held = { ...create[0]!, metadata: { ...create[0]!.metadata, uid: "u-pod" } } as unknown as Pod;
  const removal = tenantOf({ set, pods: [held] }, new Fault("Forbidden", "Pod", "no"));
  await assert.rejects(removal.reconcile(), (error) => isFault(error, "Forbidden"));
});

test("a node's labels and taints wake every DaemonSet, its heartbeats none; a Pod wakes the one that owns it", () => {
  const { cache, controller } = tenantOf({ set });
  const [, nodes, pods] = controller.sources;
  const changed = (more: object): Node => ({ ...node, ...more }) as Node;
  const when = nodes!.when as unknown as (now: Node, before: Node) => boolean;
  assert.equal(when(changed({ status: { seen: 1 } }), node), false);
  assert.equal(when(changed({ spec: { taints: [] } }), node), true);
  assert.equal(when(changed({ metadata: { ...node.metadata, labels: { a: "b" } } }), node), true);
  const keys = (source: typeof nodes, object: KubeObject) =>
    (source!.keys as unknown as (...of: unknown[]) => { name: string }[])(object, undefined, cache);
  assert.deepEqual(
    keys(nodes, node).map(({ name }) => name),
    ["net"],
  );
  const { create } = daemonPods(set, [node], []);
  assert.deepEqual(keys(pods, create[0] as unknown as KubeObject), [ref]);
  const stranger = { metadata: { ...ref, uid: "u" } };
  assert.deepEqual(keys(pods, stranger as unknown as KubeObject), []);
  const other = [{ ...create[0]!.metadata.ownerReferences![0]!, kind: "ReplicaSet" }];
  assert.deepEqual(keys(pods, { metadata: { ...stranger.metadata, ownerReferences: other } } as never), []);
});
