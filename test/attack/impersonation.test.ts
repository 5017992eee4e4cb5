/**
 * Attackers on real networks who want to be another machine: on its link, behind its relay, merely routed. docs/netboot.md has the table of
 * what is promised against whom; each test is a row of it. What the cluster is lied to is in src/inventory/discovery/discovery.test.ts.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SENDS } from "../../src/netboot/dhcp/testing.ts";
import { inventoryOf } from "../../src/netboot/hosts/testing.ts";
import { lacking } from "../netboot/namespace.ts";
import { MACS, Networks, SUBNETS } from "./networks.ts";

const skip = await lacking("curl", "udhcpc", "perl");
const withRelay = skip || (await lacking("dhcrelay"));
const POOL = { dhcp: { subnets: SUBNETS } };
const WIPE = { order: "wipe", how: "metadata", disks: "all" };
const DEADLINE_MS = 60_000;

/** A registered victim that is trusted, with an order that it has not asked for yet. */
async function trusted(networks: Networks) {
  const victim = await networks.honest("victim");
  await networks.admin("PUT", `/hosts/${victim.host}/approval`, {});
  writeFileSync(join(networks.dir, "disk.raw"), "an image");
  const write = { order: "write", image: join(networks.dir, "disk.raw") };
  const { id } = await networks.admin<{ id: string }>("POST", `/hosts/${victim.host}/orders`, write);
  return { ...victim, order: id, orders: `hosts/${victim.host}/orders` };
}

test("who merely routes to the server is no machine: not by its MAC, not by a captured capability, not by a token", {
  skip,
}, async (t) => {
  const networks = await Networks.open(t, POOL);
  const victim = await trusted(networks);
  assert.deepEqual(await networks.script("away", "victim"), { status: 403, body: "198.51.100.7: it has no lease\n" });
  assert.equal((await networks.script("away", "away")).status, 403);
  assert.equal((await networks.register("away", victim.capability)).status, 403);
  assert.equal((await networks.register("away", victim.token)).status, 403);
  assert.equal((await networks.agent("away", victim.token, `GET ${victim.orders}`)).status, 403);
  // The owner's token is as good as before, and the order is its.
  const { status, body } = await networks.agent("victim", victim.token, `GET ${victim.orders}`);
  assert.deepEqual([status, (JSON.parse(body) as { id: string }).id], [200, victim.order]);
  const { url } = JSON.parse(body) as { url: string };
  assert.equal((await networks.curl("victim", url)).body, "an image");
  assert.equal((await networks.curl("away", url)).status, 404);
});

test("a neighbour with a lease of its own is itself and nobody else", { skip }, async (t) => {
  const networks = await Networks.open(t, POOL);
  const victim = await trusted(networks);
  const thief = await networks.honest("thief");
  assert.equal((await networks.script("thief", "victim")).status, 403);
  assert.equal((await networks.register("thief", victim.capability, inventoryOf(MACS.victim))).status, 403);
  assert.equal((await networks.register("thief", victim.token, inventoryOf(MACS.victim))).status, 403);
  assert.equal((await networks.agent("thief", victim.token, `GET ${victim.orders}`)).status, 403);
  assert.equal((await networks.agent("thief", thief.token, `GET ${victim.orders}`)).status, 403);
  assert.equal((await networks.agent("thief", victim.token, `POST hosts/${victim.host}/cards`)).status, 403);
  const { url } = JSON.parse((await networks.agent("victim", victim.token, `GET ${victim.orders}`)).body) as {
    url: string;
  };
  assert.equal((await networks.curl("thief", url)).status, 404);
  // And it is trusted with nothing.
  const refused = await networks.admin<{ code: string }>("POST", `/hosts/${thief.host}/orders`, WIPE);
  assert.equal(refused.code, "Forbidden");
});

