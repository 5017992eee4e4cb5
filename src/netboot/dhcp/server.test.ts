import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import type { LeaseStore } from "./leases/lease.ts";
import { Reservations } from "./reservations.ts";
import { CONFIG, MemoryStore, mac, Rack, SENDS, say, US } from "./testing.ts";
import { formatIpv4, parseIpv4 } from "./wire/ipv4.ts";

const MINUTE = 60_000;
const POOL = Array.from({ length: 10 }, (_, i) => `10.0.0.${100 + i}`);

test("a client gets an address, its network's options and its lease times", async () => {
  const rack = new Rack();
  const offer = await rack.send(say("discover"));
  assert.equal(offer?.type, "offer");
  assert.equal(offer.yiaddr, "10.0.0.100");
  assert.equal(offer.to, "255.255.255.255:68");
  assert.deepEqual(offer.option(54), [10, 0, 0, 2]);
  assert.deepEqual(offer.option(51), [0, 0, 14, 16]);
  assert.deepEqual(offer.option(58), [0, 0, 7, 8]);
  assert.deepEqual(offer.option(59), [0, 0, 12, 78]);
  assert.deepEqual(offer.option(3), [10, 0, 0, 1]);
  assert.deepEqual(offer.option(6), [10, 0, 0, 53]);
  const ack = await rack.send(say("request", { asks: "10.0.0.100", server: US }));
  assert.equal(ack?.type, "ack");
  assert.equal(ack.yiaddr, "10.0.0.100");
});

test("firmware, iPXE and the system of one machine keep one address", async () => {
  const rack = new Rack();
  for (const sends of [SENDS.ovmfPxe, SENDS.ipxeOnUefi, { ...SENDS.system, 61: [255, 1, 2, 3] }])
    assert.equal(await rack.boot({ sends }), "10.0.0.100");
  assert.equal(rack.store.leases.size, 1);
});

test("N15 the lease time is the configured one, and the short one for what boots", async () => {
  const rack = new Rack();
  await rack.boot({ mac: mac(1), sends: SENDS.ovmfPxe });
  await rack.boot({ mac: mac(2) });
  const left = [...rack.store.leases.values()].map(({ expiresAt }) => expiresAt - rack.now);
  assert.deepEqual(left, [2 * MINUTE, 60 * MINUTE]);
});

test("N10 after a restart each client has its address, and nobody else gets it", async () => {
  const before = new Rack();
  assert.equal(await before.boot({ mac: mac(1) }), "10.0.0.100");
  const after = new Rack({ store: before.store });
  assert.equal(await after.boot({ mac: mac(2) }), "10.0.0.101");
  const again = await after.send(say("request", { mac: mac(1), asks: "10.0.0.100" }));
  assert.equal(again?.type, "ack");
});

test("N10 a lease that could not be written is not acknowledged; the next client is served", async () => {
  const rack = new Rack();
  const offer = await rack.send(say("discover"));
  rack.store.failing = true;
  await assert.rejects(rack.send(say("request", { asks: offer!.yiaddr, server: US })), /disk full/);
  rack.store.failing = false;
  const ack = await rack.send(say("request", { asks: offer!.yiaddr, server: US }));
  assert.equal(ack?.type, "ack");
});

test("N15 a declined address is left alone for the quarantine, and the client gets another one", async () => {
  const rack = new Rack();
  await rack.boot();
  assert.equal(await rack.send(say("decline", { asks: "10.0.0.100", server: US })), undefined);
  assert.equal(await rack.boot(), "10.0.0.101");
  const others = await Promise.all(POOL.map((_, i) => rack.boot({ mac: mac(i) })));
  assert.ok(!others.includes("10.0.0.100"));
  rack.now += 10 * MINUTE;
  assert.equal(await rack.boot({ mac: mac(99) }), "10.0.0.100");
});

test("N15 nobody can decline an address that is not its own", async () => {
  const rack = new Rack();
  await rack.boot({ mac: mac(1) });
  await rack.send(say("decline", { mac: mac(2), asks: "10.0.0.100", server: US }));
  await rack.send(say("decline", { mac: mac(2), asks: "10.0.0.105", server: US }));
  assert.deepEqual(
    [...rack.store.leases.values()].map(({ state }) => state),
    ["bound"],
  );
});

