import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Vino } from "../../../kinds/vino/vino.ts";
import { readSpecification } from "../plan/specification.ts";
import { type Book, bridgeOwner, isUnused, ownerIn, settle } from "./book.ts";

interface Net {
  name?: string;
  subnet?: string;
  statics?: [string, string];
  dhcp?: [string, string];
  macPrefix?: string;
  bits?: number;
}

/** Networks as a Vino would have them. */
function networks(...nets: readonly Net[]) {
  const spec = {
    networks: nets.map(
      ({ name = "net", subnet = "10.0.0.0/16", statics = ["10.0.1.0", "10.0.1.9"], dhcp, macPrefix, bits }, i) => ({
        ...{
          name: `${name}${i}`,
          subnet,
          bridgeName: `br${i}`,
          staticAllocationStart: statics[0],
          staticAllocationStop: statics[1],
        },
        ...(dhcp && { dhcpAllocationStart: dhcp[0], dhcpAllocationStop: dhcp[1], instanceSubnetBitStep: bits ?? 4 }),
        ...(macPrefix && { macPrefix }),
      }),
    ),
  };
  return readSpecification({ spec } as unknown as Vino).networks;
}

const gone = (): boolean => false;
const wish = (owner: string, nets: ReturnType<typeof networks>, hosts: readonly string[] = []) => ({
  owner,
  networks: nets,
  interfaces: new Map(nets.map(({ name }) => [name, hosts.map((host) => ownerIn(owner, host, name))])),
  keeps: gone,
  isTold: () => true,
});

test("VINO-3 two networks without macPrefix never have the same MAC", () => {
  const nets = networks({}, { subnet: "10.1.0.0/16", statics: ["10.1.1.0", "10.1.1.9"] });
  const { given } = settle(new Map(), wish("ns/v/a", nets, ["h-0"]));
  const macs = [...given.bridges.values(), ...given.interfaces.values()].map(({ mac }) => mac);
  assert.deepEqual(macs.toSorted(), [
    "02:00:00:00:00:00",
    "02:00:00:00:00:01",
    "02:00:01:00:00:00",
    "02:00:01:00:00:01",
  ]);
});

test("VINO-3 two subnets of one macPrefix never give the same MAC", () => {
  const macPrefix = "52:54:00:00:00:00";
  const nets = networks({ macPrefix }, { subnet: "10.1.0.0/16", statics: ["10.1.1.0", "10.1.1.9"], macPrefix });
  const { given } = settle(new Map(), wish("ns/v/a", nets, ["h-0", "h-1"]));
  const macs = [...given.bridges.values(), ...given.interfaces.values()].map(({ mac }) => mac);
  assert.equal(new Set(macs).size, 6);
});

test("blocks for DHCP are two to the step in size, the first free one, and the owner's stays", () => {
  for (const [bits, count] of [
    [4, 64],
    [6, 16],
  ] as const) {
    const nets = networks({
      subnet: "192.168.0.0/20",
      statics: ["192.168.2.0", "192.168.2.255"],
      dhcp: ["192.168.4.0", "192.168.7.255"],
      bits,
    });
    let book: Book = new Map();
    const blocks: string[] = [];
    for (let i = 0; i <= count; i++) {
      const settled = settle(book, wish(`ns/v/n${i}`, nets));
      book = settled.book;
      const block = settled.given.blocks.get("net0");
      if (block !== undefined) blocks.push(`${block.start}-${block.stop}`);
      else assert.match(settled.given.missing.join(), /no block of \d+ addresses is free for DHCP/);
    }
    assert.equal(blocks.length, count);
    assert.equal(new Set(blocks).size, count);
    assert.equal(blocks[0], bits === 4 ? "192.168.4.0-192.168.4.15" : "192.168.4.0-192.168.4.63");
    assert.deepEqual(settle(book, wish("ns/v/n3", nets)).given.blocks.get("net0"), {
      start: blocks[3]!.split("-")[0],
      stop: blocks[3]!.split("-")[1],
    });
  }
});

