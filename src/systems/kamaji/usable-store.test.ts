import assert from "node:assert/strict";
import { test } from "node:test";
import type { Context, Resource } from "@slipway/kube";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Stores } from "./stores.ts";
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

/** Whose store it is for tenant `mine`, beside these tenants. `claims`: who asked for names before. */
function store(others: readonly TenantControlPlane[], { asked = "uid-mine", isThere = true } = {}) {
  const stores = { claim: () => asked } as unknown as Stores;
  const cache = {
    list: () => [tenant("mine", held()), ...others],
    get: (_: Resource, { name }: { name: string }) => (isThere && name === "etcd" ? { metadata: { name } } : undefined),
  };
  const spec = { dataStore: "etcd", dataStoreSchema: "s", dataStoreUsername: "u" };
  return freeStore(stores, { cache } as unknown as Context, tenant("mine", held()), spec as never).metadata.name;
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

test("B28 of two that ask at once the first has the names, though nothing is written of it yet", () => {
  const other = tenant("other");
  assert.throws(() => store([other], { asked: "uid-other" }), { code: "Invalid", message: /n\/other/ });
  assert.equal(store([], { asked: "uid-gone" }), "etcd", "one that is gone holds nothing");
});
