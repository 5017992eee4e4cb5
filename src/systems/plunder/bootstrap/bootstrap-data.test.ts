import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { Journal } from "../../../machines/lifecycle.ts";
import { needsToken } from "./bootstrap-data.ts";

const owner = (dataSecretName: string) => ({ spec: { bootstrap: { dataSecretName } } }) as unknown as Machine;
const cluster = (status: object) => ({ status }) as unknown as Cluster;
const ORDERED = { purchase: { state: "Made" } } as unknown as Journal;
const INITIALIZED = cluster({ initialization: { controlPlaneInitialized: true } });

test("N39 a machine's token is kept under upstream's core, too, which says by a condition alone that the control plane has begun", () => {
  const byCondition = cluster({ conditions: [{ type: "ControlPlaneInitialized", status: "True" }] });
  for (const begun of [INITIALIZED, byCondition])
    assert.equal(needsToken({ owner: owner(""), cluster: begun }, ORDERED), true);
  assert.equal(needsToken({ owner: owner(""), cluster: cluster({}) }, ORDERED), false, "there is nothing to join");
});

test("N39 no token is made for a machine whose data are its own, or before a host is ordered", () => {
  assert.equal(needsToken({ owner: owner("given"), cluster: INITIALIZED }, ORDERED), false);
  assert.equal(needsToken({ owner: owner(""), cluster: INITIALIZED }, { purchase: undefined } as Journal), false);
});
