import assert from "node:assert/strict";
import { test } from "node:test";
import { Reservations } from "./reservations.ts";
import { CONFIG, mac, Rack, SENDS, say, US } from "./testing.ts";

const MINUTE = 60_000;

test("N16 a machine gets exactly its reserved address, in or outside of the pool, and nobody else does", async () => {
  const reservations = [
    { mac: mac(1), address: "10.0.0.100", hostName: "node-1" },
    { mac: mac(2), address: "10.0.0.50" },
  ];
  const rack = new Rack({ reservations });
  assert.equal(await rack.boot({ mac: mac(3) }), "10.0.0.101");
  assert.equal(await rack.boot({ mac: mac(3), asks: "10.0.0.100" }), "10.0.0.101");
  assert.equal(await rack.boot({ mac: mac(1).toUpperCase() }), "10.0.0.100");
  assert.equal(await rack.boot({ mac: mac(2), sends: SENDS.ovmfPxe }), "10.0.0.50");
  const ack = await rack.send(say("request", { mac: mac(1), asks: "10.0.0.100", sends: { 55: [12] } }));
  assert.equal(ack?.text(12), "node-1");
});

test("N16 a machine whose reservation changes is moved: its renewal is refused, its next address the new one", async () => {
  const rack = new Rack();
  assert.equal(await rack.boot(), "10.0.0.100");
  rack.server.configure(CONFIG, new Reservations([{ mac: "52:54:00:00:00:01", address: "10.0.0.60" }]));
  const renewal = await rack.send(say("request", { ciaddr: "10.0.0.100" }));
  assert.equal(renewal?.type, "nak");
  assert.equal(await rack.boot(), "10.0.0.60");
});

test("N16 a reserved address that somebody else still has is given to nobody until then", async () => {
  const rack = new Rack();
  await rack.boot({ mac: mac(1) });
  rack.server.configure(CONFIG, new Reservations([{ mac: mac(2), address: "10.0.0.100" }]));
  assert.equal(await rack.send(say("discover", { mac: mac(2) })), undefined);
  assert.match(JSON.stringify(rack.events.at(-1)), /its reserved address can't be given: it is in use/);
  rack.now += 60 * MINUTE;
  assert.equal(await rack.boot({ mac: mac(2) }), "10.0.0.100");
});

test("N17 in reservations mode only known machines are answered", async () => {
  const rack = new Rack({ config: { mode: "reservations" }, reservations: [{ mac: mac(1), address: "10.0.0.50" }] });
  assert.equal(await rack.boot({ mac: mac(1) }), "10.0.0.50");
  assert.equal(await rack.send(say("discover", { mac: mac(2) })), undefined);
  assert.equal(await rack.send(say("request", { mac: mac(2), asks: "10.0.0.50" })), undefined);
  assert.equal(await rack.send(say("request", { mac: mac(2), asks: "10.0.0.100", server: US })), undefined);
});
