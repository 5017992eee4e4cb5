import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cache } from "@slipway/kube";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import { ownDataGate } from "./bootstrap-data.ts";

const cache = { list: () => [] } as unknown as Cache;
const owner = { metadata: { name: "worker" }, spec: { bootstrap: { dataSecretName: "" } } } as unknown as Machine;

/** What a worker waits for, with this status of its Cluster. */
function waits(status: object): string | undefined {
  const spec = { controlPlaneEndpoint: { host: "192.168.1.123", port: 6443 } };
  const cluster = { metadata: { name: "c" }, spec, status } as unknown as Cluster;
  return ownDataGate(cache, { owner, cluster })?.reason;
}

test("N39 a worker waits until the control plane has a Node, whether the core says so by a field or by a condition", () => {
  const condition = (status: string) => ({ conditions: [{ type: "ControlPlaneInitialized", status }] });
  assert.equal(waits({}), "WaitingForControlPlane");
  assert.equal(waits(condition("False")), "WaitingForControlPlane");
  assert.equal(waits({ initialization: { infrastructureProvisioned: true }, ...condition("True") }), undefined);
  assert.equal(waits({ initialization: { controlPlaneInitialized: true } }), undefined);
});
