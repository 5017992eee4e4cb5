import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { ExternalObjects } from "./external-objects.ts";
import { mirrored, mirroredOld, see } from "./mirror.ts";
import { is, seen } from "./testing.ts";

const rules = { type: "InfrastructureReady", of: "Ready", isGood: false, message: "not provisioned", wasThere: false };
const old = { type: "InfrastructureReady", isGood: false, message: "not provisioned", reason: "Waiting" };
const by = { who: "Machine/default/m", wake: () => {} };
const answering = (read: () => unknown) => ({ read }) as unknown as ExternalObjects;
const reference = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "SimMachine", name: "m" };

test("what a provider's object says is repeated; without a word of it, whether it is good counts", () => {
  const saying = (condition: object[]) => seen("SimMachine", { status: { conditions: condition } });
  assert.deepEqual(mirrored(saying([is("Ready", "False", { reason: "Burnt", message: "smoke" })]), rules), {
    ...{ type: "InfrastructureReady", status: "False", reason: "Burnt", message: "smoke" },
  });
  assert.equal(mirrored(saying([is("Ready", "True", { reason: "" })]), rules).reason, "Ready");
  assert.equal(mirrored(saying([is("Ready", "Unknown", { reason: "" })]), rules).reason, "NotReady");
  assert.deepEqual(mirrored(saying([]), rules), {
    ...{ type: "InfrastructureReady", status: "False", reason: "NotReady", message: "not provisioned" },
  });
  assert.deepEqual(mirrored(saying([]), { ...rules, isGood: true, reasons: { good: "Fine", bad: "Bad" } }), {
    ...{ type: "InfrastructureReady", status: "True", reason: "Fine", message: "" },
  });
});

test("an object that is gone is called deleted where it was there, else why there is none", () => {
  assert.deepEqual(mirrored(seen("SimMachine"), rules), {
    ...{
      type: "InfrastructureReady",
      status: "False",
      reason: "ObjectDoesNotExist",
      message: "SimMachine m does not exist",
    },
  });
  assert.deepEqual(mirrored(seen("SimMachine"), { ...rules, wasThere: true }), {
    ...{
      type: "InfrastructureReady",
      status: "False",
      reason: "ObjectDeleted",
      message: "SimMachine has been deleted",
    },
  });
});

test("the condition of v1beta1 repeats Ready of v1beta1, from wherever the object has it", () => {
  const ready = (of: object) => [{ type: "Ready", ...of }];
  const here = (of: object) => seen("SimMachine", { status: { conditions: ready(of) } });
  const there = (of: object) => seen("SimMachine", { status: { deprecated: { v1beta1: { conditions: ready(of) } } } });
  const type = "InfrastructureReady";
  assert.deepEqual(mirroredOld(here({ status: "True" }), old), { type, status: "True" });
  assert.deepEqual(mirroredOld(there({ status: "False", severity: "Error", reason: "Burnt", message: "smoke" }), old), {
    ...{ type, status: "False", severity: "Error", reason: "Burnt", message: "smoke" },
  });
  assert.deepEqual(mirroredOld(here({ status: "False" }), old), {
    type,
    status: "False",
    severity: "Info",
    reason: "Waiting",
  });
  assert.deepEqual(mirroredOld(here({ status: "Unknown", reason: "Lost" }), old), {
    type,
    status: "Unknown",
    reason: "Lost",
  });
  assert.deepEqual(mirroredOld(seen("SimMachine", {}), { ...old, isGood: true }), { type, status: "True" });
  const bad = { type, status: "False", severity: "Info", reason: "Waiting" };
  assert.deepEqual(mirroredOld(seen("SimMachine", {}), old), { ...bad, message: "not provisioned" });
  assert.deepEqual(mirroredOld(seen("SimMachine"), old), { ...bad, message: "SimMachine m does not exist" });
});

test("what a user can mend about a reference is a reason, everything else is an error", async () => {
  const kind = seen("SimMachine").kind;
  const found = await see(
    answering(async () => ({ kind, object: undefined })),
    reference,
    "default",
    by,
  );
  assert.deepEqual([found.object, found.because], [undefined, "SimMachine m does not exist"]);
  const failing = (code: "NotFound" | "Invalid" | "Forbidden") =>
    see(
      answering(async () => {
        throw new Fault(code, "SimMachine", "no label", { remedy: "label it" });
      }),
      reference,
      "default",
      by,
    );
  for (const code of ["NotFound", "Invalid"] as const)
    assert.match((await failing(code)).because, /no label.*label it/s, code);
  await assert.rejects(failing("Forbidden"), /no label/);
});

test("a kind that upstream's core alone serves is refused by name, and not looked for", async () => {
  let reads = 0;
  const external = answering(async () => ({ kind: undefined, object: void reads++ }));
  const pool = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "KubeadmControlPlane", name: "m" };
  assert.match((await see(external, pool, "default", by)).because, /KubeadmControlPlane is served by upstream's/);
  await see(external, { ...pool, apiGroup: "example.com" }, "default", by);
  assert.equal(reads, 1);
});
