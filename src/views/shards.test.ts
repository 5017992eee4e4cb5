import assert from "node:assert/strict";
import { test } from "node:test";
import { rfc3339 } from "@slipway/base";
import { CREW_LABEL } from "@slipway/kube";
import type { Lease } from "@slipway/kube/core";
import { shardCrews } from "./shards.ts";

const NOW = Date.UTC(2026, 0, 31, 12);
const SECOND = 1000;

function lease(name: string, holderIdentity: string, ageMs = 0, crew = "slipway-1"): Lease {
  const metadata = { namespace: "ops", name: `${crew}-${name}`, labels: { [CREW_LABEL]: crew } };
  return {
    metadata,
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: rfc3339(NOW - ageMs) },
  } as unknown as Lease;
}

test("a crew has its replicas with what they hold, one that has nothing too, and the shards that nobody holds", () => {
  const leases = [
    ...[lease("replica-a", "pod-a"), lease("replica-b", "pod-b"), lease("replica-c", "pod-c", 16 * SECOND)],
    ...[
      lease("shard-0", "pod-a"),
      lease("shard-1", "pod-a"),
      lease("shard-2", ""),
      lease("shard-4", "pod-c", 16 * SECOND),
    ],
  ];
  assert.deepEqual(shardCrews(leases, NOW), [
    { namespace: "ops", crew: "slipway-1", shards: 5, held: { "pod-a": 2, "pod-b": 0 }, free: [2, 3, 4] },
  ]);
});

test("a Lease is its holder's up to its last moment, which is after 15 s where it says none", () => {
  const held = (ageMs: number, spec: object = {}) => {
    const made = lease("shard-0", "pod-a", ageMs);
    return shardCrews([lease("replica-b", "pod-b"), { ...made, spec: { ...made.spec, ...spec } } as Lease], NOW)[0]!
      .free;
  };
  assert.deepEqual([held(15 * SECOND), held(15 * SECOND + 1)], [[], [0]]);
  const unsaid = { leaseDurationSeconds: undefined };
  assert.deepEqual([held(15 * SECOND, unsaid), held(15 * SECOND + 1, unsaid)], [[], [0]]);
  assert.deepEqual(held(0, { renewTime: undefined }), [0]);
});

test("Leases of others, and a crew that nobody is in any more, are none", () => {
  const other = { metadata: { namespace: "ops", name: "leader" }, spec: { holderIdentity: "x" } } as unknown as Lease;
  const old = [lease("replica-a", "pod-a", 16 * SECOND), lease("shard-0", "pod-a", 16 * SECOND)];
  assert.deepEqual(shardCrews([other, ...old], NOW), []);
  assert.equal(
    shardCrews([...old, lease("replica-b", "pod-b", 0, "slipway-2"), lease("shard-0", "pod-b", 0, "slipway-2")], NOW)
      .length,
    1,
  );
});
