import assert from "node:assert/strict";
import { test } from "node:test";
import type { Session } from "../../../workload/session.ts";
import { cluster, machine, node } from "../testing.ts";
import { findNode } from "./find-node.ts";

const up = cluster({ status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } } });
const session =
  (nodes: string[], of: Partial<Session> = {}) =>
  () =>
    ({ client: {}, isReached: true, nodesBy: () => nodes.map((name) => node(name)), ...of }) as unknown as Session;
const asked = (): never => assert.fail("the workload cluster was asked");
const own = machine("m", { spec: { providerID: "sim://1" } });
const known = machine("m", { spec: { providerID: "sim://1" }, status: { nodeRef: { name: "n" } } });
const message = (seen: ReturnType<typeof findNode>) => (seen.is === "awaited" ? seen.message : seen.is);

test("nobody asks a workload cluster that is not there yet, unless a Node was seen in it", () => {
  const infra = cluster({ status: { initialization: { infrastructureProvisioned: true } } });
  const plane = cluster({ status: { initialization: { controlPlaneInitialized: true } } });
  assert.match(message(findNode(own, cluster(), asked)), /infrastructureProvisioned to be true/);
  assert.match(message(findNode(own, plane, asked)), /infrastructureProvisioned to be true/);
  assert.match(message(findNode(own, infra, asked)), /control plane to be initialized/);
  for (const one of [infra, plane]) assert.equal(findNode(known, one, session(["n"])).is, "there");
});

test("the Node with the Machine's id is its Node; without an id it is waited for", () => {
  assert.equal(findNode(own, up, session(["n"])).is, "there");
  assert.match(message(findNode(machine("m"), up, session(["n"]))), /SimMachine to report spec.providerID/);
  assert.deepEqual(findNode(own, up, session([])), {
    is: "awaited",
    reason: "NodeDoesNotExist",
    message: "Waiting for a Node with spec.providerID sim://1 to exist",
  });
  assert.deepEqual(findNode(known, up, session([])), { is: "deleted", name: "n" });
});

test("a cluster that does not answer says since when and why", () => {
  const lost = { isReached: false, lostAt: 7, why: "refused" };
  assert.deepEqual(findNode(own, up, session([], lost)), { is: "unknown", since: 7, why: "refused" });
  assert.deepEqual(findNode(own, up, session([], { client: undefined })), {
    ...{ is: "unknown", since: 0, why: "it does not answer" },
  });
});

test("two Nodes with one id are named both, and none is believed", () => {
  assert.deepEqual(findNode(own, up, session(["b", "a"])), {
    is: "disputed",
    message: "several Nodes have its providerID sim://1: a, b; delete those that are not of this machine",
  });
});
