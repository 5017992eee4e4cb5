import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Pace, type Portion, paceOf, portionOf } from "./portions.ts";
import { onDelete, rollingUpdate, type SetState, type Sizes, whilePaused } from "./rollout-plan.ts";

/** Sets and what becomes of their Machines: each step of `live` one thing happens. */
class Sets {
  sets: SetState[];
  #leaving = new Map<string, number>();

  constructor(sets: SetState[]) {
    this.sets = sets;
  }

  of(name: string): SetState {
    return this.sets.find((set) => set.name === name)!;
  }

  apply(sizes: Sizes): void {
    for (const [name, size] of sizes) this.of(name).spec = size;
  }

  /** What could happen next: a Machine is made, becomes available, begins to leave or is gone. `broken`: sets whose Machines never become available. */
  moves(broken: ReadonlySet<string>): (() => void)[] {
    return this.sets.flatMap((set) => {
      const leaving = this.#leaving.get(set.name) ?? 0;
      const staying = set.actual - leaving;
      const moves: (() => void)[] = [];
      if (set.actual < set.spec) moves.push(() => void set.actual++);
      if (!broken.has(set.name) && set.available < staying) moves.push(() => void set.available++);
      if (staying > set.spec)
        moves.push(() => {
          this.#leaving.set(set.name, leaving + 1);
          // One that is not available goes first, as deletion order has it.
          if (set.available > staying - 1) set.available = staying - 1;
        });
      if (leaving > 0)
        moves.push(() => {
          this.#leaving.set(set.name, leaving - 1);
          set.actual--;
        });
      return moves;
    });
  }

  get total(): number {
    return this.sets.reduce((sum, { actual }) => sum + actual, 0);
  }
  get available(): number {
    return this.sets.reduce((sum, { available }) => sum + available, 0);
  }
}

const full = (name: string, replicas: number): SetState => ({
  name,
  spec: replicas,
  actual: replicas,
  available: replicas,
});
const empty = (name: string): SetState => ({ name, spec: 0, actual: 0, available: 0 });
const portion: fc.Arbitrary<Portion> = fc.oneof(
  fc.nat({ max: 12 }),
  fc.constantFrom("0%", "10%", "25%", "34%", "50%", "100%"),
);

interface Rollout {
  replicas: number;
  pace: Pace;
  /** Which of the moves that may happen is next. */
  order: Iterator<number>;
  /** Sets whose Machines never become available. */
  broken?: ReadonlySet<string>;
  /** Called after each step. */
  check?(): void;
}

/** Rolls out until nothing happens any more; fails after too many steps. */
function rollOut(sets: Sets, { replicas, pace, order, broken = new Set(), check = () => {} }: Rollout): void {
  for (let step = 0; step < 2000; step++) {
    const [current, ...old] = sets.sets;
    const sizes = rollingUpdate({ replicas, pace, current: { ...current! }, old: old.map((set) => ({ ...set })) });
    sets.apply(sizes);
    check();
    const moves = sets.moves(broken);
    // A set that was resized is looked at again, though no Machine moves: one that loses Machines it never had makes room.
    if (moves.length === 0 && sizes.size === 0) return;
    moves[order.next().value % Math.max(1, moves.length)]?.();
    check();
  }
  assert.fail("the roll-out does not end");
}

const orders = fc.noShrink(fc.infiniteStream(fc.nat({ max: 1000 })));

test("a RollingUpdate of any shape ends with all Machines of the new template, and never has more or fewer than its pace allows", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      portion,
      portion,
      orders,
      (replicas, maxSurge, maxUnavailable, order) => {
        const pace = paceOf({ maxSurge, maxUnavailable }, replicas);
        const sets = new Sets([empty("new"), full("old", replicas)]);
        const check = () => {
          assert.ok(sets.total <= replicas + pace.maxSurge, `${sets.total} Machines of ${replicas} + ${pace.maxSurge}`);
          assert.ok(
            sets.available >= replicas - pace.maxUnavailable,
            `${sets.available} available of ${replicas} - ${pace.maxUnavailable}`,
          );
        };
        rollOut(sets, { replicas, pace, order, check });
        assert.deepEqual(sets.sets, [full("new", replicas), { ...empty("old") }]);
      },
    ),
    { numRuns: 600 },
  );
});

