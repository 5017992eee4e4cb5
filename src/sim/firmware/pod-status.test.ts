import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "@slipway/kube/core";
import { runningStatus, writesNetworks } from "./pod-status.ts";

const pod = (spec: object): Pod => ({ metadata: { name: "p", uid: "u" }, spec }) as unknown as Pod;

test("a Pod brings the network where a container may write CNI configurations, and nowhere else", () => {
  const at = (path: string, mount: object) =>
    writesNetworks(
      pod({ volumes: [{ name: "v", hostPath: { path } }], containers: [{ name: "c", volumeMounts: [mount] }] }),
    );
  assert.equal(at("/etc/cni/net.d", { name: "v" }), true);
  assert.equal(at("/etc/cni/net.d/", { name: "v" }), true);
  assert.equal(at("/etc/cni/net.d", { name: "v", readOnly: true }), false);
  assert.equal(at("/etc/cni/net.d", { name: "w" }), false);
  assert.equal(at("/etc", { name: "v" }), false);
  assert.equal(writesNetworks(pod({ containers: [{ name: "c" }] })), false);
  assert.equal(writesNetworks(pod({})), false);
});

test("a running Pod has its conditions and containers, and an address of its own unless it has the node's", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const status = runningStatus(pod({ containers: [{ name: "c", image: "i" }] }), now);
  assert.equal(status.phase, "Running");
  assert.deepEqual(
    status.conditions?.map(({ type, status: is }) => `${type}=${is}`),
    [...["PodScheduled=True", "Initialized=True", "ContainersReady=True", "Ready=True"]],
  );
  assert.match(status.podIP!, /^10\.244\.\d+\.\d+$/);
  assert.equal((status.containerStatuses as { ready: boolean }[])[0]!.ready, true);
  assert.equal(runningStatus(pod({ hostNetwork: true }), now).podIP, undefined);
});
