import assert from "node:assert/strict";
import { test } from "node:test";
import { mac, Rack, SENDS, say, US } from "./testing.ts";

const RELAY = "10.1.0.1";
const port = (circuit: number) => ({ giaddr: RELAY, sends: { ...SENDS.system, 82: [1, 1, circuit] } });
const at = (i: number): string => `10.0.0.${100 + i}`;

test("a flood of DISCOVERs with made-up cards keeps nobody from an address: an offer that nobody took up is made again", async () => {
  const rack = new Rack();
  for (let i = 0; i < 1_000; i++) {
    const card = `02:00:00:00:${(i >> 8).toString(16).padStart(2, "0")}:${(i & 255).toString(16).padStart(2, "0")}`;
    await rack.send(say("discover", { mac: card, ...(i % 2 === 0 && { asks: at(i % 10) }) }));
  }
  const offer = await rack.send(say("discover"));
  assert.equal(offer?.type, "offer");
  for (let i = 0; i < 30; i++) await rack.send(say("discover", { mac: `02:00:00:01:00:${String(10 + i)}` }));
  const ack = await rack.send(say("request", { asks: offer!.yiaddr, server: US }));
  assert.equal(ack?.type, "ack");
  assert.equal(rack.leases.bound(rack.now).length, 1);
});

test("while addresses are free, none is offered to two clients", async () => {
  const rack = new Rack();
  const offers = [];
  for (let i = 0; i < 10; i++) offers.push((await rack.send(say("discover", { mac: mac(i) })))?.yiaddr);
  assert.equal(new Set(offers).size, 10);
});

test("a card has one lease in a network: the one before ends when it takes another; in another network it keeps its own", async () => {
  const rack = new Rack();
  assert.equal(await rack.boot({ giaddr: RELAY }), "10.1.0.100");
  for (let i = 0; i < 10; i++)
    assert.equal((await rack.send(say("request", { asks: at(i), server: US })))?.type, "ack");
  assert.equal(rack.leases.bound(rack.now).length, 2);
  assert.equal(rack.store.leases.size, 11);
  for (let i = 2; i < 6; i++) assert.notEqual(await rack.boot({ mac: mac(i) }), undefined);
});

test("a card may say of eight addresses that somebody else has them; of more it is not believed", async () => {
  const rack = new Rack();
  for (let i = 0; i < 10; i++) {
    const offer = await rack.send(say("discover"));
    await rack.send(say("request", { asks: offer!.yiaddr, server: US }));
    await rack.send(say("decline", { asks: offer!.yiaddr, server: US }));
  }
  assert.equal([...rack.store.leases.values()].filter(({ state }) => state === "declined").length, 8);
  rack.now += 600_000;
  await rack.boot();
  assert.equal(rack.events.filter(({ is }) => is === "declined").length, 8);
});

test("cards that decline and never return are forgotten when their addresses go to others", async () => {
  const rack = new Rack();
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 5; i++) {
      const card = `02:00:00:00:${String(10 + round)}:0${i}`;
      const address = await rack.boot({ mac: card });
      await rack.send(say("decline", { mac: card, asks: address!, server: US }));
    }
    assert.ok(rack.leases.decliners <= 10, `round ${round}: ${rack.leases.decliners}`);
    rack.now += 600_000;
  }
  assert.equal(rack.events.filter(({ is }) => is === "declined").length, 100);
});

test("behind one port of a relay at most seven eighths of a pool are given, or as many as the settings say", async () => {
  const rack = new Rack();
  const given = [];
  for (let i = 0; i < 12; i++) given.push(await rack.boot({ ...port(1), mac: mac(i) }));
  assert.equal(given.filter((address) => address !== undefined).length, 9);
  const reasons = rack.events.flatMap((event) => (event.is === "noAddress" ? [event.because] : []));
  assert.deepEqual(new Set(reasons), new Set(["its port of its relay has as many leases as it may have"]));
  assert.notEqual(await rack.boot({ ...port(2), mac: mac(20) }), undefined);
  assert.equal(await rack.boot({ ...port(1), mac: mac(0) }), given[0]);
  rack.now += 86_400_000;
  assert.notEqual(await rack.boot({ ...port(1), mac: mac(13) }), undefined);

  const subnets = [{ network: "10.1.0.0/24", pools: [{ first: "10.1.0.100", last: "10.1.0.109" }], leasesPerPort: 2 }];
  const strict = new Rack({ config: { subnets } });
  for (let i = 0; i < 3; i++) assert.equal((await strict.boot({ ...port(1), mac: mac(i) })) !== undefined, i < 2);
});
