import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog, rfc3339Micro, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient } from "@slipway/kube";
import { Lease } from "@slipway/kube/core";
import { metal3Operator } from "./metal3-operator.ts";

test("Metal3's operator is there while its Lease is renewed, in whatever namespace; each look is good for a minute", async (t) => {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log: quietLog });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log: quietLog });
  const isThere = metal3Operator();
  assert.equal(await isThere({ client, clock }), false);

  const metadata = { name: "baremetal-operator", namespace: "default" };
  const spec = { holderIdentity: "pod-1", leaseDurationSeconds: 15, renewTime: rfc3339Micro(clock.now()) };
  await client.create(Lease, { metadata, spec });
  assert.equal(await isThere({ client, clock }), false, "the look of before");
  await clock.run(59_000);
  assert.equal(await isThere({ client, clock }), false);
  await client.patch(Lease, metadata, { type: "merge", body: { spec: { renewTime: rfc3339Micro(clock.now()) } } });
  await clock.run(2_000);
  assert.equal(await isThere({ client, clock }), true);

  await clock.run(61_000);
  assert.equal(await isThere({ client, clock }), false, "nobody renews it");
});

test("a Lease that nobody holds, or never renewed, says nothing of an operator", async (t) => {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log: quietLog });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log: quietLog });
  const renewTime = rfc3339Micro(clock.now());
  for (const [namespace, spec] of [
    ["default", { renewTime }],
    ["kube-system", { holderIdentity: "pod-1" }],
  ] as const)
    await client.create(Lease, { metadata: { name: "baremetal-operator", namespace }, spec });
  assert.equal(await metal3Operator()({ client, clock }), false);
});
