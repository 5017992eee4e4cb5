import assert from "node:assert/strict";
import { test } from "node:test";
import type { Draft } from "@slipway/kube";
import type { Node, Pod } from "@slipway/kube/core";
import { type DaemonSet, daemonPods } from "./daemon-pods-plan.ts";

const set = (spec: object = {}): DaemonSet =>
  ({
    metadata: { namespace: "kube-system", name: "net", uid: "u-net", generation: 3 },
    spec: {
      template: { metadata: { labels: { app: "net" } }, spec: { containers: [{ name: "c", image: "i" }], ...spec } },
    },
  }) as unknown as DaemonSet;
const node = (name: string, spec: object = {}, labels = {}): Node =>
  ({ metadata: { name, uid: `u-${name}`, labels }, spec }) as unknown as Node;
const live = (draft: Draft<Pod>, more: object = {}): Pod => ({ ...draft, ...more }) as unknown as Pod;
const READY = { status: { conditions: [{ type: "Ready", status: "True" }] } };

test("each node has a Pod of the template, bound to it and owned by the set; a second look asks for nothing", () => {
  const nodes = [node("a"), node("b")];
  const { create, remove, status } = daemonPods(set(), nodes, []);
  assert.deepEqual(
    create.map(({ spec }) => spec?.nodeName),
    ["a", "b"],
  );
  assert.equal(new Set(create.map(({ metadata }) => metadata.name)).size, 2);
  assert.ok(create.every(({ metadata }) => /^net-[0-9a-f]{8}$/.test(metadata.name!)));
  assert.ok(
    create.every(({ metadata }) => metadata.ownerReferences?.[0]?.uid === "u-net" && metadata.labels?.app === "net"),
  );
  assert.deepEqual(remove, []);
  assert.deepEqual(status, {
    ...{ desiredNumberScheduled: 2, currentNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
    ...{ updatedNumberScheduled: 0, observedGeneration: 3, numberUnavailable: 2 },
  });
  const again = daemonPods(set(), nodes, [live(create[0]!, READY), live(create[1]!)]);
  assert.deepEqual([again.create, again.remove], [[], []]);
  assert.deepEqual(again.status, {
    ...{ desiredNumberScheduled: 2, currentNumberScheduled: 2, numberMisscheduled: 0, numberReady: 1 },
    ...{ updatedNumberScheduled: 2, observedGeneration: 3, numberAvailable: 1, numberUnavailable: 1 },
  });
});

test("a Pod of another template, of a node that is gone, and a second one go; the new one waits until the old one has gone", () => {
  const { create } = daemonPods(set(), [node("a")], []);
  const held = live(create[0]!);
  const changed = daemonPods(set({ hostNetwork: true }), [node("a")], [held]);
  assert.deepEqual([changed.remove, changed.create], [[held], []]);
  assert.deepEqual(daemonPods(set(), [], [held]).remove, [held]);
  const second = live(create[0]!, { metadata: { ...held.metadata, name: "second" } });
  assert.deepEqual(daemonPods(set(), [node("a")], [held, second]).remove, [second]);
  const going = live(create[0]!, { metadata: { ...held.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  assert.deepEqual(daemonPods(set(), [], [going]).remove, []);
  const stranger = live(create[0]!, { metadata: { ...held.metadata, ownerReferences: [] } });
  assert.equal(daemonPods(set(), [node("a")], [stranger]).create.length, 1);
});

test("a Pod is only where selector and taints let it be", () => {
  const placed = (spec: object, on: Node): boolean => daemonPods(set(spec), [on], []).create.length === 1;
  assert.equal(placed({ nodeSelector: { os: "linux" } }, node("a")), false);
  assert.equal(placed({ nodeSelector: { os: "linux" } }, node("a", {}, { os: "linux" })), true);
  const tainted = (key: string, effect = "NoSchedule", value?: string) =>
    node("a", { taints: [{ key, effect, ...(value && { value }) }] });
  assert.equal(placed({}, tainted("mine")), false);
  assert.equal(placed({}, tainted("mine", "PreferNoSchedule")), true);
  assert.equal(placed({}, tainted("node.kubernetes.io/not-ready", "NoExecute")), true);
  assert.equal(placed({}, tainted("node.kubernetes.io/not-ready", "NoSchedule")), false);
  assert.equal(placed({}, tainted("node.kubernetes.io/network-unavailable")), false);
  assert.equal(placed({ hostNetwork: true }, tainted("node.kubernetes.io/network-unavailable")), true);
  assert.equal(placed({ tolerations: [{ operator: "Exists" }] }, tainted("mine")), true);
  assert.equal(
    placed({ tolerations: [{ key: "mine", operator: "Exists", effect: "NoExecute" }] }, tainted("mine")),
    false,
  );
  assert.equal(placed({ tolerations: [{ key: "mine", value: "x" }] }, tainted("mine", "NoSchedule", "x")), true);
  assert.equal(placed({ tolerations: [{ key: "mine", value: "x" }] }, tainted("mine", "NoSchedule", "y")), false);
  assert.equal(placed({ tolerations: [{ value: "x" }] }, tainted("mine", "NoSchedule", "x")), false);
});

test("a Pod has the template's annotations and the tolerations of every Pod of a DaemonSet, behind its own", () => {
  const tolerations = [{ key: "mine", operator: "Exists" }];
  const [own, ...more] = daemonPods(set({ tolerations, hostNetwork: true }), [node("a")], []).create[0]!.spec!
    .tolerations!;
  assert.deepEqual(own, tolerations[0]);
  assert.deepEqual(
    more.map(({ key, operator, effect }) => `${key?.replace("node.kubernetes.io/", "")} ${operator} ${effect}`),
    [
      ...["not-ready Exists NoExecute", "unreachable Exists NoExecute", "disk-pressure Exists NoSchedule"],
      ...["memory-pressure Exists NoSchedule", "pid-pressure Exists NoSchedule", "unschedulable Exists NoSchedule"],
      "network-unavailable Exists NoSchedule",
    ],
  );
  const annotated = set();
  annotated.spec!.template!.metadata!.annotations = { a: "b" };
  assert.deepEqual(daemonPods(annotated, [node("a")], []).create[0]!.metadata.annotations, { a: "b" });
  const bare = { metadata: { namespace: "kube-system", name: "net", uid: "u" } } as unknown as DaemonSet;
  const { create, status } = daemonPods(bare, [node("a")], []);
  assert.deepEqual(
    [create[0]!.spec!.nodeName, (status as { desiredNumberScheduled: number }).desiredNumberScheduled],
    ["a", 1],
  );
  assert.equal(create[0]!.metadata.annotations, undefined);
});

test("a toleration without an effect tolerates every effect, one without a key or with an empty one all taints if it exists", () => {
  const tainted = node("a", { taints: [{ key: "mine", effect: "NoSchedule" }] });
  const placed = (toleration: object): boolean =>
    daemonPods(set({ tolerations: [toleration] }), [tainted], []).create.length === 1;
  assert.equal(placed({ key: "mine" }), true, "no value equals no value");
  assert.equal(placed({ key: "mine", effect: "" }), true);
  assert.equal(placed({ key: "mine", value: "x" }), false);
  assert.equal(placed({ key: "", operator: "Exists" }), true);
  assert.equal(placed({ key: "other", operator: "Exists" }), false);
});