test("N15 an address in use is not offered, and is left alone like a declined one", async () => {
  const used = [100, 101];
  const asked: number[] = [];
  const inUse = async (address: number): Promise<boolean> => {
    asked.push(address & 255);
    return used.includes(address & 255);
  };
  const rack = new Rack({ inUse });
  assert.equal(await rack.boot({ mac: mac(1) }), "10.0.0.102");
  assert.equal(await rack.boot({ mac: mac(2) }), "10.0.0.103");
  await rack.send(say("discover", { mac: mac(1) }));
  assert.deepEqual(asked, [100, 101, 102, 103]);
});

test("N15 an address whose newest line is damaged is looked at before another client gets it, and only then", async () => {
  const asked: string[] = [];
  const inUse = async (address: number): Promise<boolean> => {
    asked.push(formatIpv4(address));
    return true;
  };
  const store = new MemoryStore();
  const doubtful = parseIpv4("10.0.0.100");
  for (const [i, address] of [doubtful, parseIpv4("10.0.0.101")].entries())
    await store.put({ address, client: `1/52540000010${i + 1}`, state: "released", expiresAt: 0 });
  const around = (): LeaseStore => ({
    load: () => store.load(),
    put: (lease) => store.put(lease),
    close() {},
    doubtful: new Set([doubtful]),
  });
  const rack = new Rack({ inUse, store, around });
  assert.equal(await rack.boot({ mac: mac(9) }), "10.0.0.101");
  assert.deepEqual(asked, ["10.0.0.100"]);
  assert.equal(store.leases.get(doubtful)?.state, "declined");
});

test("N15 while an address is looked at, nobody else is offered it, and the same client is answered in turn", async () => {
  let answer: (used: boolean) => void = () => {};
  let looks = 0;
  const inUse = (): Promise<boolean> => {
    looks += 1;
    return looks === 1 ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(false);
  };
  const rack = new Rack({ inUse });
  const first = rack.send(say("discover", { mac: mac(1) }));
  const again = rack.send(say("discover", { mac: mac(1) }));
  assert.equal((await rack.send(say("discover", { mac: mac(2) })))?.yiaddr, "10.0.0.101");
  answer(false);
  assert.deepEqual([(await first)?.yiaddr, (await again)?.yiaddr], ["10.0.0.100", "10.0.0.100"]);
  assert.equal(looks, 2);
});

/** RFC 2131 §4.3.2, table 4; N17 for the addresses of others. The machine 01 has 10.0.0.100, the machine 02 has 10.0.0.101. */
const REQUESTS: [string, Parameters<typeof say>[1], "ack" | "nak" | undefined][] = [
  ["selecting its offer", { asks: "10.0.0.100", server: US }, "ack"],
  ["selecting another server", { asks: "10.0.0.100", server: "10.0.0.9" }, undefined],
  ["selecting us with an address of somebody else", { asks: "10.0.0.101", server: US }, "nak"],
  ["selecting us with an address of another network", { asks: "192.168.7.7", server: US }, "nak"],
  ["rebooting with its address", { asks: "10.0.0.100" }, "ack"],
  ["rebooting with a foreign address", { asks: "10.0.0.101" }, "nak"],
  ["rebooting with a free address that it never had", { asks: "10.0.0.105" }, undefined],
  ["rebooting with an address outside of the pool", { asks: "10.0.0.7" }, undefined],
  ["rebooting with an address of another network", { asks: "192.168.7.7" }, undefined],
  ["renewing its address", { ciaddr: "10.0.0.100" }, "ack"],
  ["renewing a foreign address", { ciaddr: "10.0.0.101" }, "nak"],
  ["renewing a free address of the pool that we forgot", { ciaddr: "10.0.0.105" }, "ack"],
  ["renewing an address outside of the pool", { ciaddr: "10.0.0.7" }, undefined],
  ["asking for the gateway's address", { asks: "10.0.0.1" }, undefined],
  ["naming no address", { server: US }, undefined],
];

for (const [name, said, answer] of REQUESTS) {
  test(`N17 ${name}: ${answer ?? "silence"}`, async () => {
    const rack = new Rack();
    await rack.boot({ mac: "52:54:00:00:00:01" });
    await rack.boot({ mac: "52:54:00:00:00:02" });
    const reply = await rack.send(say("request", said));
    assert.equal(reply?.type, answer);
    if (answer === "nak") {
      assert.equal(reply?.to, "255.255.255.255:68");
      assert.equal(reply?.yiaddr, "0.0.0.0");
      assert.equal(reply?.option(51), undefined);
    }
    if (said?.ciaddr !== undefined && answer === "ack") assert.equal(reply?.to, `${said.ciaddr}:68`);
  });
}

