import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient } from "@slipway/kube";
import type { Datastore } from "../../datastores/datastore.ts";
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
