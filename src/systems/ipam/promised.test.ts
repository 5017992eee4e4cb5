import assert from "node:assert/strict";
import { test } from "node:test";
import type { Context, KubeObject } from "@slipway/kube";
import type { PoolSort } from "./pool-sorts.ts";
import { promised } from "./promised.ts";

const poolOf = (name: string, macs: readonly string[] = [], resourceVersion = "1") =>
  ({
    ...{ kind: "IPPool", metadata: { namespace: "quay", name, resourceVersion } },
    spec: { allocatedIPs: macs.map((mac) => ({ mac })) },
  }) as unknown as KubeObject;
const POOL = poolOf("own", ["02:00:00:00:00:01"]);
const ADDRESSES = new Map([["quay/a", "10.0.0.1"]]);

/** Promises of a sort, beside these pools: what is written, and which MAC addresses each decision is given. */
async function promise(sort: Partial<PoolSort>, others: readonly KubeObject[] = []) {
  const written: object[] = [];
  const taken: bigint[][] = [];
  const client = {
    list: async () => ({ items: [POOL, ...others] }),
    async patch(_: object, __: object, { body }: { body: object }) {
      written.push(body);
      return poolOf("own", [], String(written.length + 1));
    },
  };
  const whole = {
    promise(_: object, __: object, ___: object, macs: ReadonlySet<bigint>) {
      taken.push([...macs]);
      return { addresses: ADDRESSES, body: { spec: { nextMAC: "x" } } };
    },
    ...sort,
  };
  const view = { sort: whole, pool: POOL, claims: [] };
  const done = promised({ client } as unknown as Context, view as never, [], ["quay/a"]);
  return { done, written, taken };
}

test("a promise is written under the version of the pool that it was decided by; what says nothing new is not", async () => {
  const { done, written } = await promise({});
  const { addresses, pool } = await done;
  assert.deepEqual(written, [{ spec: { nextMAC: "x" }, metadata: { resourceVersion: "1" } }]);
  assert.deepEqual([addresses, pool.metadata.resourceVersion], [ADDRESSES, "2"]);
  const same = await promise({ promise: () => ({ addresses: ADDRESSES }) });
  assert.equal((await same.done).pool, POOL);
  assert.deepEqual(same.written, []);
});

test("VINO-3 MAC addresses of other pools are passed over, a damaged one of theirs aside; the pool's own are not", async () => {
  const others = [poolOf("other", ["02:00:00:00:00:07", "damaged", "02:00:00:00:00:08"])];
  const { done, taken } = await promise({ withoutClashes: () => undefined }, others);
  await done;
  assert.deepEqual(taken, [[0x02_00_00_00_00_07n, 0x02_00_00_00_00_08n]]);
});

test("VINO-3 a promise that clashes is taken back and made anew, five times at most", async () => {
  let clashes = 1;
  const withoutClashes = (pool: KubeObject) => (clashes-- > 0 ? pool : undefined);
  const once = await promise({ withoutClashes });
  assert.equal((await once.done).addresses, ADDRESSES);
  assert.deepEqual(
    once.written.map((body) => (body as KubeObject).metadata),
    [{ resourceVersion: "1" }, { resourceVersion: "2" }],
  );
  clashes = Number.POSITIVE_INFINITY;
  const ever = await promise({ withoutClashes });
  await assert.rejects(ever.done, {
    code: "Conflict",
    message: /^IPPool own: other pools take the same MAC addresses/,
  });
  assert.equal(ever.written.length, 5);
});