test("a released address goes back to its client, and to others only when it is needed", async () => {
  const rack = new Rack();
  await rack.boot({ mac: mac(0) });
  assert.equal(await rack.send(say("release", { mac: mac(0), ciaddr: "10.0.0.100", server: US })), undefined);
  assert.equal(await rack.boot({ mac: mac(1) }), "10.0.0.101");
  assert.equal(await rack.boot({ mac: mac(0) }), "10.0.0.100");
  await rack.send(say("release", { mac: mac(1), ciaddr: "10.0.0.100" }));
  assert.equal(rack.store.leases.get(0x0a000064)?.state, "bound");
});

test("a full pool is silent, says so, and serves again when an address comes back or expires", async () => {
  const rack = new Rack();
  for (const [i] of POOL.entries()) assert.equal(await rack.boot({ mac: mac(i) }), POOL[i]);
  assert.equal(await rack.boot({ mac: mac(20) }), undefined);
  assert.match(JSON.stringify(rack.events.at(-1)), /the pool is used up/);
  await rack.send(say("release", { mac: mac(4), ciaddr: "10.0.0.104" }));
  assert.equal(await rack.boot({ mac: mac(20) }), "10.0.0.104");
  assert.equal(await rack.boot({ mac: mac(21) }), undefined);
  rack.now += 61 * MINUTE;
  assert.notEqual(await rack.boot({ mac: mac(21) }), undefined);
});

test("a full pool serves again when a lease ends earlier than it was to: declined, or bound anew for a short time by what boots", async () => {
  const rack = new Rack();
  for (const [i] of POOL.entries()) await rack.boot({ mac: mac(i) });
  assert.equal(await rack.boot({ mac: mac(20) }), undefined);
  await rack.send(say("decline", { mac: mac(3), asks: "10.0.0.103", server: US }));
  assert.equal(await rack.boot({ mac: mac(20) }), undefined);
  rack.now += 10 * MINUTE;
  assert.equal(await rack.boot({ mac: mac(20) }), "10.0.0.103");
  assert.equal(await rack.boot({ mac: mac(21) }), undefined);
  assert.equal(await rack.boot({ mac: mac(4), sends: SENDS.ovmfPxe }), "10.0.0.104");
  rack.now += 2 * MINUTE;
  assert.equal(await rack.boot({ mac: mac(21) }), "10.0.0.104");
});

test("an offer that is not taken up is anybody's at once when the client takes another server's, and the oldest where nothing is free", async () => {
  const rack = new Rack();
  for (const [i] of POOL.entries()) await rack.send(say("discover", { mac: mac(i) }));
  await rack.send(say("request", { mac: mac(3), asks: "10.0.0.7", server: "10.0.0.9" }));
  assert.equal((await rack.send(say("discover", { mac: mac(20) })))?.yiaddr, "10.0.0.103");
  assert.equal((await rack.send(say("discover", { mac: mac(21) })))?.yiaddr, "10.0.0.100");
  assert.equal((await rack.send(say("discover", { mac: mac(22) })))?.yiaddr, "10.0.0.101");
  const ask = { asks: "10.0.0.100", server: US };
  assert.equal((await rack.send(say("request", { mac: mac(0), ...ask })))?.type, "ack");
  assert.equal((await rack.send(say("request", { mac: mac(21), ...ask })))?.type, "nak");
});

test("who takes another server's offer is asked about, unless a relay may have asked both", async () => {
  const rack = new Rack();
  const request = { mac: mac(1), asks: "10.0.0.7", server: "10.0.0.9" };
  await rack.send(say("request", { ...request, giaddr: "10.1.0.1" }));
  await rack.send(say("request", { ...request, asks: "10.0.0.100", server: US }));
  const reported = () => rack.events.flatMap((event) => (event.is === "elsewhere" ? [formatIpv4(event.server)] : []));
  assert.deepEqual(reported(), []);
  await rack.send(say("request", request));
  assert.deepEqual(reported(), ["10.0.0.9"]);
});

test("INFORM is answered with options and without a lease", async () => {
  const rack = new Rack();
  const ack = await rack.send(say("inform", { ciaddr: "10.0.0.7" }));
  assert.equal(ack?.type, "ack");
  assert.equal(ack.to, "10.0.0.7:68");
  assert.equal(ack.yiaddr, "0.0.0.0");
  assert.equal(ack.option(51), undefined);
  assert.deepEqual(ack.option(6), [10, 0, 0, 53]);
  assert.equal(rack.store.leases.size, 0);
});

