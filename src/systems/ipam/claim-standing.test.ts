import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cache } from "@slipway/kube";
import type { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { hasAddress, isTold, mayBeReleased, mayBeServed } from "./claim-standing.ts";
import { claimStatus } from "./claim-status.ts";
import { FINALIZERS } from "./names.ts";

const claimOf = (spec: object = {}, metadata: object = {}, status?: object): IPAddressClaim =>
  ({
    metadata: { namespace: "shop", name: "w1", uid: "u-1", ...metadata },
    spec,
    ...(status && { status }),
  }) as unknown as IPAddressClaim;
const cacheOf = (objects: Record<string, object> = {}) =>
  ({ get: ({ kind }: { kind: string }) => objects[kind] }) as unknown as Cache;
const PAUSED = { annotations: { "cluster.x-k8s.io/paused": "" } };
const Cluster = (spec: object = {}) => cacheOf({ Cluster: { metadata: { name: "c" }, spec } });

test("a claim is served where its Cluster is there, and nothing is paused", () => {
  const named = claimOf({ clusterName: "c" });
  assert.equal(mayBeServed(cacheOf(), claimOf()), true);
  assert.equal(mayBeServed(cacheOf(), claimOf({}, PAUSED)), false);
  assert.equal(mayBeServed(cacheOf(), named), false, "its Cluster may come yet");
  assert.equal(mayBeServed(Cluster(), named), true);
  assert.equal(mayBeServed(Cluster({ paused: true }), named), false);
});

test("a claim that is deleted is released even without its Cluster, unless it is paused or nothing of ours", () => {
  const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [FINALIZERS.claim] };
  const named = (metadata: object) => claimOf({ clusterName: "c" }, metadata);
  assert.equal(mayBeReleased(cacheOf(), named(leaving)), true);
  assert.equal(mayBeReleased(Cluster({ paused: true }), named(leaving)), false);
  assert.equal(mayBeReleased(cacheOf(), named({ ...leaving, ...PAUSED })), false);
  assert.equal(mayBeReleased(cacheOf(), named({ ...leaving, finalizers: ["other/x"] })), false);
  assert.equal(mayBeReleased(cacheOf(), named({ finalizers: [FINALIZERS.claim] })), false);
});

test("a claim has the IPAddress of its name that it owns, and not that of an earlier claim", () => {
  const address = (uid: string) =>
    cacheOf({ IPAddress: { metadata: { ownerReferences: [{ kind: "IPAddressClaim", uid, controller: true }] } } });
  assert.deepEqual(
    [cacheOf(), address("u-0"), address("u-1")].map((cache) => hasAddress(cache, claimOf())),
    [false, false, true],
  );
});

test("a claim's status names its address, or why there is none, in the conditions of both eras", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const claim = claimOf({}, { generation: 3 });
  const message = "no address of it is free";
  const without = claimStatus(claim, { reason: "PoolExhausted", message }, now);
  const at = { lastTransitionTime: "2026-01-01T00:00:00Z" };
  assert.deepEqual(without, {
    conditions: [{ type: "Ready", status: "False", reason: "PoolExhausted", message, observedGeneration: 3, ...at }],
    deprecated: {
      v1beta1: {
        conditions: [{ type: "Ready", status: "False", severity: "Error", reason: "PoolExhausted", message, ...at }],
      },
    },
  });
  assert.equal(isTold(claimOf({}, {}, without)), false);
  const status = claimStatus(claimOf({}, {}, without), { address: "10.0.0.9" }, now + 60_000);
  assert.deepEqual(status.addressRef, { name: "w1" });
  const [ready] = status.conditions!;
  assert.deepEqual(
    [ready?.status, ready?.observedGeneration, ready?.lastTransitionTime],
    [...["True", 1, "2026-01-01T00:01:00Z"]],
  );
  const [old] = status.deprecated!.v1beta1!.conditions!;
  assert.deepEqual([old?.status, old?.severity, old?.message], ["True", undefined, undefined]);
  assert.equal(isTold(claimOf({}, {}, status)), true);
  // A status without the name of the address is not finished: the claim is written again.
  const { addressRef: _, ...unnamed } = status;
  assert.equal(isTold(claimOf({}, {}, unnamed)), false);
});