test("a template that changes again in the middle, and another size, end with the last template and the last size", () => {
  fc.assert(
    fc.property(
      fc.record({
        first: fc.integer({ min: 1, max: 12 }),
        second: fc.integer({ min: 0, max: 12 }),
        after: fc.nat({ max: 30 }),
      }),
      portion,
      portion,
      orders,
      ({ first, second, after }, maxSurge, maxUnavailable, order) => {
        const sets = new Sets([empty("b"), full("a", first)]);
        const pace = paceOf({ maxSurge, maxUnavailable }, first);
        for (let step = 0; step < after; step++) {
          const [current, ...old] = sets.sets;
          sets.apply(rollingUpdate({ replicas: first, pace, current: { ...current! }, old }));
          const moves = sets.moves(new Set());
          moves[order.next().value % Math.max(1, moves.length)]?.();
        }
        const again = new Sets([empty("c"), sets.of("a"), sets.of("b")]);
        rollOut(again, { replicas: second, pace: paceOf({ maxSurge, maxUnavailable }, second), order });
        assert.deepEqual(
          again.sets.map(({ name, actual }) => [name, actual]),
          [
            ["c", second],
            ["a", 0],
            ["b", 0],
          ],
        );
      },
    ),
    { numRuns: 400 },
  );
});

test("old Machines that never become available do not hold a roll-out back for ever", () => {
  for (const replicas of [1, 3, 5])
    for (const maxSurge of [0, 1]) {
      const pace = paceOf({ maxSurge, maxUnavailable: 0 }, replicas);
      const sets = new Sets([empty("new"), { ...full("old", replicas), available: replicas - 1 }]);
      const order = (function* (): Generator<number> {
        for (let at = 0; ; at++) yield at;
      })();
      rollOut(sets, { replicas, pace, order, broken: new Set(["old"]) });
      assert.deepEqual(sets.of("new"), full("new", replicas));
    }
});

test("with maxSurge 0 a Machine is replaced only when the old one is gone", () => {
  const pace = paceOf({ maxSurge: 0, maxUnavailable: 1 }, 3);
  const sizes = (current: SetState, old: SetState) => [...rollingUpdate({ replicas: 3, pace, current, old: [old] })];
  assert.deepEqual(sizes(empty("new"), full("old", 3)), [["old", 2]]);
  assert.deepEqual(
    sizes(empty("new"), { name: "old", spec: 2, actual: 3, available: 2 }),
    [],
    "it is still being deleted",
  );
  assert.deepEqual(sizes(empty("new"), full("old", 2)), [["new", 1]]);
});

test("OnDelete keeps what old sets have, fills the rest, and shrinks the oldest first", () => {
  const old = [full("a", 2), { name: "b", spec: 2, actual: 1, available: 1 }];
  assert.deepEqual([...onDelete({ replicas: 4, current: empty("new"), old })], [["b", 1]], "what was deleted");
  assert.deepEqual(
    [...onDelete({ replicas: 4, current: empty("new"), old: [full("a", 2), full("b", 1)] })],
    [["new", 1]],
  );
  assert.deepEqual(
    [...onDelete({ replicas: 2, current: full("new", 1), old })],
    [
      ["a", 0],
      ["b", 1],
    ],
    "the current set keeps its Machines",
  );
  assert.deepEqual(
    [...onDelete({ replicas: 1, current: full("new", 2), old: [full("a", 2)] })],
    [
      ["new", 1],
      ["a", 0],
    ],
  );
});

