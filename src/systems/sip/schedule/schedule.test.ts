import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuGrowth, MAX_GROWTH } from "@slipway/base/testing";
import fc from "fast-check";
import { type Candidate, type Held, type RoleWish, schedule, type Wish } from "./schedule.ts";

const RACK = "rack";
const host = (id: string, labels: Record<string, string> = {}, obstacle?: string): Candidate => ({
  id,
  labels,
  obstacle,
});
const held = (id: string, role: string, since: string, more: Partial<Held> = {}): Held => ({
  ...{ id, role, since, labels: {}, isUsed: false, ...more },
});
const role = (name: string, count: number, more: Partial<RoleWish> = {}): RoleWish => ({
  ...{ role: name, count, selector: {}, ...more },
});
const names = (taken: readonly { host: string }[]): string[] => taken.map((each) => each.host);

test("SIP-1 SIP-N1 a smaller count gives back exactly the surplus, the last come first, and claims none", () => {
  const have = [held("b", "Worker", "2"), held("a", "Worker", "3"), held("c", "Worker", "1")];
  const { take, release, keep, short } = schedule({ roles: [role("Worker", 2)] }, have, [host("free")]);
  assert.deepEqual([take, release, short], [[], ["a"], []]);
  assert.deepEqual(keep.get("Worker"), ["c", "b"]);
});

test("SIP-1 a host that somebody uses goes after those that nobody uses", () => {
  const have = [held("a", "Worker", "1"), held("b", "Worker", "2", { isUsed: true })];
  assert.deepEqual(schedule({ roles: [role("Worker", 1)] }, have, []).release, ["a"]);
});

test("SIP-2 SIP-N2 a complete cluster needs no free host", () => {
  const have = [held("a", "Worker", "1")];
  assert.deepEqual(schedule({ roles: [role("Worker", 1)] }, have, []).short, []);
});

test("SIP-3 SIP-N3 a domain that holds a host of the role is not used again, and a host without the label is passed over with a reason", () => {
  const have = [held("a", "Worker", "1", { labels: { rack: "r1" } })];
  const free = [host("b", { rack: "r1" }), host("c"), host("d", { rack: "r2" })];
  const wish = (count: number): Wish => ({ roles: [role("Worker", count, { topologyKey: RACK })] });
  assert.deepEqual(names(schedule(wish(2), have, free).take), ["d"]);
  const { short, passed, take } = schedule(wish(3), have, free);
  assert.deepEqual(take, []);
  assert.deepEqual(short, [{ role: "Worker", wanted: 3, found: 2 }]);
  assert.deepEqual(
    passed.map((each) => `${each.host}: ${each.reason}`),
    ["b: rack r1 is taken by a", "c: no label rack"],
  );
});

test("SIP-3 hosts of different roles are spread where the cluster asks for it", () => {
  const free = [host("a", { rack: "r1" }), host("b", { rack: "r1" }), host("c", { rack: "r2" })];
  const roles = [role("ControlPlane", 1, { topologyKey: RACK }), role("Worker", 1, { topologyKey: RACK })];
  assert.deepEqual(names(schedule({ roles }, [], free).take), ["a", "b"]);
  assert.deepEqual(names(schedule({ roles, topologyKey: RACK }, [], free).take), ["a", "c"]);
  const [worker] = roles.slice(1);
  const beside = [held("x", "ControlPlane", "1", { labels: { rack: "r1" } })];
  const { take } = schedule({ roles: [roles[0]!, worker!], topologyKey: RACK }, beside, free);
  assert.deepEqual(names(take), ["c"]);
});

test("SIP-16 overlapping selectors: a host that only one role can use is left to it, whatever the order of the roles", () => {
  const free = [host("both", { x: "1", y: "1" }), host("first", { x: "1" })];
  const one = role("A", 1, { selector: { matchLabels: { x: "1" } } });
  const other = role("B", 1, { selector: { matchLabels: { y: "1" } } });
  for (const roles of [
    [one, other],
    [other, one],
  ])
    assert.deepEqual(names(schedule({ roles }, [], free).take).toSorted(), ["both", "first"]);
});

test("SIP-6 hosts that can't be had are passed over with their reason, and it is all or nothing over the roles", () => {
  const free = [host("a", {}, "in use"), host("b")];
  const { take, short, passed } = schedule({ roles: [role("A", 1), role("B", 1)] }, [], free);
  assert.deepEqual(take, []);
  assert.deepEqual(short, [{ role: "B", wanted: 1, found: 0 }]);
  assert.deepEqual(passed, [
    { host: "a", role: "B", reason: "in use" },
    { host: "b", role: "B", reason: "needed for role A" },
  ]);
});

test("SIP-6 hosts of other labels, and hosts whose domain another chosen one is in, are named so; those that came first are shown by age, then by name", () => {
  const free = [host("a", { rack: "r1" }), host("b", { rack: "r1" }), host("c", { flavor: "big", rack: "r2" })];
  const wish = role("Worker", 2, {
    topologyKey: RACK,
    selector: { matchExpressions: [{ key: "flavor", operator: "DoesNotExist" }] },
  });
  const have = [held("y", "Other", "2"), held("z", "Other", "1"), held("x", "Other", "2")];
  const { short, passed, keep } = schedule({ roles: [wish, role("Other", 3)] }, have, free);
  assert.deepEqual(short, [{ role: "Worker", wanted: 2, found: 1 }]);
  assert.deepEqual(
    passed.map((each) => `${each.host}: ${each.reason}`),
    ["b: its domain is needed for another host", "c: other labels"],
  );
  assert.deepEqual(keep.get("Other"), ["z", "x", "y"]);
});

