import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "@slipway/kube/core";
import type { Instance } from "../../kinds/harvester/instance.ts";
import { aMachine } from "../../machines/testing.ts";
import { FORCE_DELETE, PROTECT } from "./names.ts";
import { planRelease, type ReleaseView } from "./release-plan.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const meta = (name: string) => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: "1",
  creationTimestamp: "2026-01-01T00:00:00Z",
});

function node(name: string, of: { ready?: boolean; controlPlane?: boolean } = {}): Node {
  const labels = of.controlPlane ? { "node-role.kubernetes.io/control-plane": "true" } : {};
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { ...meta(name), labels },
    status: { conditions: [{ type: "Ready", status: of.ready === false ? "False" : "True" }] },
  };
}

const machine = aMachine({ claim: "uid-i" });

function instance(annotations: Record<string, string> = {}, of: Partial<Instance["status"]> = {}): Instance {
  return {
    apiVersion: "equinix.harvesterhci.io/v1",
    kind: "Instance",
    metadata: { ...meta("i"), annotations },
    spec: {},
    status: {
      instanceID: "m-1",
      node: { uid: "uid-i", joined: "2026-01-01T00:00:00Z" },
      release: { reason: "Deleted", at: new Date(NOW).toISOString() },
      ...of,
    },
  };
}

const view = (of: Partial<ReleaseView> = {}): ReleaseView => ({
  instance: instance(),
  poolProtected: false,
  node: node("i"),
  nodes: [node("i")],
  machine,
  now: NOW,
  ...of,
});

test("H6 a joined machine is drained first, then released, then seen gone, and only then its Node goes", () => {
  assert.equal(planRelease(view()).do, "drain");
  const drained = instance({}, { release: { reason: "Deleted", at: "2026-01-01T12:00:00Z", drained: true } });
  assert.equal(planRelease(view({ instance: drained })).do, "release");
  const accepted = instance(
    {},
    { release: { reason: "Deleted", at: "2026-01-01T12:00:00Z", drained: true, accepted: true } },
  );
  assert.equal(planRelease(view({ instance: accepted, machine: { ...machine, phase: "releasing" } })).do, "awaitGone");
  assert.equal(planRelease(view({ instance: accepted, machine: "gone" })).do, "removeNode");
  assert.equal(planRelease(view({ instance: accepted, machine: "gone", node: undefined })).do, "finish");
});

test("H6 a control-plane node stays while etcd would lose its quorum without it", () => {
  const three = [
    node("i", { controlPlane: true }),
    node("b", { controlPlane: true }),
    node("c", { controlPlane: true, ready: false }),
  ];
  const step = planRelease(view({ node: three[0], nodes: three }));
  assert.equal(step.do === "hold" && step.reason, "QuorumAtRisk");

  const healthy = [...three.slice(0, 2), node("c", { controlPlane: true })];
  assert.equal(planRelease(view({ node: healthy[0], nodes: healthy })).do, "drain");
});

test("H8 a protected instance, a protected pool and a locked machine are held, each with its reason", () => {
  const guarded = planRelease(view({ instance: instance({ [PROTECT]: "true" }) }));
  assert.equal(guarded.do === "hold" && guarded.reason, "Protected");
  const pooled = planRelease(view({ poolProtected: true }));
  assert.equal(pooled.do === "hold" && pooled.reason, "Protected");
  const locked = planRelease(view({ machine: { ...machine, locked: true } }));
  assert.equal(locked.do === "hold" && locked.reason, "Locked");
});

test("H8 force releases at once, but a lock at the provider still holds", () => {
  const forced = instance({ [FORCE_DELETE]: "true", [PROTECT]: "true" });
  assert.equal(planRelease(view({ instance: forced })).do, "release");
  assert.equal(planRelease(view({ instance: forced, machine: { ...machine, locked: true } })).do, "hold");
});

test("H23 draining ends in time before the provider takes a spot machine back", () => {
  const revoked = { ...machine, terminatesAt: NOW + 120_000 };
  assert.deepEqual(planRelease(view({ machine: revoked })), { do: "drain", deadline: NOW + 105_000 });
  assert.equal(planRelease(view({ machine: revoked, now: NOW + 105_000 })).do, "release");
});

test("H1 an order whose answer was lost keeps the Instance until it is known what was sold", () => {
  assert.equal(planRelease(view({ machine: "unknown", node: undefined })).do, "look");
  assert.equal(planRelease(view({ machine: "none", node: undefined })).do, "finish");
});

test("a machine that the provider is taking back already is not released again, whoever began it", () => {
  const drained = instance({}, { release: { reason: "Deleted", at: "2026-01-01T12:00:00Z", drained: true } });
  const leaving = { ...machine, phase: "releasing" as const };
  assert.equal(planRelease(view({ instance: drained, machine: leaving })).do, "awaitGone");
  assert.equal(planRelease(view({ machine: leaving })).do, "awaitGone", "nor is its Node drained for it");
  assert.equal(planRelease(view({ instance: instance({ [FORCE_DELETE]: "true" }), machine: leaving })).do, "awaitGone");
});

test("a release that the provider accepted is sent again only while the machine still runs", () => {
  const release = { reason: "Deleted", at: "2026-01-01T12:00:00Z", drained: true, accepted: true };
  const accepted = instance({}, { release });
  assert.equal(planRelease(view({ instance: accepted })).do, "release");
  for (const phase of ["stopped", "unknown", "failed"] as const)
    assert.equal(planRelease(view({ instance: accepted, machine: { ...machine, phase } })).do, "awaitGone", phase);
});
