/** How the book is written: one turn after the other, each pool under the version that was read. The API is played by the test. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog } from "@slipway/base";
import type { Context, Ref } from "@slipway/kube";
import type { IPPool } from "../../../kinds/ipam/ip-pool.ts";
import type { Vino } from "../../../kinds/vino/vino.ts";
import { readSpecification } from "../plan/specification.ts";
import { bridgeOwner, ownerIn, type Wish } from "./book.ts";
import { Pools } from "./pools.ts";

const NAMESPACE = "vino-system";

/** An API with IPPools, and a cache that shows nothing until `isSeen`. */
class Api {
  readonly pools = new Map<string, IPPool>();
  readonly asked: string[] = [];
  isSeen = false;
  /** What somebody else does just before a write. */
  before: (what: string) => void = () => {};
  #version = 0;
  #writing = 0;

  get context(): Context {
    const client = {
      list: async () => {
        this.asked.push("list");
        return { items: [...this.pools.values()] };
      },
      create: (_: object, { metadata, spec }: IPPool) =>
        this.#write(`create ${metadata.name}`, () => {
          if (this.pools.has(metadata.name)) throw new Fault("AlreadyExists", metadata.name, "it is there");
          this.put(metadata.name, spec, metadata.labels);
        }),
      patch: (_: object, { name }: Ref, { body }: { body: { metadata: { resourceVersion: string }; spec: object } }) =>
        this.#write(`patch ${name}`, () => {
          const { spec, metadata } = this.#under(name, body.metadata.resourceVersion);
          this.put(name, { ...spec, ...body.spec }, metadata.labels);
        }),
      delete: (_: object, { name }: Ref, { resourceVersion }: { resourceVersion: string }) =>
        this.#write(`delete ${name}`, () => {
          this.#under(name, resourceVersion);
          this.pools.delete(name);
        }),
    };
    const cache = { list: () => (this.isSeen ? [...this.pools.values()] : []) };
    return { client, cache, log: quietLog } as unknown as Context;
  }

  put(name: string, spec: IPPool["spec"], labels: Record<string, string> = {}): void {
    const resourceVersion = String(++this.#version);
    const metadata = { namespace: NAMESPACE, name, uid: name, resourceVersion, labels };
    this.pools.set(name, { metadata, spec } as IPPool);
  }

  #under(name: string, version: string): IPPool {
    const held = this.pools.get(name);
    if (held === undefined) throw new Fault("NotFound", name, "it is gone");
    if (held.metadata.resourceVersion !== version) throw new Fault("Conflict", name, "it was changed");
    return held;
  }

  async #write(what: string, change: () => void): Promise<void> {
    this.asked.push(what);
    assert.equal(this.#writing++, 0, `${what}, while something else is being written`);
    this.before(what);
    await Promise.resolve();
    try {
      change();
    } finally {
      this.#writing--;
    }
  }
}

/** A node's wish: a bridge and this many interfaces in each subnet. */
function wish(node: string, subnets: readonly number[], count: number, macPrefix?: string): Wish {
  const spec = {
    networks: subnets.map((at) => ({
      ...{ name: `net${at}`, bridgeName: `br${at}`, subnet: `10.${at}.0.0/16` },
      ...{ staticAllocationStart: `10.${at}.1.0`, staticAllocationStop: `10.${at}.1.9`, macPrefix },
    })),
  };
  const { networks } = readSpecification({ spec } as unknown as Vino);
  const hosts = Array.from({ length: count }, (_, i) => `h-${i}`);
  const owner = `sea/whale/${node}`;
  const interfaces = new Map(networks.map(({ name }) => [name, hosts.map((host) => ownerIn(owner, host, name))]));
  return { owner, networks, interfaces, keeps: () => false, isTold: () => true };
}
const nothing = (node: string): Wish => ({ ...wish(node, [], 0), interfaces: new Map() });
const held = (api: Api) => [...api.pools.values()].flatMap(({ spec }) => spec.allocatedIPs);

test("VINO-11 nodes that ask at once are served one after the other, and the next one is served also when one fails", async () => {
  const [api, pools] = [new Api(), new Pools(NAMESPACE)];
  const failing = { ...wish("x", [0], 1), keeps: () => assert.fail("it fails") };
  const asked = ["a", "b", "c"].map((node) => pools.settle(api.context, wish(node, [0], 1)));
  const bad = pools.settle(api.context, failing);
  const last = pools.settle(api.context, wish("d", [0], 1));
  await assert.rejects(bad, /it fails/);
  const given = await Promise.all([...asked, last]);
  const ips = given.flatMap(({ bridges, interfaces }) => [...bridges.values(), ...interfaces.values()]);
  assert.equal(new Set(ips.map(({ ip }) => ip)).size, 8);
  assert.ok(ips.every(({ ip, mac }) => held(api).some((one) => one.ip === ip && one.mac === mac)));
});

test("a wish that the cache shows fulfilled asks the API nothing", async () => {
  const [api, pools] = [new Api(), new Pools(NAMESPACE)];
  const first = await pools.settle(api.context, wish("a", [0], 2));
  api.isSeen = true;
  api.asked.length = 0;
  assert.deepEqual(await pools.settle(api.context, wish("a", [0], 2)), first);
  assert.deepEqual(api.asked, []);
});

