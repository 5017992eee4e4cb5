/** How a node's hosts are given back, and when nothing of them is left. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isoTime } from "@slipway/base";
import type { Context, Ref } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { VinoNode } from "../../kinds/vino/vino-node.ts";
import { giveBackHosts, isTidy } from "./host-keeper.ts";
import type { NodeView } from "./node-view.ts";

const NOW = Date.UTC(2026, 0, 1);
const DETACHED_AT = "slipway.dev/vino-detached-at";
const OWNER = { apiVersion: "slipway.dev/v1alpha1", kind: "VinoNode", name: "n", uid: "n-1", controller: true };

const host = (name: string, { status = {}, ...metadata }: { status?: object; [field: string]: unknown } = {}) =>
  ({
    metadata: { namespace: "sea", name, uid: `uid-${name}`, ownerReferences: [OWNER], ...metadata },
    spec: {},
    status,
  }) as unknown as BareMetalHost;
const vinoNode = (domains: readonly string[] = [], more: object = {}) =>
  ({
    metadata: { namespace: "sea", name: "n", uid: "n-1", generation: 2 },
    spec: { domains: domains.map((name) => ({ name, host: name })), networks: [{ name: "oam" }] },
    ...more,
  }) as unknown as VinoNode;

/** Gives hosts back; `live`: what the API has beside the cache. Resolves with what is waited for and what was written. */
async function giveBack(
  hosts: readonly BareMetalHost[],
  { isNodeGone = false, domains = [] as string[], live = [] as BareMetalHost[], wanted = ["kept"] } = {},
) {
  const written: string[] = [];
  const client = {
    find: async (_: object, { name }: Ref) => live.find(({ metadata }) => metadata.name === name),
    async patch(_: object, { name }: Ref, { body }: { body: { metadata: { annotations: Record<string, string> } } }) {
      written.push(`detach ${name} ${body.metadata.annotations[DETACHED_AT]}`);
    },
    async delete(_: object, { name }: Ref, { uid }: { uid: string }) {
      written.push(`delete ${name} ${uid}`);
      if (name === "gone") throw new Fault("NotFound", name, "it is gone");
      if (name === "refused") throw new Fault("Forbidden", name, "no rights");
    },
  };
  const context = { client, clock: { now: () => NOW } } as unknown as Context;
  const node = isNodeGone ? undefined : ({ metadata: { name: "leviathan" } } as NodeView["node"]);
  const view = { hosts, node, vinoNode: vinoNode(domains) } as NodeView;
  const waits = await giveBackHosts(context, view, new Set(wanted));
  return { waits: [...waits.values()], written };
}

test("VINO-6 hosts that are no longer wanted are deleted once, and are waited for with what they wait for themselves", async () => {
  const leaving = host("leaving", { status: { waitingFor: "its disk to be wiped" }, deletionTimestamp: "then" });
  const { waits, written } = await giveBack([host("kept"), host("idle"), leaving, host("gone")]);
  assert.deepEqual(written, ["delete idle uid-idle", "delete gone uid-gone"]);
  assert.deepEqual(waits, [
    "idle to be taken back",
    "leaving to be taken back, which waits for its disk to be wiped",
    "gone to be taken back",
  ]);
  await assert.rejects(giveBack([host("refused")]), { code: "Forbidden" });
});

test("VINO-6 a host that the cache does not show yet is waited for, unless it is another's or wanted", async () => {
  const foreign = host("foreign", { ownerReferences: [] });
  const domains = ["unseen", "foreign", "never", "kept", "seen"];
  const live = [host("unseen"), foreign, host("kept"), host("seen")];
  const { waits, written } = await giveBack([host("seen", { deletionTimestamp: "then" })], { domains, live });
  assert.deepEqual([waits, written], [["seen to be taken back", "unseen to be taken back"], []]);
});

test("VINO-14 a host whose node is gone is detached first, and deleted once it is, or after two minutes", async () => {
  const gone = async (status: object, since?: number) => {
    const annotations = since === undefined ? {} : { [DETACHED_AT]: isoTime(since) };
    return (await giveBack([host("h", { status, annotations })], { isNodeGone: true })).written;
  };
  const busy = { operationalStatus: "OK", provisioning: { state: "provisioned" } };
  assert.deepEqual(await gone(busy), [`detach h ${isoTime(NOW)}`]);
  assert.deepEqual(await gone(busy, NOW - 119_000), []);
  assert.deepEqual(await gone(busy, NOW - 120_000), ["delete h uid-h"]);
  assert.deepEqual(await gone({ ...busy, operationalStatus: "detached" }), ["delete h uid-h"]);
  for (const state of [undefined, "", "unmanaged", "registering", "externally provisioned"])
    assert.deepEqual(await gone({ provisioning: { state } }), ["delete h uid-h"], `in the state ${state}`);
  const there = await giveBack([host("h", { status: busy })]);
  assert.deepEqual(there.written, ["delete h uid-h"], "its node is there");
});

test("VINO-6 a node is tidy when its agent has seen the specification and has nothing beside it", () => {
  const tidy = (status: object | undefined, node: object | undefined = {}) =>
    isTidy({ vinoNode: vinoNode(["w0"], status && { status }), node } as unknown as NodeView);
  const seen = { observedGeneration: 2, domains: [{ name: "w0" }], networks: [{ name: "oam" }] };
  assert.ok(tidy(seen));
  assert.ok(tidy({ observedGeneration: 2 }));
  assert.ok(!tidy(undefined));
  assert.ok(!tidy({ ...seen, observedGeneration: 1 }));
  assert.ok(!tidy({ ...seen, domains: [{ name: "w0" }, { name: "w1" }] }));
  assert.ok(!tidy({ ...seen, networks: [{ name: "oam" }, { name: "pxe" }] }));
  assert.ok(isTidy({ vinoNode: vinoNode(["w0"]), node: undefined } as unknown as NodeView), "its node is gone");
  assert.equal(VinoNode.kind, OWNER.kind);
});