test("replies of servers, BOOTP, unknown types, messages going round in circles and a relay's option that leaves no room are left alone", async () => {
  const rack = new Rack();
  const good = say("discover");
  assert.equal(await rack.send({ ...good, op: 2 }), undefined);
  assert.equal(await rack.send({ ...good, hops: 17 }), undefined);
  assert.equal(await rack.send({ ...good, options: new Map() }), undefined);
  assert.equal(await rack.send({ ...good, options: new Map([[53, Uint8Array.of(77)]]) }), undefined);
  assert.equal(await rack.send({ ...good, chaddr: new Uint8Array() }), undefined);
  assert.equal(await rack.send({ ...good, options: new Map([...good.options, [82, new Uint8Array(256)]]) }), undefined);
});

test("a client without a hardware address is known by its identifier, one with 16 bytes by those", async () => {
  const rack = new Rack();
  const discover = { ...say("discover", { sends: { 61: [0, 1, 2] } }), chaddr: new Uint8Array(), htype: 32 };
  assert.equal((await rack.send(discover))?.yiaddr, "10.0.0.100");
  assert.equal((await rack.send(discover))?.yiaddr, "10.0.0.100");
  assert.equal((await rack.send({ ...say("discover"), chaddr: new Uint8Array(16).fill(7) }))?.yiaddr, "10.0.0.101");
});

test("N6 a wrong configuration is refused by name, and the one before it holds", async () => {
  const rack = new Rack();
  const wrong = { ...CONFIG, subnets: [{ network: "10.0.0.0/24", pools: [{ first: "10.0.1.1", last: "10.0.1.9" }] }] };
  assert.throws(
    () => rack.server.configure(wrong, new Reservations()),
    (error) => isFault(error, "Invalid") && error.message === "subnet 10.0.0.0/24: pool 10.0.1.1 is not in it",
  );
  assert.equal(await rack.boot(), "10.0.0.100");
});

test("N6 networks and reservations are changed while it serves, as often as one likes, and leases outlive that", async () => {
  const rack = new Rack();
  const other = { ...CONFIG, subnets: CONFIG.subnets.toReversed() };
  const [pool] = CONFIG.subnets;
  const narrow = { ...CONFIG, subnets: [{ ...pool!, pools: [{ first: "10.0.0.105", last: "10.0.0.105" }] }] };
  assert.equal(await rack.boot(), "10.0.0.100");
  for (let round = 0; round < 3; round++) {
    rack.server.configure(other, new Reservations([{ mac: mac(9), address: "10.0.0.50" }]));
    assert.equal(await rack.boot({ mac: mac(9) }), "10.0.0.50");
    rack.server.configure(narrow, new Reservations());
    assert.equal(await rack.boot({ mac: mac(8) }), "10.0.0.105");
    rack.server.configure(CONFIG, new Reservations());
    assert.equal(await rack.boot(), "10.0.0.100");
  }
});

const DOES = ["boot", "discover", "release", "decline", "reboot", "renew", "wait"] as const;

/** What a client does: it asks for an address, or gives up its own, if it has one. Resolves with the address that it was given. */
type Action = (rack: Rack, who: { mac: string }, asks: string, own: string | undefined) => Promise<string | undefined>;

const requested =
  (request: (asks: string) => object): Action =>
  async (rack, who, asks) => {
    const reply = await rack.send(say("request", { ...who, ...request(asks) }));
    return reply?.type === "ack" ? reply.yiaddr : undefined;
  };

const ACTIONS: Readonly<Record<(typeof DOES)[number], Action>> = {
  boot: (rack, who) => rack.boot(who),
  discover: async (rack, who, asks) => void (await rack.send(say("discover", { ...who, asks }))),
  release: async (rack, who, _, own) => own && void (await rack.send(say("release", { ...who, ciaddr: own }))),
  decline: async (rack, who, _, own) => own && void (await rack.send(say("decline", { ...who, asks: own }))),
  reboot: requested((asks) => ({ asks })),
  renew: requested((asks) => ({ ciaddr: asks })),
  wait: async (rack) => {
    rack.now += 20 * MINUTE;
    return undefined;
  },
};

type Held = Map<string, { client: number; until: number }>;

/** A client has one address: who says that it uses another one has given up the first. */
function hold(held: Held, address: string, by: { client: number; until: number }): void {
  for (const [other, { client }] of held) if (client === by.client) held.delete(other);
  held.set(address, by);
}

