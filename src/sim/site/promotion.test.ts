import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "@slipway/kube/core";
import { PROMOTE_ANNOTATION } from "./node-object.ts";
import { PromotionOrder } from "./promotion.ts";

const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";
const READY = { conditions: [{ type: "Ready", status: "True" }] };

function nodeOf(name: string, { labels = {}, annotations = {}, born = "1", status = READY, leaving = false } = {}) {
  const metadata = { name, labels, annotations, creationTimestamp: born, ...(leaving && { deletionTimestamp: "9" }) };
  return { metadata, status } as unknown as Node;
}

function orderOf(...nodes: Node[]): PromotionOrder {
  const order = new PromotionOrder();
  for (const node of nodes) order.changed(node);
  return order;
}

test("of three nodes the oldest ready one is next, one meant for management before it, never a worker", () => {
  const worker = nodeOf("worker", { labels: { "node-role.harvesterhci.io/worker": "true" }, born: "0" });
  const [old, young] = [nodeOf("old", { born: "1" }), nodeOf("young", { born: "2" })];
  assert.equal(orderOf(worker, old).next(), undefined, "two nodes need no manager");
  assert.equal(orderOf(worker, young, old).next(), "old");
  const meant = nodeOf("young", { labels: { "node-role.harvesterhci.io/management": "true" }, born: "2" });
  assert.equal(orderOf(worker, meant, old).next(), "young");
  assert.equal(orderOf(worker, young, nodeOf("old", { status: { conditions: [] } })).next(), "young");
});

test("what changes or goes counts as it is now", () => {
  const manager = (name: string) => nodeOf(name, { labels: { [CONTROL_PLANE]: "true" } });
  const order = orderOf(manager("a"), manager("b"), manager("c"), nodeOf("d"), nodeOf("e", { born: "2" }));
  assert.equal(order.next(), undefined, "three managers are enough");
  order.changed(nodeOf("a", { labels: { [CONTROL_PLANE]: "true" }, leaving: true }));
  assert.equal(order.next(), "d");
  order.gone("d");
  assert.equal(order.next(), "e");
  order.changed(nodeOf("d", { annotations: { [PROMOTE_ANNOTATION]: "running" }, born: "3" }));
  assert.equal(order.next(), "d", "what was begun is finished");
});

test("twice the nodes are at most two and a half times the work", () => {
  const reads = (count: number): number => {
    let read = 0;
    const counted = (node: Node): Node =>
      new Proxy(node, {
        get: (target, key) => {
          read++;
          return Reflect.get(target, key);
        },
      });
    const order = new PromotionOrder();
    for (let i = 0; i < count; i++) {
      const labels = i < 3 ? { [CONTROL_PLANE]: "true" } : {};
      order.changed(counted(nodeOf(`n${i}`, { labels })));
      order.next();
    }
    return read;
  };
  assert.ok(reads(2000) <= 2.5 * reads(1000), `${reads(1000)} reads for 1000 nodes, ${reads(2000)} for 2000`);
});
