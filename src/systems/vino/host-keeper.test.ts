/** How a node's hosts are made, mended and given back, and when nothing of them is left. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isoTime } from "@slipway/base";
import type { Context, Ref } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Vino } from "../../kinds/vino/vino.ts";
import { type Domain, VinoNode } from "../../kinds/vino/vino-node.ts";
import { giveBackHosts, isTidy, keepHosts } from "./host-keeper.ts";
import type { NodeView } from "./node-view.ts";
import { hostDraft, hostWish } from "./plan/host.ts";
import type { MachineSecrets } from "./secrets.ts";

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

const DOMAIN = {
  ...{ name: "w0", host: "h-1", role: "worker", bootMAC: "02:00:00:00:00:01", bmc: { name: "h-1-credentials" } },
  interfaces: [],
} as unknown as Domain;
const STATUS = {
  redfish: { url: "https://10.0.0.5:8443", ca: "CA" },
  domains: [{ name: "w0", state: "Ready", system: "/redfish/v1/Systems/w0" }],
};

/** Keeps one host of a node; `live`: it is there already, and what of it is otherwise. */
async function keep({ status = STATUS as object, live }: { status?: object; live?: object } = {}) {
  const vino = { metadata: { namespace: "sea", name: "v", uid: "v-1" }, spec: {} } as unknown as Vino;
  const set = { name: "worker" };
  const machine = { id: "worker-0", set, interfaces: [], bootInterface: undefined, disks: [] };
  const node = {
    metadata: { name: "leviathan", labels: {} },
    status: { addresses: [{ type: "InternalIP", address: "10.0.0.5" }] },
  } as unknown as NonNullable<NodeView["node"]>;
  const owner = vinoNode(["w0"], { status });
  owner.spec.nodeName = "leviathan";
  const of = { vino, node, vinoNode: owner, machine, domain: DOMAIN };
  const draft = live && (hostDraft(hostWish(of), of) as BareMetalHost);
  const there = draft && { ...draft, metadata: { ...draft.metadata, resourceVersion: "7", ...live } };
  const done: unknown[] = [];
  const client = {
    find: async () => undefined,
    create: async (_: object, { metadata }: BareMetalHost) => void done.push(`create ${metadata.name}`),
    patch: async (_: object, { name }: Ref, { body }: { body: object }) => void done.push(`patch ${name}`, body),
  };
  const context = {
    ...{ client, cache: { get: () => there } },
    events: { normal: (_: object, reason: string) => void done.push(reason) },
  } as unknown as Context;
  const secrets = {
    credentials: async () => void done.push("credentials"),
    networkData: async () => void done.push("network data"),
  } as unknown as MachineSecrets;
  const view = { ...of, hosts: there ? [there] : [] } as unknown as NodeView & { vino: Vino };
  const specification = { networks: [], machines: [machine], bootUrl: undefined };
  const placed = [{ machine, domain: DOMAIN }];
  const kept = await keepHosts(context, view, { specification, placed, secrets, onNode: [] });
  return { kept, done };
}

test("VINO-6 a machine that its node has made is offered once, after its Secrets; until then it is waited for", async () => {
  const { kept, done } = await keep();
  assert.deepEqual(kept, { hosts: 1, problems: [], waits: [] });
  assert.deepEqual(done, ["credentials", "network data", "create h-1", "HostOffered"]);
  const early = await keep({ status: { domains: [{ name: "w0", state: "Making", message: "a volume" }] } });
  assert.deepEqual(early.kept, { hosts: 0, problems: [], waits: ["the node's agent to make h-1: a volume"] });
  assert.deepEqual(early.done, []);
});

test("VINO-6 a host that is otherwise than the Vino says is mended under its version; one that is not costs no write", async () => {
  const secrets = ["credentials", "network data"];
  assert.deepEqual((await keep({ live: {} })).done, secrets);
  const { kept, done } = await keep({ live: { labels: { mine: "1" } } });
  assert.equal(kept.hosts, 1);
  const [credentials, data, patch, body] = done as [string, string, string, { metadata: Record<string, object> }];
  assert.deepEqual([credentials, data, patch], [...secrets, "patch h-1"]);
  assert.equal(body.metadata.resourceVersion, "7");
  assert.equal((body.metadata.labels as Record<string, string>)["vino.airshipit.org/role"], "worker");
  assert.ok(!("mine" in body.metadata.labels!), "another's label stays as it is");
});

test("VINO-8 a host of the machine's name that is another's is left alone, and is the problem", async () => {
  const { kept, done } = await keep({ live: { ownerReferences: [] } });
  assert.equal(kept.hosts, 0);
  assert.match(kept.problems.join(), /BareMetalHost h-1: it exists, and is not this Vino's; delete it/);
  assert.deepEqual(done, ["credentials", "network data"]);
  assert.equal((await keep({ live: { deletionTimestamp: "then", labels: {} } })).done.length, 2, "it is going");
});
