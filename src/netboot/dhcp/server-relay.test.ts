import assert from "node:assert/strict";
import { test } from "node:test";
import { mac, Rack, SENDS, say, US } from "./testing.ts";
import { formatIpv4, parseIpv4 } from "./wire/ipv4.ts";

test("N14 through a relay: the reply goes to it at port 67, the network is its, option 82 comes back last", async () => {
  const rack = new Rack();
  const sends = { ...SENDS.system, 82: [1, 2, 7, 7, 2, 1, 9] };
  const offer = await rack.send(say("discover", { giaddr: "10.1.0.1", sends, flags: 0x8000 }));
  assert.equal(offer?.to, "10.1.0.1:67");
  assert.equal(offer.yiaddr, "10.1.0.100");
  assert.deepEqual(offer.option(3), [10, 1, 0, 1]);
  assert.deepEqual([...offer.message.options].at(-1), [82, Uint8Array.from(sends[82])]);
  assert.equal(await rack.send(say("discover", { giaddr: "10.9.0.1" })), undefined);
});

test("N13 N14 echoes of the longest kind leave room for what the client can't do without", async () => {
  const sends = {
    ...SENDS.biosPxe,
    61: new Array<number>(255).fill(7),
    82: [1, 253, ...new Array<number>(253).fill(9)],
  };
  const offer = await new Rack().send(say("discover", { giaddr: "10.0.0.1", sends }));
  for (const code of [53, 54, 51, 67, 66, 60, 43, 1, 3])
    assert.notEqual(offer?.option(code), undefined, `option ${code}`);
  assert.deepEqual(offer?.option(82), sends[82]);
});

test("N14 a NAK through a relay asks it to broadcast", async () => {
  const rack = new Rack();
  await rack.boot({ mac: mac(1) });
  const nak = await rack.send(say("request", { asks: "10.0.0.100", giaddr: "10.0.0.1" }));
  assert.equal(nak?.to, "10.0.0.1:67");
  assert.equal(nak.message.flags, 0x8000);
});

test("N14 the relay's link (82.5) goes before the client's selection (118), and that before giaddr", async () => {
  const rack = new Rack();
  const link = [5, 4, 10, 0, 0, 0];
  const both = await rack.send(say("discover", { giaddr: "10.9.0.1", sends: { 118: [10, 1, 0, 0], 82: link } }));
  assert.equal(both?.yiaddr, "10.0.0.100");
  const selected = await rack.send(say("discover", { mac: mac(2), giaddr: "10.9.0.1", sends: { 118: [10, 1, 0, 0] } }));
  assert.equal(selected?.yiaddr, "10.1.0.100");
  assert.deepEqual(selected.option(118), [10, 1, 0, 0]);
});

test("N14 a relay that stands for the server (82.11) is named as the server, but the files are ours", async () => {
  const rack = new Rack();
  const sends = { ...SENDS.biosPxe, 82: [11, 4, 10, 1, 0, 1] };
  const offer = await rack.send(say("discover", { giaddr: "10.1.0.1", sends }));
  assert.deepEqual(offer?.option(54), [10, 1, 0, 1]);
  assert.equal(offer.siaddr, US);
  const asks = { asks: offer!.yiaddr, server: "10.1.0.1" };
  assert.equal((await rack.send(say("request", { giaddr: "10.1.0.1", sends, ...asks })))?.type, "ack");
});

test("N14 a machine that moves to another network is offered an address there", async () => {
  const rack = new Rack();
  assert.equal(await rack.boot(), "10.0.0.100");
  assert.equal(await rack.boot({ giaddr: "10.1.0.1" }), "10.1.0.100");
});

/** What the server keeps of the way by which an address was given. */
function wayOf(rack: Rack, address: string) {
  return rack.leases.bound(rack.now).find((lease) => formatIpv4(lease.address) === address)?.via;
}

test("a lease keeps the relay and the port that it was given through, also when its client renews by itself", async () => {
  const rack = new Rack();
  const sends = { ...SENDS.system, 82: [1, 2, 0xab, 1, 2, 1, 9] };
  assert.equal(await rack.boot({ giaddr: "10.1.0.1", sends }), "10.1.0.100");
  const via = { giaddr: parseIpv4("10.1.0.1"), circuit: "ab01", remote: "09" };
  assert.deepEqual(wayOf(rack, "10.1.0.100"), via);
  assert.equal((await rack.send(say("request", { ciaddr: "10.1.0.100" })))?.type, "ack");
  assert.deepEqual(wayOf(rack, "10.1.0.100"), via);
  await rack.send(say("release", { ciaddr: "10.1.0.100", server: US }));
  assert.deepEqual(rack.leases.at(parseIpv4("10.1.0.100")), {
    ...{ address: parseIpv4("10.1.0.100"), client: "1/525400000001", state: "released", expiresAt: rack.now, via },
  });
});

test("a port that a relay names at length is kept by its hash", async () => {
  const rack = new Rack();
  const sends = { ...SENDS.system, 82: [1, 40, ...new Array<number>(40).fill(7)] };
  await rack.boot({ giaddr: "10.1.0.1", sends });
  assert.match(wayOf(rack, "10.1.0.100")?.circuit ?? "", /^[0-9a-f]{64}$/);
});

test("N1 who claims to be a relay does not take a living lease of our own link from it", async () => {
  const rack = new Rack();
  assert.equal(await rack.boot(), "10.0.0.100");
  await rack.boot({ giaddr: "10.0.0.66" });
  assert.equal(wayOf(rack, "10.0.0.100"), undefined);
  rack.now += 4_000_000;
  assert.equal(await rack.boot({ giaddr: "10.0.0.66" }), "10.0.0.100");
  assert.equal(wayOf(rack, "10.0.0.100")?.giaddr, parseIpv4("10.0.0.66"));
  assert.equal(await rack.boot(), "10.0.0.100");
  assert.equal(wayOf(rack, "10.0.0.100"), undefined);
});
