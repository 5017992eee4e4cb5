import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Client, KubeObject, Resource } from "@slipway/kube";
import type { Secret } from "@slipway/kube/core";
import type { BootRecord, BootSignal } from "./boot-record.ts";
import { type BootOwner, BootStore } from "./boot-store.ts";
import { bootIdOf } from "./boot-url.ts";

const Host: Resource<KubeObject> = {
  group: "metal.test",
  version: "v1",
  kind: "Host",
  plural: "hosts",
  namespaced: true,
};
const object = { metadata: { name: "h1", namespace: "racks", uid: "uid-1" } } as KubeObject;
const record = (letter: string): BootRecord => ({
  capability: letter.repeat(43),
  expiresAt: Date.UTC(2030, 0, 1),
  script: "#!ipxe",
  config: "secret",
});
const signal = (of: BootRecord, kind: BootSignal["kind"]): BootSignal => ({
  kind,
  at: Date.UTC(2026, 0, 1),
  remote: "10.0.0.1",
  bootId: bootIdOf(of.capability),
});

/** Secrets in memory, guarded by their versions; `reads` counts. */
function cluster() {
  const secrets = new Map<string, Secret>();
  const at = { reads: 0, version: 0 };
  const stored = (secret: Secret): Secret => {
    const next = { ...secret, metadata: { ...secret.metadata, resourceVersion: String(++at.version) } };
    secrets.set(secret.metadata.name, next);
    return next;
  };
  const client = {
    find: async (_: unknown, { name }: { name: string }) => {
      at.reads++;
      return secrets.get(name);
    },
    create: async (_: unknown, draft: Secret) => {
      if (secrets.has(draft.metadata.name)) throw new Fault("AlreadyExists", "Secret", "there is one");
      return stored(draft);
    },
    patch: async (_: unknown, { name }: { name: string }, { body }: { body: Partial<Secret> }) => {
      const held = secrets.get(name);
      if (held === undefined) throw new Fault("NotFound", "Secret", "gone");
      const wanted = body.metadata?.resourceVersion;
      if (wanted !== undefined && wanted !== held.metadata.resourceVersion)
        throw new Fault("Conflict", "Secret", "it was changed");
      const data = Object.entries({ ...held.data, ...body.data }).filter(([, value]) => value !== null);
      return stored({ ...held, data: Object.fromEntries(data) });
    },
    delete: async (_: unknown, { name }: { name: string }, { resourceVersion }: { resourceVersion?: string } = {}) => {
      const held = secrets.get(name);
      if (resourceVersion !== undefined && held !== undefined && resourceVersion !== held.metadata.resourceVersion)
        throw new Fault("Conflict", "Secret", "it was changed");
      secrets.delete(name);
    },
  } as unknown as Client;
  const shown: [BootOwner, string][] = [];
  const hosts = {
    group: Host.group,
    kind: Host.kind,
    tell: async (owner: BootOwner, { kind }: BootSignal) => void shown.push([owner, kind]),
  };
  const replica = () => new BootStore({ namespace: "slipway", clock: { monotonic: () => 0 } });
  return { at, client, shown, hosts, replica };
}

test("a boot of any kind is served, and its signals reach its own object", async () => {
  const { client, shown, hosts, replica } = cluster();
  const store = replica();
  const a = record("a");
  await store.publish(client, { resource: Host, object }, a);
  const records = store.records(client, [hosts]);
  const seen = await records.load("uid-1", a.capability);
  assert.equal(seen?.script, "#!ipxe");
  await records.note("uid-1", signal(a, "started"), seen!);
  assert.deepEqual(shown, [[{ group: "metal.test", kind: "Host", namespace: "racks", name: "h1" }, "started"]]);
});

test("a boot of a kind that was not asked for is not served", async () => {
  const { client, replica } = cluster();
  const store = replica();
  await store.publish(client, { resource: Host, object }, record("a"));
  assert.equal(await store.records(client, []).load("uid-1", record("a").capability), undefined);
});

test("a new boot's capability is known at once, also where the old boot's record is kept", async () => {
  const { client, hosts, replica } = cluster();
  const [publisher, server] = [replica(), replica()];
  const records = server.records(client, [hosts]);
  await publisher.publish(client, { resource: Host, object }, record("a"));
  await records.load("uid-1", record("a").capability);
  await publisher.publish(client, { resource: Host, object }, record("b"));
  assert.equal((await records.load("uid-1", record("b").capability))?.capability, record("b").capability);
});

test("a machine's requests in quick succession cost one read; a removed boot is not kept", async () => {
  const { at, client, hosts, replica } = cluster();
  await replica().publish(client, { resource: Host, object }, record("a"));
  const store = replica();
  const records = store.records(client, [hosts]);
  for (let i = 0; i < 3; i++) await records.load("uid-1", record("a").capability);
  assert.equal(at.reads, 1);
  await store.remove(client, "uid-1");
  assert.equal(await records.load("uid-1", record("a").capability), undefined);
});