test("N22 whatever clients do, in any order, no address is two clients' at once, and none leaves the pool", async () => {
  const step = fc.record({
    client: fc.nat(14),
    does: fc.constantFrom(...DOES),
    address: fc.integer({ min: 95, max: 112 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const rack = new Rack({ reservations: [{ mac: mac(0), address: "10.0.0.103" }] });
      const held: Held = new Map();
      for (const { client, does, address } of steps) {
        const own = [...held].find(([, each]) => each.client === client && each.until > rack.now)?.[0];
        const given = await ACTIONS[does](rack, { mac: mac(client) }, `10.0.0.${address}`, own);
        if (own !== undefined && (does === "release" || does === "decline")) held.delete(own);
        if (given === undefined) continue;
        const last = Number(given.split(".")[3]);
        assert.ok(last >= 100 && last <= 109);
        const other = held.get(given);
        assert.ok(other === undefined || other.client === client || other.until <= rack.now, `${given} twice`);
        hold(held, given, { client, until: rack.now + 60 * MINUTE });
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 150) },
  );
});

async function discoverInFullPool(rack: Rack, who: { mac: string }, key: string): Promise<void> {
  if ((await rack.send(say("discover", who))) !== undefined) return;
  for (const address of POOL) assert.ok(rack.leases.takenUntil(parseIpv4(address), key, rack.now) > 0, address);
}

const CROWDED = ["boot", "boot as firmware", "discover", "other server", "release", "decline", "wait"] as const;

const CROWD: Readonly<Record<Exclude<(typeof CROWDED)[number], "wait" | "discover">, Action>> = {
  boot: ACTIONS.boot,
  "boot as firmware": (rack, who) => rack.boot({ ...who, sends: SENDS.ovmfPxe }),
  "other server": async (rack, who, asks) =>
    void (await rack.send(say("request", { ...who, asks, server: "10.0.0.9" }))),
  release: ACTIONS.release,
  decline: ACTIONS.decline,
};

test("N22 a client gets no answer for want of an address only while every address is another client's", async () => {
  const step = fc.record({
    client: fc.nat(14),
    does: fc.constantFrom(...CROWDED),
    minutes: fc.integer({ min: 1, max: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
      const rack = new Rack();
      for (const [i] of POOL.entries()) await rack.boot({ mac: mac(i) });
      for (const { client, does, minutes } of steps) {
        const who = { mac: mac(client) };
        const key = `1/${who.mac.replaceAll(":", "")}`;
        const held = rack.leases.of(key);
        if (does === "wait") rack.now += minutes * MINUTE;
        else if (does === "discover") await discoverInFullPool(rack, who, key);
        else await CROWD[does](rack, who, "10.0.0.7", held && formatIpv4(held.address));
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 150) },
  );
});

test("N22 an avalanche: all of a rack at once, each its own address", async () => {
  const subnets = [{ network: "10.0.0.0/22", pools: [{ first: "10.0.0.10", last: "10.0.3.250" }] }];
  const rack = new Rack({ config: { subnets } });
  const all = Array.from(
    { length: 500 },
    (_, i) => `52:54:00:01:${(i >> 8).toString(16).padStart(2, "0")}:${(i & 255).toString(16).padStart(2, "0")}`,
  );
  const given = await Promise.all(all.map((each) => rack.boot({ mac: each, sends: SENDS.ovmfPxe })));
  assert.equal(new Set(given).size, 500);
  assert.ok(!given.includes(undefined));
});

test("leases of a pool that is no more are refused at renewal, and not in the way of the new one", async () => {
  const store = new MemoryStore();
  await new Rack({ store }).boot({ mac: mac(1) });
  const subnets = [{ network: "10.0.0.0/24", pools: [{ first: "10.0.0.200", last: "10.0.0.209" }] }];
  const rack = new Rack({ store, config: { subnets } });
  assert.equal((await rack.send(say("request", { mac: mac(1), ciaddr: "10.0.0.100" })))?.type, "nak");
  assert.equal(await rack.boot({ mac: mac(1) }), "10.0.0.200");
});

test("N10 N15 a replica that takes over keeps clients' addresses, and looks at those it can't know of before it gives them", async () => {
  const before = new Rack();
  assert.equal(await before.boot({ mac: mac(1) }), "10.0.0.100");
  const known = new MemoryStore();
  for (const lease of before.store.load()) await known.put(lease);
  // Given after the last copy: the machine answers at it.
  assert.equal(await before.boot({ mac: mac(2) }), "10.0.0.101");
  const after = new Rack({ store: known, inUse: async (address) => (address & 255) === 101 });
  const renewed = await after.send(say("request", { mac: mac(1), ciaddr: "10.0.0.100" }));
  assert.deepEqual([renewed?.type, renewed?.yiaddr], ["ack", "10.0.0.100"]);
  assert.equal(await after.boot({ mac: mac(3) }), "10.0.0.102");
});
