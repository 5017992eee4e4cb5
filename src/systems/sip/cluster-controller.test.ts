import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cache } from "@slipway/kube";
import { sipClusterController } from "./cluster-controller.ts";

test("each SIPCluster is an owner of its own, so that replicas share them out, and names in several namespaces stay apart", () => {
  const { owner } = sipClusterController();
  const owners = [
    { namespace: "a", name: "quay" },
    { namespace: "a", name: "dock" },
    { namespace: "b", name: "quay" },
  ].map((ref) => owner?.(ref, {} as Cache));
  assert.deepEqual(owners, ["sipclusters/a/quay", "sipclusters/a/dock", "sipclusters/b/quay"]);
});
