import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ALPHANUMERIC, cryptoRandom, LOWER_CASE, seededRandom, text, uuid } from "./random.ts";

test("the same seed gives the same sequence, another seed another one", () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 2 ** 32 }), (seed, below) => {
      const draw = (from: number) => {
        const random = seededRandom(from);
        return [random.int(below), random.fraction(), ...random.bytes(16)];
      };
      assert.deepEqual(draw(seed), draw(seed));
      assert.notDeepEqual(draw(seed), draw(seed + 1));
    }),
  );
});

test("numbers stay in their range and are even", () => {
  const random = seededRandom(7);
  const counts = Array.from({ length: 6 }, () => 0);
  const DRAWS = 60_000;
  for (let i = 0; i < DRAWS; i++) counts[random.int(6)]!++;

  // Chi-squared with 5 degrees of freedom: above 20.5 once in a thousand.
  const chi = counts.reduce((sum, n) => sum + (n - DRAWS / 6) ** 2 / (DRAWS / 6), 0);
  assert.ok(chi < 20.5, `chi² ${chi} of ${counts}`);
  for (let i = 0; i < 1000; i++) {
    const f = random.fraction();
    assert.ok(f >= 0 && f < 1);
  }
});

test("the system's generator gives as many bytes at once as are asked for, however many", () => {
  for (const n of [4096, 4097, 100_000]) assert.equal(cryptoRandom.bytes(n).length, n);
});

test("the system's generator gives as many bytes as are asked for, none twice", () => {
  const lengths = Array.from({ length: 2000 }, (_, i) => 16 + (i % 400));
  const texts = lengths.map((n) => cryptoRandom.bytes(n)).map((bytes) => Buffer.from(bytes).toString("hex"));
  assert.deepEqual(
    texts.map((hex) => hex.length / 2),
    lengths,
  );
  assert.equal(new Set(texts.map((hex) => hex.slice(0, 32))).size, texts.length);
  assert.equal(new Set(texts.map((hex) => hex.slice(-32))).size, texts.length);
});

test("text has the length and only characters of the alphabet", () => {
  assert.match(text(cryptoRandom, 8, LOWER_CASE), /^[a-z]{8}$/);
  assert.match(text(cryptoRandom, 32, ALPHANUMERIC), /^[A-Za-z0-9]{32}$/);
  assert.equal(text(cryptoRandom, 0, LOWER_CASE), "");
});

test("RFC 9562: a UUID has version 4 and variant 10, and none comes twice", () => {
  const random = seededRandom(1);
  const ids = Array.from({ length: 1000 }, () => uuid(random));

  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(ids).size, ids.length);
});
