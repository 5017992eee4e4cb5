import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { IPAddressV1beta1 } from "./ip-address.ts";
import { IPAddressClaimV1beta1 } from "./ip-address-claim.ts";

type Whole = KubeObject & { spec: object; status?: object };
const metadata = { namespace: "default", name: "a" } as KubeObject["metadata"];
const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "berths" };
const lastTransitionTime = "2026-01-01T00:00:00Z";
const old = { type: "Ready", status: "True", lastTransitionTime };
const today = { ...old, reason: "Ready", message: "" };

test("a claim's conditions of both eras are read in both versions, and nothing is lost", () => {
  const before: Whole = {
    ...{ apiVersion: "ipam.cluster.x-k8s.io/v1beta1", kind: "IPAddressClaim", metadata },
    spec: { clusterName: "quay", poolRef },
    status: { addressRef: { name: "a" }, conditions: [old], v1beta2: { conditions: [today] } },
  };
  const { toStored, fromStored } = IPAddressClaimV1beta1.conversion!;
  const stored = toStored(before);
  assert.deepEqual((stored as Whole).spec, before.spec);
  assert.deepEqual((stored as Whole).status, {
    addressRef: { name: "a" },
    conditions: [today],
    deprecated: { v1beta1: { conditions: [old] } },
  });
  assert.deepEqual(fromStored(stored), before);
});

test("an address is the same in both versions", () => {
  const before: Whole = {
    ...{ apiVersion: "ipam.cluster.x-k8s.io/v1beta1", kind: "IPAddress", metadata },
    spec: { claimRef: { name: "a" }, poolRef, address: "10.0.0.2", prefix: 24, gateway: "10.0.0.1" },
  };
  const { toStored, fromStored } = IPAddressV1beta1.conversion!;
  assert.deepEqual((toStored(before) as Whole).spec, before.spec);
  assert.deepEqual(fromStored(toStored(before)), before);
});