test("VINO-11 ranges that overlap those of other pools, or others' blocks, are refused with their path", () => {
  const { book } = settle(new Map(), wish("ns/v/a", networks({ dhcp: ["10.0.4.0", "10.0.4.255"] })));
  for (const [net, message] of [
    [
      { statics: ["10.0.1.5", "10.0.1.20"] as [string, string] },
      /spec\.networks\[0\]: 10\.0\.1\.5-10\.0\.1\.20 overlaps 10\.0\.1\.0-10\.0\.1\.9 of IPPool ippool-10-0-0-0-16/,
    ],
    [{ subnet: "10.0.0.0/20" }, /overlaps 10\.0\.1\.0-10\.0\.1\.9 of IPPool/],
    [{ statics: ["10.0.4.4", "10.0.4.8"] as [string, string] }, /which ns\/v\/a\/bridge\/net0 has for DHCP/],
    [{ macPrefix: "52:00:00:00:00:00" }, /begin with 02:00:00:00:00:00, which is immutable/],
  ] as const) {
    const { given, book: after } = settle(book, wish("ns/w/a", networks(net as Net)));
    assert.match(given.missing.join(), message);
    assert.equal(given.bridges.size, 0);
    assert.deepEqual(
      [...after].map(([name]) => name),
      ["ippool-10-0-0-0-16"],
    );
  }
});

test("one network that can't be served keeps no other from it", () => {
  const { book } = settle(new Map(), wish("ns/v/a", networks({})));
  const { given } = settle(
    book,
    wish(
      "ns/w/a",
      networks({ statics: ["10.0.1.5", "10.0.1.20"] }, { subnet: "10.9.0.0/16", statics: ["10.9.0.1", "10.9.0.9"] }),
    ),
  );
  assert.equal(given.missing.length, 1);
  assert.equal(given.bridges.get("net1")?.ip, "10.9.0.1");
});

function noneTwice(book: Book): void {
  const specs = [...book.values()].map(({ spec }) => spec);
  const all = specs.flatMap(({ allocatedIPs }) => allocatedIPs);
  const blocks = specs.flatMap(({ allocatedRanges }) => allocatedRanges ?? []);
  for (const texts of [all.map(({ ip }) => ip), all.map(({ mac }) => mac), blocks.map(({ start }) => start)])
    assert.equal(new Set(texts).size, texts.length);
}

function sameAgain(book: Book, again: Book): void {
  for (const [name, { spec }] of book) assert.equal(again.get(name)?.spec, spec);
}

test("VINO-11 whatever joins, changes and leaves: no address, MAC or block twice, nothing changes when asked again, and nothing is left at the end", () => {
  const nets = networks(
    { dhcp: ["10.0.4.0", "10.0.4.255"] },
    { subnet: "fd00::/64", statics: ["fd00::10", "fd00::1f"], macPrefix: "02:00:00:00:00:00" },
  );
  const step = fc.record({
    owner: fc.integer({ min: 0, max: 4 }),
    hosts: fc.integer({ min: 0, max: 4 }),
    both: fc.boolean(),
    isLeaving: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      let book: Book = new Map();
      const at = (owner: number) => `ns/v/${owner}`;
      const netsOf = ({ both, isLeaving }: { both: boolean; isLeaving: boolean }) =>
        isLeaving ? [] : both ? nets : nets.slice(0, 1);
      for (const each of steps) {
        const names = Array.from({ length: each.hosts }, (_, i) => `h-${i}`);
        const asked = wish(at(each.owner), netsOf(each), names);
        book = settle(book, asked).book;
        noneTwice(book);
        sameAgain(book, settle(book, asked).book);
      }
      for (let owner = 0; owner < 5; owner++) book = settle(book, wish(at(owner), [])).book;
      for (const { spec } of book.values()) assert.ok(isUnused(spec));
    }),
    { numRuns: 150 },
  );
});

test("a range that is enlarged takes the place of the old one, unless another Vino has addresses there", () => {
  const small = networks({ statics: ["10.0.1.0", "10.0.1.1"] });
  const large = networks({ statics: ["10.0.1.0", "10.0.1.99"] });
  const { book } = settle(new Map(), wish("ns/v/a", small));
  const { given, book: after } = settle(book, wish("ns/v/a", large, ["h-0", "h-1"]));
  assert.deepEqual(given.missing, []);
  assert.deepEqual(after.get("ippool-10-0-0-0-16")!.spec.ranges, [{ start: "10.0.1.0", stop: "10.0.1.99" }]);
  const shared = settle(book, wish("ns/w/a", small)).book;
  assert.match(
    settle(shared, wish("ns/v/a", large)).given.missing.join(),
    /overlaps 10\.0\.1\.0-10\.0\.1\.1 of IPPool/,
  );
});

test("names that begin alike are different owners", () => {
  const nets = networks({});
  const { book } = settle(settle(new Map(), wish("ns/v/a", nets)).book, wish("ns/v/ab", nets));
  const after = settle(book, wish("ns/v/a", [])).book;
  assert.deepEqual(
    [...after.values()].flatMap(({ spec }) => spec.allocatedIPs.map(({ allocatedTo }) => allocatedTo)),
    [bridgeOwner("ns/v/ab", "net0")],
  );
});