test("a pool that was made here goes with its last address; one that a user made stays", async () => {
  const [api, pools] = [new Api(), new Pools(NAMESPACE)];
  const spec = {
    subnet: "10.1.0.0/16",
    ranges: [],
    allocatedIPs: [],
    macPrefix: "06:00:00:00:00:00",
    nextMAC: "06:00:00:00:00:00",
  };
  api.put("ippool-10-1-0-0-16", spec);
  await pools.settle(api.context, wish("a", [0, 1], 1));
  assert.equal(held(api).length, 4);
  api.isSeen = true;
  await pools.settle(api.context, nothing("b"));
  assert.equal(held(api).length, 4);
  await pools.settle(api.context, nothing("a"));
  assert.deepEqual([...api.pools.keys()], ["ippool-10-1-0-0-16"]);
  assert.deepEqual(held(api), []);
});

test("a pool that others write is read again, and once more when it is written; five times in all", async () => {
  const [api, pools] = [new Api(), new Pools(NAMESPACE)];
  await pools.settle(api.context, wish("a", [0], 1));
  const touch = () =>
    api.put(
      "ippool-10-0-0-0-16",
      api.pools.get("ippool-10-0-0-0-16")!.spec,
      api.pools.get("ippool-10-0-0-0-16")!.metadata.labels,
    );
  for (const [times, isServed] of [
    [3, true],
    [4, false],
  ] as const) {
    let left = times;
    api.before = () => left-- > 0 && touch();
    const asked = pools.settle(api.context, wish(`b-${times}`, [0], 1));
    if (isServed) assert.equal((await asked).interfaces.size, 1);
    else await assert.rejects(asked, { code: "Conflict" });
  }
});

test("VINO-3 a MAC address that another pool gave meanwhile is not kept, and what others have stays as it is", async () => {
  const [api, pools] = [new Api(), new Pools(NAMESPACE)];
  const mac = "52:54:00:00:00:0A";
  await pools.settle(api.context, wish("z", [1], 0, mac.toLowerCase()));
  const other = api.pools.get("ippool-10-1-0-0-16")!;
  await pools.settle(api.context, nothing("z"));
  // Just when the first pool is written, another operator has given its MAC address of another pool.
  api.before = (what) => {
    if (what === "create ippool-10-0-0-0-16")
      api.put("ippool-10-1-0-0-16", {
        ...other.spec,
        allocatedIPs: [{ allocatedTo: "other/vino/n/h-0/net1", ip: "10.1.1.5", mac }],
      });
  };
  const { bridges, interfaces } = await pools.settle(api.context, wish("a", [0], 1, mac.toLowerCase()));
  const got = [...bridges.values(), ...interfaces.values()].map((one) => one.mac);
  assert.equal(got.length, 2);
  assert.ok(!got.includes(mac.toLowerCase()), got.join());
  assert.deepEqual(
    held(api)
      .map((one) => one.mac)
      .toSorted(),
    [mac, ...got].toSorted(),
  );
  assert.ok(held(api).some(({ allocatedTo }) => allocatedTo === bridgeOwner("sea/whale/a", "net0")));
});

test("VINO-3 a MAC address that two pools have since an operator died before it looked again is told to one alone; what a node was told stays", async () => {
  const [api, pools] = [new Api(), new Pools(NAMESPACE)];
  const asked = wish("a", [0], 1);
  const first = await pools.settle(api.context, asked);
  const own = ownerIn(asked.owner, "h-0", "net0");
  const { mac } = first.interfaces.get(own)!;
  const other = { allocatedTo: "other/vino/n/h-0/net1", ip: "10.1.1.5", mac: mac.toUpperCase() };
  api.put("ippool-10-1-0-0-16", {
    ...{ subnet: "10.1.0.0/16", ranges: [], allocatedIPs: [other] },
    ...{ macPrefix: "06:00:00:00:00:00", nextMAC: "06:00:00:00:00:00" },
  });
  api.isSeen = true;
  api.asked.length = 0;
  assert.deepEqual(await pools.settle(api.context, asked), first);
  assert.deepEqual(api.asked, []);
  const { bridges, interfaces } = await pools.settle(api.context, { ...asked, isTold: (of) => of !== own });
  assert.deepEqual(bridges, first.bridges);
  assert.notEqual(interfaces.get(own)!.mac, mac);
  assert.deepEqual(
    held(api)
      .map(({ mac }) => mac.toLowerCase())
      .toSorted(),
    [...new Set(held(api).map(({ mac }) => mac.toLowerCase()))].toSorted(),
  );
  assert.ok(held(api).some((one) => one.allocatedTo === other.allocatedTo && one.mac === other.mac));
});

test("other faults of the API are not tried again", async () => {
  const [api, pools] = [new Api(), new Pools(NAMESPACE)];
  api.before = () => {
    throw new Fault("Forbidden", "IPPool", "no rights");
  };
  await assert.rejects(pools.settle(api.context, wish("a", [0], 1)), { code: "Forbidden" });
  assert.deepEqual(api.asked, ["list", "create ippool-10-0-0-0-16"]);
});