test("a neighbour that spoofs the victim's chaddr gets its address, and nothing by it", { skip }, async (t) => {
  const networks = await Networks.open(t, POOL);
  const victim = await trusted(networks);
  const said = { mac: MACS.victim, flags: 0x8000, sends: SENDS.ovmfPxe };
  const [offer] = await networks.say("thief", { type: "discover", said });
  assert.equal(offer?.yiaddr, victim.address);
  await networks.say("thief", { type: "request", said: { ...said, asks: victim.address, server: "10.9.0.1" } });
  // The victim is even switched off.
  await networks.shell("victim", "ip link set card down");
  await networks.shell("thief", `ip addr add ${victim.address}/24 dev card`);
  await networks.shell("server", "ip neigh flush dev rack");
  const script = await networks.script("thief", "victim");
  assert.deepEqual(script, {
    status: 403,
    body: `${victim.address}: its lease is ${MACS.victim}'s, and ${MACS.thief} answers at it\n`,
  });
  assert.equal((await networks.register("thief", victim.capability, inventoryOf(MACS.victim))).status, 403);
  assert.equal((await networks.agent("thief", victim.token, `GET ${victim.orders}`)).status, 403);
  await networks.shell("thief", "ip addr flush dev card");
  await networks.shell("server", "ip neigh flush dev rack");
  await networks.shell("victim", "ip link set card up");
  assert.equal((await networks.agent("victim", victim.token, `GET ${victim.orders}`)).status, 200);
});

test("who names cards that are not its own gets none: not one that boots later, not a registered machine's", {
  skip,
}, async (t) => {
  const networks = await Networks.open(t, POOL);
  await networks.lease("thief");
  const lies = inventoryOf(MACS.thief, MACS.victim, MACS.third);
  const capability = await networks.boot("thief");
  const thief = JSON.parse((await networks.register("thief", capability, lies)).body) as {
    host: string;
    token: string;
  };
  const victim = await trusted(networks);
  assert.notEqual(victim.host, thief.host);
  assert.equal((await networks.host("victim")).name, victim.host);
  await networks.agent("thief", thief.token, `PUT hosts/${thief.host}/inventory`, JSON.stringify(lies));
  assert.equal((await networks.agent("thief", thief.token, `POST hosts/${thief.host}/cards`)).status, 204);
  assert.deepEqual((await networks.host("thief")).macs, [MACS.thief]);
  assert.equal((await networks.agent("victim", victim.token, `GET ${victim.orders}`)).status, 200);
  // A card that another machine uses is not joined with a borrowed token, unless nothing else is known of it.
  assert.equal((await networks.agent("victim", thief.token, `POST hosts/${thief.host}/cards`)).status, 409);
  assert.deepEqual((await networks.host("victim")).macs, [MACS.victim]);
});

test("a neighbour that gives back or declines the victim's lease gets nothing by it", { skip }, async (t) => {
  const networks = await Networks.open(t, POOL);
  const victim = await trusted(networks);
  const mac = MACS.victim;
  const { address: ciaddr } = victim;
  await networks.say("thief", { type: "release", said: { mac, ciaddr, server: "10.9.0.1" } });
  assert.equal((await networks.agent("victim", victim.token, `GET ${victim.orders}`)).status, 200, "it is still there");
  const relayed = { mac, giaddr: "10.9.0.66", asks: ciaddr, server: "10.9.0.1" };
  await networks.lease("victim");
  await networks.say("thief", { type: "request", said: relayed });
  assert.equal((await networks.agent("victim", victim.token, `GET ${victim.orders}`)).status, 200, "a forged relay");

  await networks.say("thief", { type: "decline", said: { mac, asks: ciaddr, server: "10.9.0.1" } });
  const asked = { flags: 0x8000, asks: ciaddr };
  const offers = await networks.say("thief", { type: "discover", said: { ...asked, mac: MACS.thief } });
  assert.notEqual(offers[0]?.yiaddr, ciaddr);
  // The victim loses its address by that, and comes again by its token.
  assert.equal((await networks.agent("victim", victim.token, `GET ${victim.orders}`)).status, 403);
  await networks.lease("victim");
  const again = await networks.register("victim", victim.token);
  assert.equal(again.status, 200, again.body);
});

test("who spoofs MAC and address does not take the place of an agent that carries out an order", {
  skip,
}, async (t) => {
  const networks = await Networks.open(t, POOL);
  const victim = await trusted(networks);
  assert.equal((await networks.agent("victim", victim.token, `GET ${victim.orders}`)).status, 200);
  const progress = `${victim.orders}/${victim.order}/progress`;
  const working = () => networks.agent("victim", victim.token, `POST ${progress}`, '{"phase":"writing"}');
  assert.equal((await working()).status, 204);
  await networks.shell("victim", "ip link set card down");
  await networks.shell(
    "thief",
    `ip link set card down; ip link set card address ${MACS.victim}; ip link set card up; ip addr add ${victim.address}/24 dev card`,
  );
  const capability = /slipway\.boot=(\S+)/.exec((await networks.script("thief", "victim")).body)?.[1] ?? "";
  const taking = await networks.register("thief", capability, inventoryOf(MACS.victim));
  assert.equal(taking.status, 503, taking.body);
  await networks.shell("thief", "ip link set card down; ip addr flush dev card");
  await networks.shell("victim", "ip link set card up");
  assert.equal((await working()).status, 204);
  const { order } = await networks.host("victim");
  assert.deepEqual([order?.is.id, order?.result], [victim.order, undefined]);
});

