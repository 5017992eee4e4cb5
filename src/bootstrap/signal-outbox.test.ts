import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { BootSignal } from "./boot-record.ts";
import { SignalOutbox } from "./signal-outbox.ts";

const OWNER = { group: "", kind: "Host", name: "h" };

/** An outbox, and the kinds of the signals of each write; `refuse` fails that many writes. */
function rig() {
  const clock = new VirtualClock();
  const writes: string[][] = [];
  const warnings: object[] = [];
  const at = { refuse: 0 };
  const outbox = new SignalOutbox({
    clock,
    log: { ...quietLog, warn: (fields) => void warnings.push(fields) },
    async write(_, signals) {
      if (at.refuse-- > 0) throw new Error("down");
      writes.push(signals.map(({ kind, bootId }) => `${kind} ${bootId}`));
    },
  });
  const tell = (kind: BootSignal["kind"], bootId = "b1") => outbox.tell(OWNER, { kind, at: 0, remote: "", bootId });
  return { at, clock, writes, warnings, outbox, tell };
}

test("news waits for two seconds and is one write for each boot", async () => {
  const { clock, writes, tell } = rig();
  await tell("configFetched");
  await tell("configFetched", "b2");
  await clock.run(1_999);
  assert.deepEqual(writes, []);
  await tell("started");
  await clock.run(1);
  assert.deepEqual(writes, [["configFetched b1", "started b1"], ["configFetched b2"]]);
});

test("what decides is written before it is answered, with the news that waits", async () => {
  const { clock, writes, tell } = rig();
  await tell("scriptFetched");
  await tell("configFetched");
  await tell("started");
  await tell("succeeded");
  await clock.run(10_000);
  assert.deepEqual(writes, [["scriptFetched b1", "configFetched b1", "started b1", "succeeded b1"]]);
});

test("a report that can't be written is refused, and what waited goes with its repetition", async () => {
  const { at, writes, tell } = rig();
  await tell("started");
  at.refuse = 1;
  await assert.rejects(tell("failed"));
  await tell("failed");
  assert.deepEqual(writes, [["started b1", "failed b1"]]);
});

test("news that can't be written is logged; what waits at the end is dropped", async () => {
  const { at, clock, writes, warnings, outbox, tell } = rig();
  at.refuse = 1;
  await tell("started");
  await clock.run(2_000);
  assert.deepEqual(warnings, [{ on: "h", code: "Internal", reason: "h: down" }]);
  await tell("started");
  outbox.close();
  await clock.run(2_000);
  assert.deepEqual(writes, []);
});
