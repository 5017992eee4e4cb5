import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { HostRecord } from "./host.ts";
import { Paces } from "./paces.ts";
import { LINK } from "./records.ts";

const MOST_TRIED = 5_000;

/** How many of many tries in a row succeed. */
function count(attempt: (at: number) => boolean): number {
  let done = 0;
  for (let at = 0; at < MOST_TRIED; at++) if (attempt(at)) done++;
  return done;
}

function registers(paces: Paces, card: string, known?: HostRecord): boolean {
  try {
    paces.checkRegistration(card, known);
    return true;
  } catch (error) {
    assert.ok(isFault(error, "Throttled"));
    return false;
  }
}

const record = (card: string, more: Partial<HostRecord> = {}): HostRecord => ({
  ...{ bootChosen: false, ...more },
  host: { name: card, mac: card, macs: [card], firstSeen: 0, lastSeen: 0, boot: "agent", ...more.host },
});

test("one source may bring 2,000 new machines at once and 100 a second, all together twice that", async () => {
  const clock = new VirtualClock();
  const paces = new Paces(clock);
  const from = (source: string): number => count(() => paces.mayBeNew(source));
  assert.deepEqual([from("a"), from("b"), from("c")], [2_000, 2_000, 0]);
  await clock.run(1_000);
  assert.deepEqual([from("a"), from("b"), from("d")], [100, 100, 0]);
});

test("a card registers ten times at once, then once in five seconds, and takes nothing from other cards", async () => {
  const clock = new VirtualClock();
  const paces = new Paces(clock);
  const times = (card: string): number => count(() => registers(paces, card));
  assert.deepEqual([times("a"), times("b")], [10, 10]);
  await clock.run(4_999);
  assert.equal(times("a"), 0);
  await clock.run(1);
  assert.equal(times("a"), 1);
});

test("of one source 1,000 machines register first at once and 20 a second; who has registered before always may", async () => {
  const clock = new VirtualClock();
  const paces = new Paces(clock);
  const first = (source: string): number => count((at) => registers(paces, `${source} ${at}`, record("x", { source })));
  assert.equal(first("relay:1"), 1_000);
  await clock.run(1_000);
  assert.deepEqual([first("relay:1"), first("relay:2")], [20, 1_000]);
  assert.equal(
    count((at) => registers(paces, `unseen ${at}`)),
    1_000,
    "who was never seen is of the link",
  );
  assert.equal(registers(paces, "seen", record("seen", { source: LINK })), false);
  const host = { ...record("known").host, inventoryAt: 1 };
  assert.equal(registers(paces, "known", record("known", { source: LINK, host })), true);
});
