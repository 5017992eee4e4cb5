import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Disputes } from "./disputes.ts";
import type { Host } from "./host.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";
const C = "52:54:00:00:00:0c";

const host = (name: string, mac: string): Host => ({
  ...{ name, mac, macs: [mac], firstSeen: 0, lastSeen: 0, boot: "agent" },
});

function stage() {
  const clock = new VirtualClock();
  const said: string[] = [];
  return { clock, said, disputes: new Disputes(clock, ({ name }, because) => said.push(`${name}: ${because}`)) };
}

const claims = (other: string, card: string): string => `${other} says that the card ${card} is its own, too`;

test("the same refusal of a host is reported once a minute, each other one at once", async () => {
  const { clock, said, disputes } = stage();
  for (const because of ["one", "one", "two"]) disputes.refuse(host("a", A), because);
  disputes.refuse(host("b", B), "one");
  assert.deepEqual(said, ["a: one", "a: two", "b: one"]);
  await clock.run(59_999);
  disputes.refuse(host("a", A), "one");
  assert.equal(said.length, 3);
  await clock.run(1);
  disputes.refuse(host("a", A), "one");
  assert.equal(said.length, 4);
});

test("a thousand refusals are remembered", () => {
  const { said, disputes } = stage();
  for (let n = 0; n < 1_000; n++) disputes.refuse(host("a", A), String(n));
  disputes.refuse(host("a", A), "0");
  assert.equal(said.length, 1_000);
  disputes.refuse(host("a", A), "1000");
  disputes.refuse(host("a", A), "0");
  assert.equal(said.length, 1_002, "of more, they are reported again");
});

test("two hosts that name one card are both reported, whoever is a third, and nobody disputes with itself", () => {
  const { said, disputes } = stage();
  const hosts = [host("a", A), host("b", B)];
  const find = (nameOrMac: string) => hosts.find(({ name, mac }) => name === nameOrMac || mac === nameOrMac);
  disputes.compare(hosts[0]!, [C], find);
  disputes.compare(hosts[0]!, [C], find);
  assert.deepEqual(said, []);
  disputes.compare(hosts[1]!, [C], find);
  assert.deepEqual(said, [`b: ${claims("a", C)}`, `a: ${claims("b", C)}`]);
  hosts.push(host("c", C));
  disputes.compare(hosts[2]!, [], find);
  assert.deepEqual(said.slice(2), [`c: ${claims("b", C)}`, `b: ${claims("c", C)}`]);
});

test("ten thousand claims are remembered, the newest", () => {
  const { said, disputes } = stage();
  const find = (name: string) => (name === "a" ? host("a", A) : undefined);
  disputes.compare(host("a", A), [C, B], find);
  const others = Array.from({ length: 9_998 }, (_, n) => `52:54:01:00:${n >> 8}:${n & 255}`);
  disputes.compare(host("a", A), others, find);
  disputes.compare(host("b", B), [], find);
  assert.equal(said.length, 2, "both claims are there");
  disputes.compare(host("a", A), ["52:54:02:00:00:00"], find);
  disputes.compare(host("c", C), [], find);
  assert.equal(said.length, 2, "the oldest claim is forgotten");
});
