import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "@slipway/kube/core";
import type { Instance } from "../../kinds/harvester/instance.ts";
import { aMachine } from "../../machines/testing.ts";
import { identify, isNews, keepsQuorum, readiness } from "./node-identity.ts";

function nodeOf({ version = "1", ready = "True", beat = "2026-01-01T00:00:00Z", labels = {} }): Node {
  const metadata = { name: "n", uid: "u", resourceVersion: version, labels };
  const conditions = [{ type: "Ready", status: ready, lastHeartbeatTime: beat, lastTransitionTime: "t" }];
  return { metadata, spec: {}, status: { addresses: [], conditions } } as unknown as Node;
}

test("a kubelet's report that changes only its time is no news; a new state and a label are", () => {
  const before = nodeOf({});
  assert.equal(isNews(nodeOf({ version: "2", beat: "2026-01-01T00:05:00Z" }), before), false);
  assert.equal(isNews(nodeOf({ version: "2", ready: "False" }), before), true);
  assert.equal(isNews(nodeOf({ version: "2", labels: { a: "b" } }), before), true);
});

const instanceWith = (status: object = {}): Instance =>
  ({ metadata: { name: "rack-a", uid: "u-1" }, status }) as unknown as Instance;
const nodeWith = (metadata: object, addresses?: { type: string; address: string }[]): Node =>
  ({
    metadata: { name: "rack-a", uid: "n-1", ...metadata },
    ...(addresses && { status: { addresses } }),
  }) as unknown as Node;
const LABEL = "slipway.dev/instance-uid";

test("H7 a Node is the Instance's by the claim it registered with, its known uid, or an address of the machine; not by its name", () => {
  const at = (address: string, type = "InternalIP") => nodeWith({}, [{ type, address }]);
  const machine = aMachine({ addresses: [{ address: "10.0.0.5", family: 4, public: false, management: true }] });
  assert.equal(identify(nodeWith({ labels: { [LABEL]: "u-1" } }), instanceWith(), undefined), "ours");
  assert.equal(
    identify(
      nodeWith({ labels: { [LABEL]: "u-9" } }, [{ type: "InternalIP", address: "10.0.0.5" }]),
      instanceWith(),
      machine,
    ),
    "stranger",
  );
  assert.equal(identify(nodeWith({}), instanceWith({ node: { uid: "n-1" } }), undefined), "ours");
  assert.equal(identify(at("10.0.0.5"), instanceWith(), machine), "ours");
  assert.equal(identify(at("10.0.0.5", "Hostname"), instanceWith(), machine), "stranger");
  for (const known of [{ publicIP: "203.0.113.5" }, { privateIP: "203.0.113.5" }])
    assert.equal(identify(at("203.0.113.5"), instanceWith(known), undefined), "ours");
  assert.equal(identify(at(""), instanceWith({ publicIP: "" }), undefined), "stranger");
  assert.equal(identify(nodeWith({}), instanceWith(), machine), "stranger");
});

test("H6 etcd keeps its quorum if more than half of its members stay Ready; the last one never leaves", () => {
  const member = (name: string, isReady = true, label: string | undefined = "true") =>
    ({
      metadata: { name, labels: label === undefined ? {} : { "node-role.kubernetes.io/etcd": label } },
      status: { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
    }) as unknown as Node;
  const [a, b, c] = [member("a"), member("b"), member("c")];
  assert.equal(keepsQuorum(a, [a, b, c]), true);
  assert.equal(keepsQuorum(a, [a, b, member("c", false)]), false);
  assert.equal(keepsQuorum(a, [a, b]), false);
  assert.equal(keepsQuorum(a, [a]), false);
  assert.equal(keepsQuorum(a, [a, b, member("c", true, ""), member("w", true, "no")]), true);
  const worker = member("w", true, "no");
  assert.equal(keepsQuorum(worker, [worker]), true);
});

test("a Node that has not reported yet is not Ready, and says so", () => {
  assert.deepEqual(readiness(nodeWith({})), {
    ready: false,
    since: undefined,
    message: "the Node has not reported yet",
  });
});
