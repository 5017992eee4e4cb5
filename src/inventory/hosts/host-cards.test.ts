import assert from "node:assert/strict";
import { test } from "node:test";
import { HostCards } from "./host-cards.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";
const one = { namespace: "metal", name: "one" };
const two = { namespace: "metal", name: "two" };

test("a machine is found by its name and each of its cards, once", () => {
  const cards = new HostCards();
  cards.note(one, [A, "host-52-54-00-00-00-0a"]);
  cards.note(two, [B]);
  assert.deepEqual(cards.of({ name: "host-52-54-00-00-00-0a", macs: [A] }), [one]);
  assert.deepEqual(cards.of({ name: "x", macs: [A, B] }), [one, two]);
  assert.deepEqual(cards.of({ name: "x", macs: [] }), []);
});

test("an object that is declared with another card, or is gone, is not found by the first any more", () => {
  const cards = new HostCards();
  cards.note(one, [A]);
  cards.note(two, [A]);
  cards.note(one, [B]);
  assert.deepEqual(cards.of({ name: "x", macs: [A] }), [two]);
  cards.forget("metal/two");
  assert.deepEqual(cards.of({ name: "x", macs: [A] }), []);
  assert.deepEqual(cards.of({ name: "x", macs: [B] }), [one]);
});

test("an object that was gone is found again by the same card", () => {
  const cards = new HostCards();
  cards.note(one, [A]);
  cards.forget("metal/one");
  cards.note(one, [A]);
  assert.deepEqual(cards.of({ name: "x", macs: [A] }), [one]);
});
