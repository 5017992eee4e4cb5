/** One pass over one Machine: what it writes, and when it looks again though nothing happens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { KubeObject, Outcome, Ref } from "@slipway/kube";
import { FINALIZERS } from "../../../cluster-api/names.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import { MachineInterests } from "../machine-interests.ts";
import type { CoreParts } from "../parts.ts";
import {
  ago,
  cluster,
  contextOver,
  externalOver,
  type Held,
  holding,
  is,
  machine,
  NOW,
  node,
  seen,
} from "../testing.ts";
import { machineController } from "./machine-controller.ts";

const REF: Ref = { namespace: "default", name: "m" };
const UP = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } };
const HEALTHY = [
  is("Ready", "True"),
  ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => is(type, "False")),
];

/** A workload cluster that answers, with this Node. */
const answering = (held: Held, of: KubeObject) => ({ client: held.client, isReached: true, nodesBy: () => [of] });
/** One that has not answered since then. */
const silent = (lostAt: number) => ({ client: undefined, isReached: false, lostAt, why: "it is off" });

function pass(object: Machine, { held = holding(), workload = silent(NOW) as object } = {}) {
  const infrastructure = seen("SimMachine", {
    ...{ spec: { providerID: "sim://1" }, status: { initialization: { provisioned: true } } },
  }).object!;
  held.put(object, infrastructure);
  const quay = cluster({ status: UP });
  const cache = {
    get: (of: { kind: string }) => ({ Machine: object, Cluster: quay })[of.kind as "Machine"],
    list: () => [quay],
  };
  const parts = {
    foreign: { found: async () => undefined },
    workloads: { of: () => workload, onChange: () => () => {} },
    external: { ...externalOver(held), forget() {}, missingMs: 1 },
    interests: new MachineInterests(),
  } as unknown as CoreParts;
  const context = { ...contextOver(held).context, cache } as never;
  const outcome: Promise<Outcome> = machineController(parts).reconcile(REF, context);
  return { held, outcome };
}

const known = (of: object = {}) => ({
  metadata: { finalizers: [FINALIZERS.machine], ...of },
  spec: { providerID: "sim://1" },
});
const conditionsIn = (held: Held): string[] =>
  (
    held.bodies.get("status Machine/m") as { conditions: { type: string; status: string; reason: string }[] }
  ).conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);

test("a Machine that was never paused says so with its first status; one that is no longer paused at once, and nothing else is done", async () => {
  const written = async (of: object) => {
    const { held, outcome } = pass(machine("m", { ...known(), ...of }));
    await outcome;
    assert.equal(held.asked.filter((line) => line.startsWith("status")).length, 1);
    return conditionsIn(held);
  };
  const first = await written({});
  for (const condition of ["Paused False NotPaused", "InfrastructureReady True Ready"])
    assert.ok(first.includes(condition), condition);
  const paused = { status: { conditions: [is("Paused", "True", { reason: "Paused" })] } };
  assert.deepEqual(await written(paused), ["Paused False NotPaused"]);
});

test("a Machine is looked at again when it becomes available, and when its cluster has been silent for five minutes", async () => {
  const there = (minReadySeconds: number) => {
    const own = node("m", { spec: { providerID: "sim://1" }, status: { conditions: HEALTHY } });
    const held = holding(own);
    const workload = answering(held, own);
    return pass(machine("m", { ...known(), spec: { ...known().spec, minReadySeconds } }), { held, workload }).outcome;
  };
  assert.deepEqual(await there(10), { againAfterMs: 10_000 });
  assert.deepEqual(await there(0), { done: true });
  const silentFor = (ms: number) => pass(machine("m", known()), { workload: silent(NOW - ms) }).outcome;
  assert.deepEqual(await silentFor(60_000), { againAfterMs: 240_000 });
  assert.deepEqual(await silentFor(300_000), { done: true });
});

test("a deletion that fails says what it failed with, and fails", async () => {
  const held = holding();
  held.faults.set("delete SimMachine", new Fault("Internal", "SimMachine/m", "the provider is out of order"));
  const leaving = machine("m", known({ deletionTimestamp: ago(1) }));
  await assert.rejects(pass(leaving, { held }).outcome, /out of order/);
  assert.ok(conditionsIn(held).includes("Deleting True InternalError"), conditionsIn(held).join());
});
