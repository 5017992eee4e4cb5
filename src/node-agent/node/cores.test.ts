import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type CoreWish, type Holder, type Placement, placesFor } from "./cores.ts";

const NODES = [
  { id: 0, cores: [0, 1, 2, 3], hugepages: { 2048: 512, 1048576: 2 } },
  { id: 1, cores: [4, 5, 6, 7], hugepages: { 2048: 512, 1048576: 0 } },
];
const HOST = { nodes: NODES };

function wish(name: string, vcpus: number, more: Partial<CoreWish> = {}): CoreWish {
  return { name, vcpus, memoryMiB: 1024, pinned: true, hugepages: false, ...more };
}

/** What libvirt says of a domain with such a place. */
function holder({ name, memoryMiB }: CoreWish, { cores = [], numaNode, hugepageKiB }: Placement): Holder {
  return {
    name,
    next: {
      ...{ cores, pinned: cores, memoryKiB: memoryMiB * 1024 },
      ...(numaNode !== undefined && { numaNode }),
      ...(hugepageKiB !== undefined && { hugepageKiB }),
    },
  };
}

test("the first NUMA node with room gives its lowest cores, all of one node", () => {
  const { placed, problems } = placesFor([wish("a", 2), wish("b", 3), wish("c", 2)], [], HOST, [0]);
  assert.deepEqual(placed.get("a"), { cores: [1, 2], numaNode: 0 });
  assert.deepEqual(placed.get("b"), { cores: [4, 5, 6], numaNode: 1 });
  assert.equal(problems.get("c"), "no NUMA node has 2 free cores");
});

test("huge pages are the largest that fit, of the cores' own node, and are not promised twice", () => {
  const huge = { hugepages: true, memoryMiB: 2048 };
  const { placed } = placesFor(
    [
      wish("a", 1, huge),
      wish("b", 1, { hugepages: true, memoryMiB: 512 }),
      wish("c", 1, { hugepages: true, memoryMiB: 1024 }),
    ],
    [],
    HOST,
    [],
  );
  assert.deepEqual(placed.get("a"), { cores: [0], hugepageKiB: 1048576, numaNode: 0 });
  assert.deepEqual(placed.get("b"), { cores: [1], hugepageKiB: 2048, numaNode: 0 });
  assert.deepEqual(placed.get("c"), { cores: [4], hugepageKiB: 2048, numaNode: 1 });
});

test("a domain that still runs on its old cores keeps others from them", () => {
  const resized = wish("a", 3);
  const { next } = holder(resized, { cores: [2], numaNode: 0 });
  const running: Holder = { name: "a", next, live: { ...next, cores: [0, 1], pinned: [0, 1] } };
  const { placed } = placesFor([resized, wish("b", 1)], [running], HOST, []);
  assert.deepEqual(placed.get("a"), { cores: [2, 0, 1], numaNode: 0 });
  assert.deepEqual(placed.get("b"), { cores: [3], numaNode: 0 });
});

test("a foreign domain's cores are not given; cores that are excluded later are given up", () => {
  const foreign: Holder = { name: "theirs", next: { cores: [], pinned: [0, 1, 2], memoryKiB: 0 } };
  assert.deepEqual(placesFor([wish("a", 1)], [foreign], HOST, []).placed.get("a"), { cores: [3], numaNode: 0 });
  const held = holder(wish("a", 1), { cores: [3], numaNode: 0 });
  assert.deepEqual(placesFor([wish("a", 1)], [held], HOST, [3]).placed.get("a"), { cores: [0], numaNode: 0 });
});

/** As many cores as are wanted, all of one NUMA node. */
function checkPlace(one: CoreWish, { cores, numaNode }: Placement): void {
  assert.equal(cores?.length, one.pinned ? one.vcpus : undefined);
  const node = NODES.find(({ id }) => id === numaNode);
  assert.ok((cores ?? []).every((core) => node!.cores.includes(core)));
}

/** No more huge pages than there are. */
function checkPages(round: readonly CoreWish[], placed: ReadonlyMap<string, Placement>): void {
  for (const node of NODES)
    for (const [size, count] of Object.entries(node.hugepages)) {
      const users = round.filter(({ name }) => {
        const place = placed.get(name);
        return place?.numaNode === node.id && place.hugepageKiB === Number(size);
      });
      const used = users.reduce((sum, { memoryMiB }) => sum + Math.ceil((memoryMiB * 1024) / Number(size)), 0);
      assert.ok(used <= count);
    }
}

test("a domain that is not pinned any more gives up its core", () => {
  const held = holder(wish("a", 1), { cores: [3], numaNode: 0 });
  assert.deepEqual(placesFor([wish("a", 1, { pinned: false })], [held], HOST, []).placed.get("a"), {});
  const huge = { hugepages: true, pinned: false };
  const { placed } = placesFor(
    [wish("a", 1, huge)],
    [{ ...held, next: { ...held.next, hugepageKiB: 2048 } }],
    HOST,
    [],
  );
  assert.deepEqual(placed.get("a"), { hugepageKiB: 1048576, numaNode: 0 });
});

test("no core is given twice, none that is excluded, and asking again with what came of it changes nothing", () => {
  const wishes = fc.uniqueArray(
    fc.record({
      name: fc.stringMatching(/^[a-z]{1,3}$/),
      vcpus: fc.integer({ min: 1, max: 5 }),
      memoryMiB: fc.constantFrom(512, 1024, 2048, 3),
      pinned: fc.boolean(),
      hugepages: fc.boolean(),
    }),
    { selector: ({ name }) => name, maxLength: 8 },
  );
  const excluded = fc.subarray([0, 1, 2, 3, 4, 5, 6, 7], { maxLength: 4 });
  fc.assert(
    fc.property(wishes, wishes, excluded, excluded, (first, second, before, after) => {
      let holders: Holder[] = [];
      for (const [round, out] of [
        [first, before],
        [second, after],
      ] as const) {
        const { placed, problems } = placesFor(round, holders, HOST, out);
        const cores = [...placed.values()].flatMap((one) => one.cores ?? []);
        assert.equal(new Set(cores).size, cores.length);
        assert.ok(!cores.some((core) => out.includes(core)));
        for (const one of round) {
          const place = placed.get(one.name);
          if (place === undefined) assert.ok(problems.has(one.name));
          else checkPlace(one, place);
        }
        checkPages(round, placed);
        holders = round.flatMap((one) => (placed.has(one.name) ? [holder(one, placed.get(one.name)!)] : []));
        assert.deepEqual(
          placesFor(
            round.filter(({ name }) => placed.has(name)),
            holders,
            HOST,
            out,
          ).placed,
          placed,
        );
      }
    }),
  );
});
