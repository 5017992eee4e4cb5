import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, OwnerReference } from "@slipway/kube";
import { LABELS } from "../../cluster-api/names.ts";
import { inBatches } from "../in-batches.ts";
import { missingIdentity } from "./identity.ts";
import { claimPatch } from "./ownership.ts";
import { machine } from "./testing.ts";

const owner: OwnerReference = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Machine", name: "m", uid: "u" };
const set: OwnerReference = { ...owner, kind: "MachineSet", name: "s", uid: "s" };
const labels = { [LABELS.clusterName]: "quay" };
const object = (ownerReferences: OwnerReference[], of: object = labels): KubeObject =>
  machine("o", { metadata: { ownerReferences, labels: of as Record<string, string> } });

test("a provider's object becomes its owner's once, under its version; other owners stay", () => {
  const of = { owner, cluster: "quay" };
  assert.equal(claimPatch(object([set, owner]), of), undefined);
  assert.deepEqual(claimPatch(object([set]), of), {
    metadata: { resourceVersion: "1", ownerReferences: [set, owner], labels },
  });
  const patched = (held: KubeObject, by: Parameters<typeof claimPatch>[1] = of) =>
    (claimPatch(held, by) as { metadata: { ownerReferences: OwnerReference[] } } | undefined)?.metadata.ownerReferences;
  assert.deepEqual(patched(object([{ ...owner, controller: true }])), [owner]);
  assert.deepEqual(patched(object([{ ...owner, apiVersion: "cluster.x-k8s.io/v1beta1" }])), [owner]);
  assert.deepEqual(patched(object([owner], {})), [owner], "the label is missing");
  assert.deepEqual(patched(machine("bare")), [owner]);
});

test("a set that made an object makes place for the Machine", () => {
  const of = { owner, cluster: "quay", instead: ["MachineSet"] };
  assert.deepEqual(claimPatch(object([set, owner]), of), {
    metadata: { resourceVersion: "1", ownerReferences: [owner], labels },
  });
  assert.equal(claimPatch(object([owner]), of), undefined);
});

test("a template that two clusters share gets both as owners and no label: neither takes it from the other", () => {
  const [one, other] = [owner, { ...owner, name: "n", uid: "v" }];
  const both = object([one, other], {});
  assert.deepEqual(claimPatch(object([one], {}), { owner: other }), {
    metadata: { resourceVersion: "1", ownerReferences: [one, other] },
  });
  assert.deepEqual([claimPatch(both, { owner: one }), claimPatch(both, { owner: other })], [undefined, undefined]);
});

test("finalizer, labels and owner of an object of the core's are put there where they are missing", () => {
  const wanted = { finalizer: "f", labels: { a: "1" }, owner };
  const whole = machine("m", { metadata: { finalizers: ["f"], labels: { a: "1", b: "2" }, ownerReferences: [owner] } });
  assert.equal(missingIdentity(whole, wanted), undefined);
  assert.deepEqual(missingIdentity(machine("m", { metadata: { finalizers: ["other"], labels: { a: "0" } } }), wanted), {
    resourceVersion: "1",
    finalizers: ["other", "f"],
    labels: { a: "1" },
    ownerReferences: [owner],
  });
  const old = { ...owner, apiVersion: "cluster.x-k8s.io/v1beta1" };
  const outdated = machine("m", { metadata: { ...whole.metadata, ownerReferences: [old, set] } });
  assert.deepEqual(missingIdentity(outdated, wanted), { resourceVersion: "1", ownerReferences: [set, owner] });
  const more = machine("m", { metadata: { ...whole.metadata, ownerReferences: [{ ...owner, controller: true }] } });
  assert.equal(missingIdentity(more, wanted), undefined, "a reference that says more is enough");
  assert.equal(
    missingIdentity(machine("m", { metadata: { finalizers: ["f"] } }), { ...wanted, labels: {}, owner: undefined }),
    undefined,
  );
});

test("work is done in batches; the first failure ends it when its batch is over", async () => {
  let running = 0;
  let most = 0;
  const done: number[] = [];
  const work = async (item: number): Promise<number> => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    if (item === 3) throw new Error("three");
    done.push(item);
    return item * 10;
  };
  assert.deepEqual(await inBatches([1, 2, 4, 5, 6], 2, work), [10, 20, 40, 50, 60]);
  assert.equal(most, 2);
  done.length = 0;
  await assert.rejects(inBatches([1, 3, 2, 4], 3, work), /three/);
  assert.deepEqual(done, [1, 2]);
});