test("OnDelete replaces a Machine only when it is gone, also while others are made", () => {
  const leaving = { name: "a", spec: 4, actual: 6, available: 4 };
  assert.deepEqual([...onDelete({ replicas: 7, current: empty("new"), old: [leaving] })], [["new", 1]]);
  assert.deepEqual([...onDelete({ replicas: 7, current: full("new", 1), old: [full("a", 4)] })], [["new", 3]]);
});

test("a set whose Machines are not available is taken down as far as the pace allows, at once", () => {
  const broken = { name: "old", spec: 6, actual: 6, available: 0 };
  const sizes = (maxSurge: number, maxUnavailable: number) => [
    ...rollingUpdate({ replicas: 6, pace: { maxSurge, maxUnavailable }, current: empty("new"), old: [broken] }),
  ];
  assert.deepEqual(sizes(0, 3), [["old", 3]]);
  assert.deepEqual(sizes(2, 3), [
    ["new", 2],
    ["old", 3],
  ]);
});

test("a paused deployment is scaled at its largest set; of two that are as large the newer grows and the older shrinks", () => {
  const sizes = (replicas: number, maxSurge: number | undefined, old: SetState[], current?: SetState) => [
    ...whilePaused({ replicas, maxSurge, current, old }),
  ];
  const [a2, a4, b3] = [full("a", 2), full("a", 4), full("b", 3)];
  assert.deepEqual(sizes(5, 1, [a2], b3), [["b", 4]]);
  assert.deepEqual(sizes(6, 0, [full("z", 0), a4], full("b", 1)), [["a", 5]]);
  assert.deepEqual(sizes(8, 0, [full("a", 3)], b3), [["b", 5]]);
  assert.deepEqual(sizes(5, 0, [full("a", 3)], b3), [["a", 2]]);
  assert.deepEqual(sizes(3, 1, [full("a", 5)], full("b", 6)), [["b", 0]]);
  assert.deepEqual(sizes(5, 0, [a2], b3), []);
});

test("a paused deployment whose Machines are all of one set, or none's, has that one scaled; without a current set the newest", () => {
  const sizes = (old: SetState[], current?: SetState) => [...whilePaused({ replicas: 3, maxSurge: 1, current, old })];
  assert.deepEqual(sizes([full("a", 5)], full("b", 0)), [["a", 3]]);
  assert.deepEqual(sizes([full("a", 0)], full("b", 0)), [["b", 3]]);
  assert.deepEqual(sizes([full("a", 0), full("b", 0)]), [["b", 3]]);
  assert.deepEqual(sizes([full("a", 3)]), []);
  assert.deepEqual(sizes([]), []);
});

test("a paused deployment whose current set has all Machines has no others; without replicas all sets are emptied; under OnDelete several stay", () => {
  const old = [full("a", 2), full("b", 1)];
  const facts = { replicas: 3, maxSurge: 1, current: full("c", 3), old };
  const emptied = [
    ["a", 0],
    ["b", 0],
  ];
  assert.deepEqual([...whilePaused(facts)], emptied);
  assert.deepEqual([...whilePaused({ ...facts, maxSurge: undefined })], emptied);
  const unfinished = { ...full("c", 3), available: 2 };
  assert.deepEqual([...whilePaused({ ...facts, maxSurge: undefined, current: unfinished })], []);
  assert.deepEqual([...whilePaused({ ...facts, current: unfinished })], [["c", 1]]);
  assert.deepEqual([...whilePaused({ ...facts, replicas: 0, current: unfinished })], [...emptied, ["c", 0]]);
});

test("portions: a surge is rounded up, what may be missing down, and never are both 0", () => {
  assert.equal(portionOf("25%", 3, "up"), 1);
  assert.equal(portionOf("25%", 3, "down"), 0);
  assert.deepEqual(paceOf(undefined, 3), { maxSurge: 1, maxUnavailable: 0 });
  assert.deepEqual(paceOf({ maxSurge: "0%", maxUnavailable: "10%" }, 3), { maxSurge: 0, maxUnavailable: 1 });
});
