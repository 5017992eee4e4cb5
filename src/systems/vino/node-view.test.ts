import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cache, KubeObject } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Vino } from "../../kinds/vino/vino.ts";
import type { VinoNode } from "../../kinds/vino/vino-node.ts";
import { BY_NODE, BY_OWNER, domainsThere, INDEXES, isSeen, isSelected, viewOf, vinoRef } from "./node-view.ts";

const GOING = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const node = (labels?: object, more: object = {}) => ({ metadata: { name: "n", labels, ...more } }) as unknown as Node;
const vino = (matchLabels?: object, more: object = {}) =>
  ({
    metadata: { namespace: "ns", name: "v", uid: "u", ...more },
    spec: { ...(matchLabels && { nodeSelector: { matchLabels } }) },
  }) as unknown as Vino;
const owned = (kind: string, uid: string, name: string) => [{ apiVersion: "x/v1", kind, name, uid, controller: true }];
const vinoNode = (more: object = {}, kind = "Vino") =>
  ({
    metadata: {
      namespace: "ns",
      name: "v-n",
      uid: "vn",
      generation: 2,
      ownerReferences: owned(kind, "u", "v"),
      ...more,
    },
    spec: { nodeName: "n" },
  }) as unknown as VinoNode;

test("a Vino selects nodes by all of its labels, none without labels, and none that goes", () => {
  const both = { a: "1", b: "2" };
  assert.equal(isSelected(vino(both), node({ ...both, c: "3" })), true);
  assert.equal(isSelected(vino(both), node({ a: "1" })), false);
  assert.equal(isSelected(vino(both), node()), false);
  assert.equal(isSelected(vino({}), node(both)), false);
  assert.equal(isSelected(vino(), node(both)), false);
  assert.equal(isSelected(vino(both, GOING), node(both)), false);
  assert.equal(isSelected(vino(both), node(both, GOING)), false);
});

test("VinoNodes are found by their node, and by the Vino that controls them", () => {
  assert.deepEqual(vinoRef(vinoNode()), { namespace: "ns", name: "v" });
  assert.deepEqual([INDEXES[BY_NODE](vinoNode()), INDEXES[BY_OWNER](vinoNode())], [["n"], ["ns/v"]]);
  const foreign = vinoNode({}, "Other");
  assert.deepEqual([vinoRef(foreign), INDEXES[BY_OWNER](foreign)], [undefined, []]);
});

/** A view with these objects in the cache, each unless it is replaced by undefined. */
function view(of: { vino?: Vino | undefined; node?: Node | undefined; hosts?: object[]; vinoNode?: VinoNode } = {}) {
  const there: Record<string, KubeObject | undefined> = { Vino: vino({ a: "1" }), Node: node({ a: "1" }) };
  if ("vino" in of) there.Vino = of.vino;
  if ("node" in of) there.Node = of.node;
  const asked: unknown[] = [];
  const cache = {
    get: ({ kind }: { kind: string }) => there[kind],
    byIndex: (...args: [{ kind: string }, string, string]) => {
      asked.push([args[0].kind, args[1], args[2]]);
      return of.hosts ?? [];
    },
  } as unknown as Cache;
  const found = viewOf(cache, of.vinoNode ?? vinoNode());
  assert.deepEqual(asked, [["BareMetalHost", BY_OWNER, "ns/v-n"]]);
  return found;
}

test("a node's Vino counts while it is the very one, selects the node, and nothing of it goes", () => {
  assert.equal(view().vino?.metadata.uid, "u");
  assert.equal(view().node?.metadata.name, "n");
  for (const of of [
    { vino: undefined },
    { vino: vino({ a: "1" }, { uid: "later" }) },
    { vino: vino({ a: "2" }) },
    { node: undefined },
    { node: node({}) },
    { vinoNode: vinoNode(GOING) },
  ])
    assert.equal(view(of).vino, undefined, JSON.stringify(of));
});

test("hosts of an earlier VinoNode of the name are not this one's", () => {
  const host = (name: string, uid: string) => ({ metadata: { name, ownerReferences: owned("VinoNode", uid, "v-n") } });
  const { hosts } = view({ hosts: [host("own", "vn"), host("old", "before")] });
  assert.deepEqual(
    hosts.map(({ metadata }: BareMetalHost) => metadata.name),
    ["own"],
  );
});

test("what the agent says counts once it has seen the specification", () => {
  const with_ = (observedGeneration?: number) => ({ ...vinoNode(), status: { observedGeneration } }) as VinoNode;
  assert.deepEqual([with_(2), with_(3), with_(1), with_()].map(isSeen), [true, true, false, false]);
  assert.equal(isSeen(vinoNode()), false);
  assert.equal(isSeen({ ...with_(1), metadata: { name: "x" } } as VinoNode), true);
  assert.deepEqual([...domainsThere(vinoNode())], []);
  const domains = [{ name: "a" }, { name: "b" }];
  assert.deepEqual([...domainsThere({ ...vinoNode(), status: { domains } } as unknown as VinoNode)], ["a", "b"]);
});
