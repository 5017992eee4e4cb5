import assert from "node:assert/strict";
import { test } from "node:test";
import type { Context, Resource } from "@slipway/kube";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { PLACE_BID } from "./names.ts";
import { freeStore } from "./usable-store.ts";

const tenant = (name: string, storage?: object, metadata: object = {}): TenantControlPlane =>
  ({
    metadata: { namespace: "n", name, uid: `uid-${name}`, ...metadata },
    spec: {},
    status: { storage },
  }) as unknown as TenantControlPlane;
const held = (more: object = {}) => ({
  dataStoreName: "etcd",
  driver: "etcd",
  setup: { schema: "s", user: "u" },
  ...more,
});

const names = { schema: "s", user: "u" };
const bid = (of: object = {}) => ({
  annotations: { [PLACE_BID]: JSON.stringify({ ...names, dataStores: ["etcd"], ...of }) },
});

/** Whose store it is for tenant `mine`, beside these tenants. */
function store(others: readonly TenantControlPlane[], { mine = tenant("mine", held()), isThere = true } = {}) {
  const cache = {
    list: () => [mine, ...others],
    get: (_: Resource, { name }: { name: string }) => (isThere && name === "etcd" ? { metadata: { name } } : undefined),
  };
  const spec = { dataStore: "etcd", dataStoreSchema: "s", dataStoreUsername: "u" };
  return freeStore({ cache } as unknown as Context, { tenant: mine, spec: spec as never }).metadata.name;
}

test("B28 a DataStore is used that is there and where nobody else has the names", () => {
  assert.equal(store([]), "etcd");
  assert.throws(() => store([], { isThere: false }), { code: "MissingInput", on: "DataStore/etcd" });
});

for (const [what, storage, isFree] of [
  ["the same schema there", { setup: { schema: "s", user: "other" } }, false],
  ["the same user there", { setup: { schema: "other", user: "u" } }, false],
  ["other names there", { setup: { schema: "other", user: "other" } }, true],
  ["the same names elsewhere", { dataStoreName: "other" }, true],
  ["no driver yet, so nothing is there", { driver: undefined }, true],
] as const)
  test(`B28 another tenant has ${what}`, () => {
    const other = tenant("other", held(storage));
    if (isFree) assert.equal(store([other]), "etcd");
    else assert.throws(() => store([other]), { code: "Invalid", message: /is of tenant n\/other/ });
  });

test("B28 who has nothing yet takes the names once its bid is seen, and nobody else's", () => {
  const mine = (of?: object) => tenant("mine", undefined, of);
  assert.equal(store([], { mine: mine(bid()) }), "etcd");
  assert.throws(() => store([], { mine: mine() }), { code: "Conflict" }, "it has not asked yet");
  assert.throws(() => store([], { mine: mine(bid({ dataStores: ["other"] })) }), { code: "Conflict" });
  assert.throws(() => store([], { mine: mine(bid({ schema: "x", user: "x" })) }), { code: "Conflict" });
  const asks = (name: string, of: object = {}) => tenant(name, undefined, { ...bid(), ...of });
  assert.throws(() => store([asks("a")], { mine: mine(bid()) }), { code: "Invalid", message: /is of tenant n\/a/ });
  assert.throws(() => store([asks("z")], { mine: mine(bid()) }), { code: "Conflict" }, "the other one gives way");
  const gone = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  assert.equal(store([asks("a", gone)], { mine: mine(bid()) }), "etcd", "one that is deleted asks no more");
  assert.equal(store([asks("a")]), "etcd", "what is held stays");
});
