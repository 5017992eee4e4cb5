/** The steps of a Machine's deletion: each waits for what it must, says for what, and comes in its turn. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { type KubeObject, StatusRecord } from "@slipway/kube";
import { ANNOTATIONS, FINALIZERS, LABELS } from "../../../cluster-api/names.ts";
import { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { Seen } from "../mirror.ts";
import type { CoreParts } from "../parts.ts";
import { ago, cluster, contextOver, type Held, holding, is, machine, node, seen } from "../testing.ts";
import { deleteMachine, deleteObject } from "./deletion.ts";
import type { NodeSeen } from "./machine-status.ts";

const SECONDS = 1000;

interface Scene {
  machine?: Parameters<typeof machine>[1];
  node?: NodeSeen;
  isReached?: boolean;
  infrastructure?: Seen;
  bootstrap?: Seen;
  inWorkload?: KubeObject[];
}

/** A worker that is leaving, with a Node in a workload cluster that answers; `step`: one pass of its deletion. */
function scene(of: Scene = {}) {
  const { metadata, ...more } = of.machine ?? {};
  const leaving = machine("m", {
    status: { nodeRef: { name: "n" } },
    ...more,
    metadata: { finalizers: [FINALIZERS.machine], deletionTimestamp: ago(5), ...metadata },
  });
  const plane = machine("plane", { metadata: { labels: { [LABELS.controlPlane]: "" } } });
  const { infrastructure = seen("SimMachine", {}) } = of;
  const held = holding(leaving, ...(infrastructure.object ? [infrastructure.object] : []));
  const workload = holding(node("n"), ...(of.inWorkload ?? []));
  const { context, clock, noted } = contextOver(held);
  const cache = { list: () => [leaving, plane] };
  const session =
    of.isReached === false ? { isReached: false, why: "refused" } : { isReached: true, client: workload.client };
  const parts = { workloads: { of: () => session } } as unknown as CoreParts;
  const record = new StatusRecord(context, Machine, leaving);
  const step = () =>
    deleteMachine(parts, { ...context, cache } as never, {
      record,
      cluster: cluster(),
      node: of.node ?? { is: "there", node: node("n") },
      infrastructure,
      bootstrap: of.bootstrap,
      by: { who: "Machine/default/m", wake() {} },
    });
  const status = () => (record.object.status ?? {}) as { deletion?: Record<string, string> };
  return { held, workload, step, status, noted, clock };
}

const finalizers = (held: Held) => held.get("Machine", "m")?.metadata.finalizers;
const pod = (name: string, metadata: object = {}): KubeObject =>
  ({
    ...{ apiVersion: "v1", kind: "Pod", spec: { nodeName: "n" } },
    metadata: {
      name,
      namespace: "default",
      uid: name,
      ownerReferences: [{ controller: true, kind: "X" }],
      ...metadata,
    },
  }) as unknown as KubeObject;