test("who is given the victim's address once its lease has ended is not the victim", { skip }, async (t) => {
  const [link] = SUBNETS;
  const pools = [{ first: "10.9.0.100", last: "10.9.0.100" }];
  const subnets = [{ ...link!, pools, leaseSeconds: 10, bootLeaseSeconds: 10 }];
  const networks = await Networks.open(t, { dhcp: { subnets } });
  const victim = await trusted(networks);
  await networks.shell("victim", "ip link set card down");
  const deadline = performance.now() + DEADLINE_MS;
  const said = { mac: MACS.thief, flags: 0x8000 };
  while ((await networks.say("thief", { type: "discover", said }))[0]?.yiaddr !== victim.address)
    assert.ok(performance.now() < deadline, "the address never came free");
  assert.equal(await networks.lease("thief"), victim.address);
  assert.equal((await networks.script("thief", "victim")).status, 403);
  assert.equal((await networks.agent("thief", victim.token, `GET ${victim.orders}`)).status, 403);
  assert.equal((await networks.register("thief", victim.token)).status, 403);
  assert.equal((await networks.script("thief", "thief")).status, 200);
});

test("behind a relay, who has no lease through it is nobody, and who has one is itself", {
  skip: withRelay,
}, async (t) => {
  const networks = await Networks.open(t, POOL);
  await networks.startRelay();
  const far = await networks.honest("far");
  assert.match(far.address, /^10\.8\.0\./);
  const orders = `hosts/${far.host}/orders?wait=0`;
  assert.equal((await networks.agent("far", far.token, `GET ${orders}`)).status, 204);
  assert.match((await networks.host("far")).session?.via ?? "", /^10\.8\.0\.1\/[0-9a-f]+\//);

  await networks.shell("near", "ip addr add 10.8.0.66/24 dev card; ip route add default via 10.8.0.1");
  assert.equal((await networks.script("near", "far")).status, 403, "an address without a lease");
  await networks.shell("near", "ip addr flush dev card");
  const near = await networks.honest("near");
  assert.equal((await networks.script("near", "far")).status, 403);
  assert.equal((await networks.register("near", far.capability, inventoryOf(MACS.far))).status, 403);
  assert.equal((await networks.agent("near", far.token, `GET ${orders}`)).status, 403);
  assert.equal((await networks.agent("near", near.token, `GET hosts/${near.host}/orders?wait=0`)).status, 204);

  // From the server's link, its lease is worth nothing: no answer finds the way there.
  await networks.shell(
    "thief",
    `ip addr add ${far.address}/32 dev card; ip route add 10.9.0.0/24 dev card src ${far.address}`,
  );
  assert.notEqual((await networks.script("thief", "far", "--max-time", "2")).status, 200);
});

test("in a foreign network behind routers a machine is only what it says, and is never trusted for that", {
  skip,
}, async (t) => {
  const networks = await Networks.open(t, { dhcp: { mode: "off", foreign: ["198.51.100.0/24"] } });
  const capability = await networks.boot("away");
  const inventory = inventoryOf(MACS.away);
  const key = `age1${"q".repeat(58)}`;
  const keyed = { ...inventory, agent: { ...inventory.agent, key } };
  const { host } = JSON.parse((await networks.register("away", capability, keyed)).body) as { host: string };
  const order = () => networks.admin<{ code?: string; message?: string }>("POST", `/hosts/${host}/orders`, WIPE);
  assert.equal((await order()).code, "Forbidden");
  const approval = await networks.admin<{ code?: string }>("PUT", `/hosts/${host}/approval`, {});
  assert.equal(approval.code, "Conflict");
  const { keyFingerprint } = await networks.host("away");
  await networks.admin("PUT", `/hosts/${host}/approval`, { key: keyFingerprint });
  assert.equal((await order()).code, undefined);

  // On our own link the neighbour shows who it is, whoever gave the address.
  await networks.shell("thief", "ip addr add 10.9.0.66/24 dev card");
  assert.equal((await networks.script("thief", "victim")).status, 403);
  assert.equal((await networks.script("thief", "thief")).status, 200);
});