test("a role that is gone from the specification gives its hosts back", () => {
  const have = [held("a", "Storage", "1"), held("b", "Worker", "1")];
  assert.deepEqual(schedule({ roles: [role("Worker", 1)] }, have, []).release, ["a"]);
});

/** Tries every choice of hosts for every open place. */
function canBeHad(wish: Wish, have: readonly Held[], free: readonly Candidate[]): boolean {
  const places = wish.roles.flatMap((each) => {
    const staying = have.filter(({ role: of }) => of === each.role).length;
    return Array.from({ length: Math.max(0, each.count - staying) }, () => each);
  });
  const chosen: { role: string; labels: Candidate["labels"] }[] = have.map(({ role: of, labels }) => ({
    role: of,
    labels,
  }));
  const used = new Set<string>();
  const fits = (each: RoleWish, { labels, obstacle }: Candidate): boolean => {
    if (obstacle !== undefined) return false;
    if (Object.entries(each.selector.matchLabels ?? {}).some(([key, value]) => labels[key] !== value)) return false;
    const isApart = (key: string | undefined, others: typeof chosen): boolean =>
      key === undefined || (labels[key] !== undefined && others.every((other) => other.labels[key] !== labels[key]));
    return (
      isApart(
        each.topologyKey,
        chosen.filter((other) => other.role === each.role),
      ) && isApart(wish.topologyKey, chosen)
    );
  };
  const search = (at: number): boolean => {
    const each = places[at];
    if (each === undefined) return true;
    return free.some((candidate) => {
      if (used.has(candidate.id) || !fits(each, candidate)) return false;
      used.add(candidate.id);
      chosen.push({ role: each.role, labels: candidate.labels });
      const found = search(at + 1);
      used.delete(candidate.id);
      chosen.pop();
      return found;
    });
  };
  return search(0);
}

const labels = fc.record(
  { rack: fc.constantFrom("r1", "r2", "r3"), zone: fc.constantFrom("z1", "z2"), kind: fc.constantFrom("k1", "k2") },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>;
const key = fc.constantFrom(undefined, "rack", "zone");
const ROLES = ["A", "B", "C"];

test("SIP-3 SIP-6 property: hosts are found exactly where an exhaustive search finds them, and every rule holds for what is taken", () => {
  const world = fc.record({
    free: fc.array(fc.tuple(labels, fc.constantFrom(undefined, undefined, undefined, "in use")), { maxLength: 6 }),
    roles: fc.array(fc.record({ count: fc.integer({ min: 0, max: 3 }), topologyKey: key, wants: labels }), {
      minLength: 1,
      maxLength: 3,
    }),
    have: fc.array(fc.tuple(fc.nat({ max: 2 }), labels), { maxLength: 2 }),
    topologyKey: key,
  });
  const seen = { had: 0, short: 0 };
  fc.assert(
    fc.property(world, ({ free, roles, have, topologyKey }) => {
      const candidates = free.map(([of, obstacle], at) => host(`free-${at}`, of, obstacle));
      const wish: Wish = {
        topologyKey,
        roles: roles.map(({ wants, ...each }, at) => ({
          ...{ role: ROLES[at]!, ...each },
          selector: { matchLabels: wants.kind === undefined ? {} : { kind: wants.kind } },
        })),
      };
      // As many as are wanted at most: what is given back is not part of this.
      const inside = have
        .map(([at, of], number) => held(`held-${number}`, ROLES[at]!, String(number), { labels: of }))
        .filter(({ role: of }, number, all) => {
          const wanted = wish.roles.find((each) => each.role === of)?.count ?? 0;
          return all.slice(0, number + 1).filter((each) => each.role === of).length <= wanted;
        });
      const { take, short, release } = schedule(wish, inside, candidates);
      assert.deepEqual(release, []);
      const can = canBeHad(wish, inside, candidates);
      assert.equal(short.length === 0, can);
      seen[can ? "had" : "short"]++;
      if (!can) return assert.deepEqual(take, []);
      // One after the other, each host must be allowed beside all the others.
      const beside = (at: number): Held[] =>
        take.flatMap(({ host: id, role: of }, other) =>
          other === at ? [] : [held(id, of, "x", { labels: candidates.find((each) => each.id === id)!.labels })],
        );
      for (const [at, one] of take.entries()) {
        const only = candidates.filter(({ id }) => id === one.host);
        const others = [...inside, ...beside(at)];
        assert.ok(canBeHad(wish, others, only), `${one.host} for ${one.role}`);
      }
      for (const { role: of, count } of wish.roles)
        assert.equal([...inside, ...take].filter((each) => each.role === of).length, count);
    }),
    { numRuns: 2_000, seed: 15 },
  );
  assert.ok(seen.had > 200 && seen.short > 200, JSON.stringify(seen));
});

test("the work of scheduling stays in proportion to the hosts", () => {
  const wish: Wish = {
    roles: [
      role("ControlPlane", 3, { topologyKey: RACK, selector: { matchLabels: { flavor: "0" } } }),
      role("Worker", 17, { topologyKey: "server", selector: { matchLabels: { flavor: "1" } } }),
    ],
  };
  const growth = cpuGrowth((count) => {
    const hosts = Array.from({ length: count }, (_, at) =>
      host(`h${at}`, { flavor: String(at % 2), rack: `r${at % 40}`, server: `s${at}` }),
    );
    return () => void assert.equal(schedule(wish, [], hosts).take.length, 20);
  }, 1_000);
  assert.ok(growth <= MAX_GROWTH, `${growth}`);
});