const attachment = (name: string, nodeName: string): KubeObject =>
  ({ apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment", metadata: { name }, spec: { nodeName } }) as never;

test("hooks hold it before the drain, and before the infrastructure goes, since when is noted", async () => {
  const annotations = { [`${ANNOTATIONS.preDrainHook}/b`]: "", [`${ANNOTATIONS.preDrainHook}/a`]: "" };
  const drained = scene({ machine: { metadata: { annotations } } });
  const waits = await drained.step();
  assert.equal(waits?.reason, "WaitingForPreDrainHook");
  assert.match(waits!.message, /^Waiting for pre-drain hooks to complete \(hooks: \S+\/b, \S+\/a\)$/);
  assert.equal(drained.status().deletion?.waitForPreDrainHookStartTime, ago(0));
  assert.deepEqual(drained.workload.asked, []);
  await drained.clock.run(5 * SECONDS);
  await drained.step();
  assert.equal(drained.status().deletion?.waitForPreDrainHookStartTime, ago(0), "it is noted once");

  const terminated = scene({ machine: { metadata: { annotations: { [`${ANNOTATIONS.preTerminateHook}/a`]: "" } } } });
  const later = await terminated.step();
  assert.equal(later?.reason, "WaitingForPreTerminateHook");
  assert.match(later!.message, /^Waiting for pre-terminate hooks/);
  assert.deepEqual(terminated.workload.asked, ["patch Node/n"], "it was drained");
  assert.deepEqual(Object.keys(terminated.status().deletion!), [
    ...["nodeDrainStartTime", "waitForNodeVolumeDetachStartTime", "waitForPreTerminateHookStartTime"],
  ]);
});

test("a Node is drained of all that a user has not left out, and of the rest it is said how many and which", async () => {
  const inWorkload = [pod("a"), pod("b"), pod("left", { labels: { [LABELS.drain]: "skip" } })];
  const { step, workload, status } = scene({ inWorkload });
  workload.faults.set("evict Pod", new Fault("Throttled", "a", "budget"));
  const waits = await step();
  assert.equal(waits?.reason, "DrainingNode");
  assert.match(waits!.message, /^Draining Node n: 2 Pods left, waiting for /);
  assert.equal(waits?.againAfterMs, 20 * SECONDS);
  assert.equal(status().deletion?.nodeDrainStartTime, ago(0));
});

test("Pods of a lost Node that were asked to end a second ago are not waited for", async () => {
  const lost = node("n", { status: { conditions: [is("Ready", "Unknown")] } });
  for (const [since, isLeft] of [
    [ago(2), true],
    [ago(1), false],
  ] as const) {
    const inWorkload = [pod("a", { deletionTimestamp: since })];
    const { step } = scene({ node: { is: "there", node: lost }, inWorkload });
    assert.equal((await step())?.reason, isLeft ? "WaitingForInfrastructureDeletion" : "DrainingNode", since);
    const seenNode = scene({ inWorkload });
    assert.equal((await seenNode.step())?.reason, "DrainingNode", "a Node that answers ends its Pods itself");
  }
});

test("a workload cluster that does not answer is waited for in each step, and said with why", async () => {
  const silent = scene({ isReached: false });
  assert.deepEqual(await silent.step(), {
    reason: "DrainingNode",
    message: "Draining Node n: the workload cluster does not answer: refused",
    againAfterMs: 20 * SECONDS,
  });
  const volumes = scene({
    isReached: false,
    machine: { metadata: { annotations: { [ANNOTATIONS.excludeDrain]: "" } } },
  });
  assert.deepEqual(await volumes.step(), {
    reason: "WaitingForVolumeDetach",
    message: "the workload cluster does not answer: refused",
    againAfterMs: 20 * SECONDS,
  });
  const both = { [ANNOTATIONS.excludeDrain]: "", [ANNOTATIONS.excludeVolumeWait]: "" };
  const last = scene({
    ...{ isReached: false, infrastructure: seen("SimMachine") },
    machine: { metadata: { annotations: both } },
  });
  assert.deepEqual(await last.step(), {
    reason: "DeletingNode",
    message: "Deleting Node n: the workload cluster does not answer: refused",
    againAfterMs: 2 * SECONDS,
  });
});

test("volumes are waited for, the Node's own and those that are attached to it; an API without attachments has none", async () => {
  const attached = node("n", { status: { volumesAttached: [{ name: "vol-1", devicePath: "" }] } });
  const { step, workload } = scene({ inWorkload: [attachment("vol-2", "n"), attachment("vol-3", "other")] });
  workload.put(attached);
  assert.deepEqual(await step(), {
    reason: "WaitingForVolumeDetach",
    message: "Waiting for Node volumes to be detached: vol-1, vol-2",
    againAfterMs: 20 * SECONDS,
  });
  const older = scene();
  older.workload.faults.set("list VolumeAttachment", new Fault("NotFound", "volumeattachments", "not served"));
  assert.equal((await older.step())?.reason, "WaitingForInfrastructureDeletion");
  const refused = scene();
  refused.workload.faults.set("list VolumeAttachment", new Fault("Forbidden", "volumeattachments", "no right"));
  await assert.rejects(refused.step(), /no right/);
});

test("the infrastructure goes before the bootstrap object, then the Node, then the finalizer", async () => {
  const infrastructure = seen("SimMachine", {});
  const bootstrap = seen("SimBootstrap", {});
  const { step, held } = scene({ infrastructure, bootstrap });
  held.put(bootstrap.object!);
  assert.deepEqual(await step(), {
    reason: "WaitingForInfrastructureDeletion",
    message: "Waiting for SimMachine m to be deleted",
  });
  assert.deepEqual(held.asked, ["delete SimMachine/m"]);
  assert.deepEqual(held.bodies.get("delete SimMachine/m"), { uid: "uid-m" });
  const second = scene({ infrastructure: seen("SimMachine"), bootstrap });
  second.held.put(bootstrap.object!);
  assert.equal((await second.step())?.reason, "WaitingForBootstrapDeletion");
  const third = scene({ infrastructure: seen("SimMachine"), bootstrap: seen("SimBootstrap") });
  assert.equal(await third.step(), undefined);
  assert.deepEqual(third.workload.asked, ["delete Node/n"], "the drain of a machine that is gone is no use");
  assert.deepEqual(finalizers(third.held), []);
});

test("an object that is leaving is waited for and not asked again; one that is gone meanwhile is not waited for", async () => {
  const leaving = seen("SimMachine", { metadata: { deletionTimestamp: ago(1) } });
  const held = holding(leaving.object!);
  const { context } = contextOver(held);
  assert.equal((await deleteObject(context, leaving, "Waits"))?.reason, "Waits");
  assert.deepEqual(held.asked, []);
  for (const code of ["NotFound", "Conflict"] as const) {
    held.faults.set("delete SimMachine", new Fault(code, "m", "gone"));
    assert.equal(await deleteObject(context, seen("SimMachine", {}), "Waits"), undefined);
  }
  held.faults.set("delete SimMachine", new Fault("Forbidden", "m", "no right"));
  await assert.rejects(deleteObject(context, seen("SimMachine", {}), "Waits"), /no right/);
  assert.equal(await deleteObject(context, { ...seen("SimMachine", {}), kind: undefined }, "Waits"), undefined);
});

test("a Node that can't be deleted is tried again every two seconds, and given up after ten", async () => {
  const gone = { infrastructure: seen("SimMachine") };
  const trouble = new Fault("Forbidden", "n", "no right");
  const young = scene(gone);
  young.workload.faults.set("delete Node", trouble);
  const waits = await young.step();
  assert.deepEqual([waits?.reason, waits?.againAfterMs], ["DeletingNode", 2 * SECONDS]);
  assert.match(waits!.message, /^Deleting Node n: .*no right/);
  assert.deepEqual(finalizers(young.held), [FINALIZERS.machine]);
  const old = scene({ ...gone, machine: { metadata: { deletionTimestamp: ago(10) } } });
  old.workload.faults.set("delete Node", trouble);
  assert.equal(await old.step(), undefined);
  assert.deepEqual(old.noted, [
    "m NodeVolumesDetached: Node n has no volumes attached",
    "the Node could not be deleted and stays",
  ]);
  assert.deepEqual(finalizers(old.held), []);
  const absent = scene(gone);
  absent.workload.faults.set("delete Node", new Fault("NotFound", "n", "gone"));
  assert.equal(await absent.step(), undefined);
});

test("a Node that was deleted, or never was, is not deleted again", async () => {
  const infrastructure = seen("SimMachine");
  const deleted = scene({ infrastructure, node: { is: "deleted", name: "n" } });
  assert.equal(await deleted.step(), undefined);
  assert.deepEqual(deleted.workload.asked, []);
  const never = scene({ infrastructure, machine: { status: {} }, node: { is: "awaited", reason: "x", message: "" } });
  assert.equal(await never.step(), undefined);
  assert.deepEqual(never.workload.asked, []);
});

test("when its own Node is gone already, the Node of a host that lies about its id stays", async () => {
  const infrastructure = seen("SimMachine");
  const left = scene({ infrastructure, node: { is: "there", node: node("liar") }, inWorkload: [node("liar")] });
  assert.equal(await left.step(), undefined);
  assert.deepEqual(left.workload.get("Node", "liar")?.metadata.name, "liar");
  assert.equal(left.workload.get("Node", "n"), undefined);
  assert.deepEqual(finalizers(left.held), []);
});
