import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { PLACE_BID } from "./names.ts";
import { bidsFor, rivalOf, wantedBid } from "./place-bid.ts";

const NAMES = { schema: "s", user: "u" };
const HELD = { storage: { driver: "etcd", dataStoreName: "db", setup: NAMES } };
const bidText = (...dataStores: string[]): string => JSON.stringify({ ...NAMES, dataStores });

function tenant(name: string, { bid, holds = false }: { bid?: string | undefined; holds?: boolean } = {}) {
  return {
    metadata: { namespace: "n", name, uid: name, ...(bid !== undefined && { annotations: { [PLACE_BID]: bid } }) },
    spec: {},
    ...(holds && { status: HELD }),
  } as unknown as TenantControlPlane;
}

const wantedOf = (mine: TenantControlPlane, ...others: TenantControlPlane[]) =>
  wantedBid(mine, NAMES, ["db"], [mine, ...others]);

test("who wants a place asks for it, and asks no more once another has the names", () => {
  assert.equal(wantedOf(tenant("b")), bidText("db"));
  assert.equal(wantedOf(tenant("b", { bid: bidText("db") })), bidText("db"));
  assert.equal(wantedOf(tenant("b"), tenant("a", { holds: true })), undefined);
  assert.equal(wantedOf(tenant("b", { bid: bidText("db") }), tenant("a", { holds: true })), undefined);
});

test("who does not see that a name is asked for asks too; then the younger one takes its bid back, and the older one stays", () => {
  const [a, b] = [tenant("a", { bid: bidText("db") }), tenant("b", { bid: bidText("db") })];
  assert.equal(wantedOf(a, b), bidText("db"));
  assert.equal(wantedOf(b, a), undefined);
  assert.equal(wantedOf(tenant("a"), b), undefined, "one that has not asked yet does not begin");
});

test("what is held needs no bid, and one that stands there stays: neither costs a write", () => {
  assert.equal(wantedOf(tenant("a", { holds: true })), undefined);
  assert.equal(wantedOf(tenant("a", { holds: true, bid: bidText("db") })), bidText("db"));
});

test("a bid that can't be read asks for nothing", () => {
  for (const bid of ["s u", "[]", "null", '{"schema":"s","user":"u"}', '{"schema":"s","user":1,"dataStores":["db"]}']) {
    assert.equal(bidsFor(tenant("a", { bid }), NAMES, "db"), false, bid);
    assert.equal(wantedOf(tenant("a", { bid })), bidText("db"), bid);
  }
});

/** What the two tenants' owners see is a state of the API from their own last write on. */
type Act = { of: "a" | "b"; sees: number };

test("B28 whatever two replicas see of each other's writes, never do both take the names, and in the end one does", () => {
  const acts = fc.array(fc.record({ of: fc.constantFrom("a" as const, "b" as const), sees: fc.nat(20) }), {
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(acts, (row) => {
      const history = new History();
      for (const act of row) history.act(act);
      for (let round = 0; round < 6; round++)
        for (const each of ["a", "b"] as const) history.act({ of: each, sees: 0 });
      assert.equal(history.takers().length, 1);
    }),
  );
});

/** Every state that the API was in, and what a turn of a tenant's owner does at one of them. */
class History {
  readonly #states: Record<"a" | "b", { tenant: TenantControlPlane; version: number }>[] = [
    { a: { tenant: tenant("a"), version: 0 }, b: { tenant: tenant("b"), version: 0 } },
  ];

  takers(): string[] {
    return Object.values(this.#states.at(-1)!)
      .filter(({ tenant }) => tenant.status !== undefined)
      .map(({ tenant }) => tenant.metadata.name);
  }

  /** One turn on a state that is `sees` versions old. A write on an old version of the own object is refused. */
  act({ of, sees }: Act): void {
    const seen = this.#states[Math.max(0, this.#states.length - 1 - sees)]!;
    const { tenant: mine, version } = seen[of];
    if (version !== this.#states.at(-1)![of].version || mine.status !== undefined) return;
    const all = [seen.a.tenant, seen.b.tenant];
    const bid = wantedBid(mine, NAMES, ["db"], all);
    if (bid !== mine.metadata.annotations?.[PLACE_BID]) this.#write(of, tenant(of, { bid }), version);
    else if (bid !== undefined && rivalOf(mine, NAMES, "db", all) === undefined)
      this.#write(of, tenant(of, { bid, holds: true }), version);
    assert.ok(this.takers().length <= 1, "both have taken the names");
  }

  #write(of: "a" | "b", written: TenantControlPlane, version: number): void {
    this.#states.push({ ...this.#states.at(-1)!, [of]: { tenant: written, version: version + 1 } });
  }
}
