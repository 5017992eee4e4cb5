import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ShownHost } from "../netboot/local-api.ts";
import { table } from "./unleased-table.ts";

const NOW = Date.UTC(2026, 0, 31, 12);
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const vendorOf = (mac: string): string => (mac.startsWith("52:54:00") ? "QEMU" : "");

function host(ageMs: number, more: Partial<ShownHost> = {}): ShownHost {
  const mac = "52:54:00:00:00:0a";
  const seen = { firstSeen: NOW - DAY, lastSeen: NOW - ageMs };
  const standing = { trust: "declared", because: "a BareMetalHost has its card" } as const;
  return { name: "host-a", mac, macs: [mac], ...seen, boot: "agent", standing, ...more };
}

/** Colours are for terminals, unless the environment says otherwise. */
function colours(t: TestContext, force: "0" | "1"): void {
  const { FORCE_COLOR } = process.env;
  process.env.FORCE_COLOR = force;
  t.after(() => {
    if (FORCE_COLOR === undefined) delete process.env.FORCE_COLOR;
    else process.env.FORCE_COLOR = FORCE_COLOR;
  });
}

test("the table has pldrctl's columns and the host's name, as wide as what stands in them", (t) => {
  colours(t, "0");
  const other = host(90 * SECOND, { mac: "02:00:00:00:00:01" });
  assert.deepEqual(table([host(0), other], vendorOf, NOW, false), [
    "Mac Address        Hardware Vendor  Time Seen             Time since  Name",
    "52:54:00:00:00:0a  QEMU             2026-01-31T12:00:00Z  0s          host-a",
    "02:00:00:00:00:01  -                2026-01-31T11:58:30Z  1m30s       host-a",
  ]);
  assert.equal(table([], vendorOf, NOW, false).length, 1);
});

test("a host is green for two minutes after it was seen, yellow for half an hour, then red", (t) => {
  colours(t, "1");
  const colourAt = (ageMs: number): string | undefined => {
    const line = table([host(ageMs)], vendorOf, NOW, false)[1]!;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal is sent.
    return /^\x1b\[(\d+)m.*\x1b\[39m$/.exec(line)?.[1];
  };
  const [green, yellow, red] = ["32", "33", "31"];
  assert.equal(colourAt(2 * MINUTE - 1), green);
  assert.equal(colourAt(2 * MINUTE), yellow);
  assert.equal(colourAt(30 * MINUTE - 1), yellow);
  assert.equal(colourAt(30 * MINUTE), red);
});

test("the time since a host was seen has its two largest units", (t) => {
  colours(t, "0");
  const sinceAt = (ageMs: number): string => table([host(ageMs)], vendorOf, NOW, false)[1]!.split(/ {2,}/)[3]!;
  const expected: [ageMs: number, since: string][] = [
    [-5 * SECOND, "0s"],
    [999, "0s"],
    [59 * SECOND, "59s"],
    [MINUTE, "1m"],
    [12 * MINUTE + 3 * SECOND, "12m3s"],
    [3 * HOUR + 20 * MINUTE + 9 * SECOND, "3h20m"],
    [DAY + 5 * MINUTE, "1d"],
    [2 * DAY + 4 * HOUR, "2d4h"],
    [400 * DAY, "400d"],
  ];
  for (const [ageMs, since] of expected) assert.equal(sinceAt(ageMs), since);
});

test("the wide table shows what a host is, what it boots and what it does", (t) => {
  colours(t, "0");
  const is = { id: "1", order: "write" };
  const wide = (more: Partial<ShownHost>): string[] =>
    table([host(0, more)], vendorOf, NOW, true)[1]!
      .split(/ {2,}/)
      .slice(4);
  assert.deepEqual(wide({}), ["host-a", "-", "-", "agent", "-", "declared", "-", "-"]);
  const keyFingerprint = "3f2a-90b1-c44d-0e17-5a68-d2f9";
  assert.deepEqual(wide({ keyFingerprint, waitsFor: "an order" }).slice(-2), [keyFingerprint, "an order"]);
  assert.deepEqual(
    wide({ address: "10.0.0.5", architecture: "x86_64", firmware: "uefi", boot: { chain: "http://a" } }),
    [...["host-a", "10.0.0.5", "x86_64 uefi", "script", "-"], ...["declared", "-", "-"]],
  );
  const install = { id: "1", givenAt: 0, reports: true, hasFiles: true };
  assert.equal(wide({ boot: "disk", install })[3], "installer");
  assert.equal(wide({ boot: "disk", install: { ...install, result: { ok: true, message: "" } } })[3], "disk");
  assert.equal(wide({ order: { is, givenAt: 0 } })[4], "write: given");
  assert.equal(wide({ order: { is, givenAt: 0, progress: { phase: "writing" } } })[4], "write: writing");
  const result = { ok: false, message: "the disk is too small" };
  assert.equal(
    wide({ order: { is, givenAt: 0, progress: { phase: "writing" }, result } })[4],
    `write: ${result.message}`,
  );
});
