import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom, tryParseIp } from "@slipway/base";
import { AddressPlan, addressOf, DEFAULT_ADDRESSES } from "./addresses.ts";

test("a hundred thousand devices have addresses of their own", () => {
  const plan = new AddressPlan();
  const random = seededRandom(1);
  const slots = Array.from({ length: 100_000 }, () => plan.take());
  for (const wish of DEFAULT_ADDRESSES) {
    const given = slots.map((slot) => addressOf(slot, wish, random));
    assert.equal(new Set(given.map(({ address }) => address)).size, slots.length);
    assert.ok(given.every(({ address, gateway }) => tryParseIp(address) && tryParseIp(gateway)));
  }
  assert.deepEqual(
    [0, 65_535, 65_536].map((slot) => addressOf(slot, { family: 4, public: true }, random).address),
    ["198.18.0.1", "198.19.255.255", "100.64.0.1"],
  );
});
