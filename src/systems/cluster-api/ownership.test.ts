import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { KubeObject, OwnerReference } from "@slipway/kube";
import { LABELS } from "../../cluster-api/names.ts";
import { Machine as MachineKind } from "../../kinds/cluster-api/machine.ts";
import { inBatches } from "../in-batches.ts";
import { missingIdentity } from "./identity.ts";
import { claim, claimPatch } from "./ownership.ts";
import { holding, machine } from "./testing.ts";

const owner: OwnerReference = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Machine", name: "m", uid: "u" };
const set: OwnerReference = { ...owner, kind: "MachineSet", name: "s", uid: "s" };
const labels = { [LABELS.clusterName]: "quay" };
const object = (ownerReferences: OwnerReference[], of: object = labels): KubeObject =>
  machine("o", { metadata: { ownerReferences, labels: of as Record<string, string> } });

const patch = (...operations: object[]) => ({
  type: "json",
  body: [{ op: "test", path: "/metadata/uid", value: "uid-o" }, ...operations],
});
const replaced = (before: OwnerReference[], after: OwnerReference[]) => [
  { op: "test", path: "/metadata/ownerReferences", value: before },
  { op: "replace", path: "/metadata/ownerReferences", value: after },
];
const added = (value: OwnerReference) => ({ op: "add", path: "/metadata/ownerReferences/-", value });

test("a provider's object becomes its owner's once; other owners stay, whoever they are by then", () => {
  const of = { owner, cluster: "quay" };
  assert.equal(claimPatch(object([set, owner]), of), undefined);
  assert.deepEqual(claimPatch(object([set]), of), patch(added(owner)));
  for (const old of [
    { ...owner, controller: true },
    { ...owner, apiVersion: "cluster.x-k8s.io/v1beta1" },
  ])
    assert.deepEqual(claimPatch(object([set, old]), of), patch(...replaced([set, old], [set, owner])));
  const label = { op: "add", path: "/metadata/labels/cluster.x-k8s.io~1cluster-name", value: "quay" };
  const unlabelled = object([owner], { other: "1" });
  assert.deepEqual(claimPatch(unlabelled, of), patch(...replaced([owner], [owner]), label));
  assert.deepEqual(claimPatch(object([set], { other: "1" }), of), patch(added(owner), label));
});

test("the first owner and the first label are written under the object's version", () => {
  const of = { owner, cluster: "quay" };
  const first = { type: "merge", body: { metadata: { resourceVersion: "1", ownerReferences: [owner], labels } } };
  assert.deepEqual(claimPatch(object([]), of), first);
  assert.deepEqual(claimPatch(machine("bare", { metadata: { ownerReferences: [owner] } }), of), first);
  const { labels: _, ...bare } = first.body.metadata;
  assert.deepEqual(claimPatch(object([]), { owner }), { type: "merge", body: { metadata: bare } });
});

test("a set that made an object makes place for the Machine", () => {
  const of = { owner, cluster: "quay", instead: ["MachineSet"] };
  assert.deepEqual(claimPatch(object([set, owner]), of), patch(...replaced([set, owner], [owner])));
  assert.equal(claimPatch(object([owner]), of), undefined);
});

test("a template that two clusters share gets both as owners and no label: neither takes it from the other", () => {
  const [one, other] = [owner, { ...owner, name: "n", uid: "v" }];
  const both = object([one, other], {});
  assert.deepEqual(claimPatch(object([one], {}), { owner: other }), patch(added(other)));
  assert.deepEqual([claimPatch(both, { owner: one }), claimPatch(both, { owner: other })], [undefined, undefined]);
});

test("a claim that meets other owners than were seen is a lost race; one that is refused for another reason is not", async () => {
  const held = holding(object([set]));
  const of = { owner, cluster: "quay", instead: ["MachineSet"] };
  held.faults.set("patch Machine", new Fault("Invalid", "Machine/o", "testing path failed"));
  await assert.rejects(claim(held.client, MachineKind, object([set]), of), { code: "Invalid" });
  for (const now of [
    object([set, { ...owner, uid: "x" }]),
    { ...object([set]), metadata: { ...object([set]).metadata, uid: "new" } },
  ]) {
    held.put(now);
    await assert.rejects(claim(held.client, MachineKind, object([set]), of), { code: "Conflict" });
  }
  held.faults.set("patch Machine", new Fault("Forbidden", "Machine/o", "no right"));
  await assert.rejects(claim(held.client, MachineKind, object([set]), of), { code: "Forbidden" });
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
