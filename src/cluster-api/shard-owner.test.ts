import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cache, KubeObject } from "@slipway/kube";
import { Machine } from "../kinds/cluster-api/machine.ts";
import { PacketMachine } from "../kinds/packet/packet-machine.ts";
import { byClusterName, byClusterOf, withCluster } from "./shard-owner.ts";

const REF = { namespace: "port", name: "m" };
const QUAY = "cluster/port/quay";

/** A cache with one object, or none. */
const cacheWith = (object?: object): Cache => ({ get: () => object as KubeObject | undefined }) as unknown as Cache;

test("a Cluster, its Machines and the objects of its providers stay together", () => {
  assert.equal(withCluster({ namespace: "port", name: "quay" }), QUAY);
  assert.equal(byClusterName(Machine)(REF, cacheWith({ spec: { clusterName: "quay" } })), QUAY);
  const labels = { "cluster.x-k8s.io/cluster-name": "quay" };
  const ownerReferences = [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "quay", uid: "u" }];
  for (const more of [{ labels }, { ownerReferences }])
    assert.equal(byClusterOf(PacketMachine)(REF, cacheWith({ metadata: { ...REF, ...more } })), QUAY);
});

test("what names no Cluster, or is gone, stays by itself", () => {
  for (const cache of [cacheWith(), cacheWith({ metadata: REF })])
    assert.equal(byClusterOf(PacketMachine)(REF, cache), "packetmachines/port/m");
});