test("two replicas that both kept a record record one first fetch; the other one sees whose it was", async () => {
  const { client, hosts, replica } = cluster();
  const a = record("a");
  await replica().publish(client, { resource: Host, object }, a);
  const [one, two] = [replica().records(client, [hosts]), replica().records(client, [hosts])];
  const [first, second] = [await one.load("uid-1", a.capability), await two.load("uid-1", a.capability)];
  await one.note("uid-1", signal(a, "configFetched"), first!);
  const stored = await two.note("uid-1", { ...signal(a, "configFetched"), remote: "10.0.0.2" }, second!);
  assert.equal(stored?.firstConfigFetchFrom, "10.0.0.1");
});

test("a signal of a boot that was replaced meanwhile neither marks nor reveals the new one", async () => {
  const { client, shown, hosts, replica } = cluster();
  const [publisher, server] = [replica(), replica()];
  const a = record("a");
  await publisher.publish(client, { resource: Host, object }, a);
  const records = server.records(client, [hosts]);
  const seen = await records.load("uid-1", a.capability);
  await publisher.publish(client, { resource: Host, object }, record("b"));
  assert.equal(await records.note("uid-1", signal(a, "configFetched"), seen!), undefined);
  assert.equal((await publisher.read(client, "uid-1"))?.firstConfigFetchAt, undefined);
  assert.deepEqual(shown, []);
});

test("a signal of a boot that was removed meanwhile is passed to nobody", async () => {
  const { client, shown, hosts, replica } = cluster();
  const [one, other] = [replica(), replica()];
  await one.publish(client, { resource: Host, object }, record("a"));
  const records = one.records(client, [hosts]);
  const seen = await records.load("uid-1", record("a").capability);
  await other.remove(client, "uid-1");
  assert.equal(await records.note("uid-1", signal(record("a"), "configFetched"), seen!), undefined);
  assert.deepEqual(shown, []);
});

test("a boot that succeeded is removed; for some seconds its end is still known", async () => {
  const { client, shown, hosts, replica } = cluster();
  const [serving, other] = [replica(), replica()];
  const a = record("a");
  await other.publish(client, { resource: Host, object }, a);
  const records = serving.records(client, [hosts]);
  const seen = (await records.load("uid-1", a.capability))!;
  await other.records(client, [hosts]).note("uid-1", signal(a, "configFetched"), (await other.read(client, "uid-1"))!);
  await records.note("uid-1", signal(a, "succeeded"), seen);
  assert.deepEqual(
    shown.map(([, kind]) => kind),
    ["configFetched", "succeeded"],
  );
  assert.equal(await other.read(client, "uid-1"), undefined);
  assert.equal((await records.load("uid-1", a.capability))?.closed, true);
  assert.equal(await replica().records(client, [hosts]).load("uid-1", a.capability), undefined);
});

test("the end of a boot that was replaced meanwhile does not remove the new one", async () => {
  const { client, hosts, replica } = cluster();
  const [publisher, server] = [replica(), replica()];
  const a = record("a");
  await publisher.publish(client, { resource: Host, object }, a);
  const records = server.records(client, [hosts]);
  const seen = await records.load("uid-1", a.capability);
  await publisher.publish(client, { resource: Host, object }, record("b"));
  await records.note("uid-1", signal(a, "succeeded"), seen!);
  assert.equal((await publisher.read(client, "uid-1"))?.capability, record("b").capability);
  assert.notEqual((await records.load("uid-1", a.capability))?.capability, a.capability);
});

test("where the end can't be shown, the boot stays, and its report is taken again", async () => {
  const { client, hosts, shown, replica } = cluster();
  const store = replica();
  const a = record("a");
  await store.publish(client, { resource: Host, object }, a);
  let down = true;
  const kind = {
    ...hosts,
    tell: async (owner: BootOwner, signal: BootSignal) => {
      if (down) throw new Fault("Unavailable", "Host/h1", "down");
      await hosts.tell(owner, signal);
    },
  };
  const records = store.records(client, [kind]);
  const report = async () =>
    await records.note("uid-1", signal(a, "succeeded"), (await records.load("uid-1", a.capability))!);
  await assert.rejects(report(), /down/);
  down = false;
  await report();
  assert.deepEqual(
    shown.map(([, kind]) => kind),
    ["succeeded"],
  );
  assert.equal(await store.read(client, "uid-1"), undefined);
});

test("a boot's Secret goes with an object that may own it: of its own namespace, or of none", async () => {
  const { client, replica } = cluster();
  const owners = async (namespace: string | undefined): Promise<unknown> => {
    const store = replica();
    const { name, uid } = object.metadata;
    const of = { metadata: { name, uid, ...(namespace !== undefined && { namespace }) } } as KubeObject;
    await store.publish(client, { resource: Host, object: of }, record("a"));
    const secret = await client.find({} as Resource<Secret>, { namespace: "slipway", name: "boot-uid-1" });
    await store.remove(client, "uid-1");
    return secret?.metadata.ownerReferences?.map(({ kind, name, uid }) => [kind, name, uid]);
  };
  const owned = [["Host", "h1", "uid-1"]];
  assert.deepEqual(
    [await owners(undefined), await owners("slipway"), await owners("racks")],
    [owned, owned, undefined],
  );
});
