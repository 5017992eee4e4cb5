import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { isFault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import type { Datastore, DatastoreOptions } from "../../datastores/datastore.ts";
import type { DataStore } from "../../kinds/kamaji/data-store.ts";
import { Stores } from "./stores.ts";

test("a DataStore's database is opened once, stays open while its specification is the same, and is opened anew where that changes", async (t) => {
  const ports = { clock: new VirtualClock(), random: seededRandom(1), log: quietLog };
  const api = await createApiServer(ports);
  t.after(() => api.close());
  const client = createClient(api.transport(), ports);
  const happened: string[] = [];
  const stores = new Stores({
    ...ports,
    open: async ({ endpoints }) => {
      happened.push(`opened ${endpoints}`);
      return { close: async () => void happened.push(`closed ${endpoints}`) } as unknown as Datastore;
    },
  });
  const store = (endpoint: string): DataStore =>
    ({ metadata: { name: "default" }, spec: { driver: "etcd", endpoints: [endpoint] } }) as DataStore;

  // Tenants ask at once when the operator starts: one is opened for all of them.
  const [first, same] = await Promise.all([0, 1].map(() => stores.of(client, store("one:2379"))));
  assert.equal(same, first);
  assert.equal(await stores.of(client, store("one:2379")), first);
  assert.notEqual(await stores.of(client, store("two:2379")), first);
  assert.deepEqual(happened, ["opened one:2379", "closed one:2379", "opened two:2379"]);
  await stores.close();
  assert.equal(happened.at(-1), "closed two:2379");
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const content = (text: string) => ({ content: base64(text) });

test("a DataStore's credentials come from itself or from Secrets; one that is not there is named with its field", async (t) => {
  const ports = { clock: new VirtualClock(), random: seededRandom(1), log: quietLog };
  const api = await createApiServer(ports);
  t.after(() => api.close());
  const client = createClient(api.transport(), ports);
  const opened: DatastoreOptions[] = [];
  const open = async (options: DatastoreOptions) => {
    opened.push(options);
    return { close: async () => {} } as unknown as Datastore;
  };
  const stores = new Stores({ ...ports, open });
  t.after(() => stores.close());
  const inSecret = (keyPath: string) => ({ secretReference: { name: "db", namespace: "default", keyPath } });
  const store = {
    metadata: { name: "default" },
    spec: {
      ...{ driver: "PostgreSQL", endpoints: ["db:5432"] },
      tlsConfig: {
        certificateAuthority: { certificate: content("CA"), privateKey: content("CA KEY") },
        clientCertificate: { certificate: content("CERT"), privateKey: inSecret("key") },
      },
      basicAuth: { username: content("admin"), password: inSecret("password") },
    },
  } as unknown as DataStore;

  await assert.rejects(stores.of(client, store), (error) => {
    assert.ok(isFault(error, "MissingInput"));
    assert.match(
      error.message,
      /^Secret default\/db, named by spec.tlsConfig.clientCertificate.privateKey: there is no/,
    );
    return true;
  });
  const ref = { name: "db", namespace: "default" };
  await client.create(Secret, { metadata: ref, data: { key: base64("KEY") } });
  await assert.rejects(stores.of(client, store), /named by spec.basicAuth.password: it has no key password/);
  await client.patch(Secret, ref, { type: "merge", body: { data: { password: base64("one") } } });
  const found = await stores.of(client, store);
  assert.deepEqual(found.tls, { ca: "CA", cert: "CERT", key: "KEY" });
  assert.deepEqual(found.basicAuth, { username: "admin", password: "one" });
  assert.deepEqual(found.authority, { certificatePem: "CA", keyPem: "CA KEY" });
  assert.deepEqual([opened.length, opened[0]?.driver, opened[0]?.endpoints], [1, "PostgreSQL", ["db:5432"]]);

  await client.patch(Secret, ref, { type: "merge", body: { data: { password: base64("two") } } });
  assert.equal((await stores.of(client, store)).basicAuth?.password, "two", "another password is another connection");
});

test("what was made for a tenant is known until it fails, changes or is forgotten", async () => {
  const stores = new Stores({ clock: new VirtualClock(), log: quietLog });
  await stores.make("a", "one", async () => {});
  assert.deepEqual(
    [stores.hasMade("a", "one"), stores.hasMade("a", "two"), stores.hasMade("b", "one")],
    [true, false, false],
  );
  await assert.rejects(
    stores.make("a", "two", async () => {
      throw new Error("half made");
    }),
  );
  assert.deepEqual([stores.hasMade("a", "one"), stores.hasMade("a", "two")], [false, false]);
  await stores.make("a", "two", async () => {});
  stores.forgetMade("a");
  assert.equal(stores.hasMade("a", "two"), false);
});

test("a database that can't be opened is tried again; one that is forgotten is closed", async () => {
  const happened: string[] = [];
  const stores = new Stores({
    ...{ clock: new VirtualClock(), log: quietLog },
    open: async () => {
      happened.push("open");
      if (happened.length === 1) throw new Error("not reached");
      return { close: async () => void happened.push("close") } as unknown as Datastore;
    },
  });
  const store = { metadata: { name: "default" }, spec: { driver: "etcd", endpoints: ["a:1"] } } as DataStore;
  const client = {} as Parameters<Stores["of"]>[0];
  await assert.rejects(stores.of(client, store), /not reached/);
  assert.equal((await stores.of(client, store)).tls, undefined);
  await stores.forget("default");
  assert.deepEqual(happened, ["open", "open", "close"]);
});
