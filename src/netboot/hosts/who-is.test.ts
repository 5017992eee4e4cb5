import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { inventoryOf, someHosts } from "./testing.ts";
import { isAnothers, whoIs } from "./who-is.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";

test("an address is the leaseholder's, else its neighbour's, else nobody's", async () => {
  const who = whoIs({
    leased: (address) => (address === "10.77.0.9" ? B : undefined),
    neighbours: () =>
      new Map([
        ["10.77.0.5", A],
        ["10.77.0.9", A],
      ]),
  });

  assert.equal(await who("10.77.0.9"), B);
  assert.equal(await who("10.77.0.5"), A);
  assert.equal(await who("::ffff:10.77.0.5"), A);
  for (const address of ["10.77.0.50", "fe80::1", ""]) assert.equal(await who(address), undefined);
  assert.equal(await whoIs()("192.0.2.99"), undefined);
});

test("N1 an address is another's when another host is known to have it, by whichever of its cards", async () => {
  const hosts = someHosts(new VirtualClock());
  const { host } = hosts.register(inventoryOf(A, B), A);
  const by = (mac: string | undefined) => ({ who: async () => mac, hosts });

  assert.equal(await isAnothers("10.77.0.5", "host-other", by(B)), true);
  assert.equal(await isAnothers("10.77.0.5", undefined, by(A)), true);
  assert.equal(await isAnothers("10.77.0.5", host, by(B)), false);
  assert.equal(await isAnothers("10.77.0.5", host, by("52:54:00:00:00:0c")), false);
  assert.equal(await isAnothers("10.77.0.5", host, by(undefined)), false);
});
