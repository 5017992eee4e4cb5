/** What a Vino that is being deleted reports, and when it is let go. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { type Context, conditionOf, controllerReference, createClient, DONE } from "@slipway/kube";
import { FakeApi } from "@slipway/kube/testing";
import { Vino } from "../../kinds/vino/vino.ts";
import { VinoNode } from "../../kinds/vino/vino-node.ts";
import { FINALIZER, VINO_NAME, VINO_NAMESPACE } from "./names.ts";
import { vinoController } from "./vino-controller.ts";

const REF = { namespace: "ns", name: "rack" };

/** A Vino that is being deleted, and the VinoNodes that are left of it; each waits for what is given. */
async function leaving(waits: readonly (string | undefined)[], finalizers = [FINALIZER, "example.com/hold"]) {
  const api = new FakeApi();
  const nodes = () => [...api.objects].flatMap(([path, object]) => (path.includes("/vinonodes/") ? [object] : []));
  const list = () => ({ kind: "List", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: nodes() });
  api.intercept = ({ method, path }) =>
    method === "GET" && path.endsWith("/vinonodes") ? { status: 200, headers: {}, body: list() } : undefined;
  const client = createClient(api, { clock: systemClock, random: cryptoRandom, log: quietLog });
  const made = await client.create(Vino, { metadata: { ...REF, generation: 1, finalizers }, spec: {} } as never);
  for (const [at, waitingFor] of waits.entries())
    await client.create(VinoNode, {
      metadata: {
        ...{ namespace: "ns", name: `v${at}`, labels: { [VINO_NAME]: "rack", [VINO_NAMESPACE]: "ns" } },
        ownerReferences: [controllerReference(Vino, made)],
      },
      spec: { nodeName: `n${at}`, networks: [], domains: [] },
      ...(waitingFor !== undefined && { status: { operator: { waitingFor } } }),
    } as never);
  const vino = { ...made, metadata: { ...made.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const context = {
    ...{ client, clock: { now: () => 0 }, clean: <T>(value: T): T => value, cache: { get: () => vino } },
  } as unknown as Context;
  const outcome = await vinoController("ns").reconcile(REF, context);
  const after = await client.get(Vino, REF);
  return { outcome, finalizers: after.metadata.finalizers, ready: conditionOf(after.status?.conditions, "Ready") };
}

test("VINO-6 a Vino that is being deleted reports how many nodes are left, and what the first one waits for", async () => {
  const { outcome, finalizers, ready } = await leaving(["host a to be wiped", undefined]);
  assert.deepEqual(outcome, { againAfterMs: 60_000 });
  assert.deepEqual(finalizers, [FINALIZER, "example.com/hold"]);
  assert.deepEqual([ready?.status, ready?.reason], ["False", "Progressing"]);
  assert.equal(ready?.message, "being deleted; waits for 2 nodes to be given back: n0: host a to be wiped");
  assert.match((await leaving([undefined])).ready?.message ?? "", /1 nodes to be given back: n0: to be given back$/);
});

test("VINO-6 a Vino of which no node is left is let go, and one that others hold is not looked at", async () => {
  const gone = await leaving([]);
  assert.deepEqual([gone.outcome, gone.finalizers], [DONE, ["example.com/hold"]]);
  const others = await leaving(["a"], ["example.com/hold"]);
  assert.deepEqual([others.outcome, others.ready], [DONE, undefined]);
});
