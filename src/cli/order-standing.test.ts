import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { ShownHost } from "../netboot/local-api.ts";
import { standing } from "./order-standing.ts";

const MINUTE = 60_000;
const SINCE = 100 * MINUTE;

/** What is reported some minutes after the order was given. */
function shown(
  minutes: number,
  host: Partial<ShownHost>,
  order: Partial<NonNullable<ShownHost["order"]>> = {},
): string {
  const is = { id: "1", order: "wipe" };
  const whole = { name: "host-a", lastSeen: SINCE, order: { is, givenAt: SINCE, ...order }, ...host } as ShownHost;
  return standing(whole, { id: "1", since: SINCE, now: SINCE + minutes * MINUTE, patienceMs: 10 * MINUTE });
}

test("of a host that asked for work just now it is not said that it may be off", () => {
  assert.equal(shown(1, { lastSeen: SINCE - MINUTE }), "given");
  assert.equal(shown(1, { lastSeen: 0 }), "given; the host was last seen at 1970-01-01T00:00:00.000Z, and may be off");
});

test("an order that nobody takes is waited for until the time is over, though the host is seen", () => {
  const lastSeen = SINCE + 10 * MINUTE;
  assert.equal(shown(10, { lastSeen }), "given");
  assert.throws(() => shown(10.1, { lastSeen }), /has not taken the order within 10m0s/);
});

test("an order that was taken is waited for as long as the host says something, however long that is", () => {
  const taken = { takenAt: SINCE, progress: { phase: "wipe secure" } };
  assert.equal(shown(600, { lastSeen: SINCE + 595 * MINUTE }, taken), "wipe secure");
  assert.throws(
    () => shown(600, { lastSeen: SINCE + 589 * MINUTE }, taken),
    (error) => isFault(error, "Timeout") && /has said nothing for 10m0s; look at the machine/.test(error.advice),
  );
});

test("progress is a share of the whole where that is known, else what is done", () => {
  const written = (bytes: number, total?: number): string =>
    shown(1, {}, { takenAt: SINCE, progress: { phase: "write", bytes, ...(total !== undefined && { total }) } });
  assert.equal(written(1_999, 4_000), "write 49 %");
  assert.equal(written(3 * 2 ** 20), "write 3 MiB");
  assert.equal(written(3 * 2 ** 20, 0), "write 3 MiB");
});

test("another order ends the wait", () => {
  const is = { id: "2", order: "wipe" };
  assert.throws(
    () => shown(0, {}, { is }),
    (error) => isFault(error, "Conflict"),
  );
});
