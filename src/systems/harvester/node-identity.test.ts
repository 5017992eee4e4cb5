import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "@slipway/kube/core";
import { isNews } from "./node-identity.ts";

function nodeOf({ version = "1", ready = "True", beat = "2026-01-01T00:00:00Z", labels = {} }): Node {
  const metadata = { name: "n", uid: "u", resourceVersion: version, labels };
  const conditions = [{ type: "Ready", status: ready, lastHeartbeatTime: beat, lastTransitionTime: "t" }];
  return { metadata, spec: {}, status: { addresses: [], conditions } } as unknown as Node;
}

test("a kubelet's report that changes only its time is no news; a new state, a label and a new Node are", () => {
  const before = nodeOf({});
  assert.equal(isNews(nodeOf({ version: "2", beat: "2026-01-01T00:05:00Z" }), before), false);
  assert.equal(isNews(nodeOf({ version: "2", ready: "False" }), before), true);
  assert.equal(isNews(nodeOf({ version: "2", labels: { a: "b" } }), before), true);
  assert.equal(isNews(before, undefined), true);
});
