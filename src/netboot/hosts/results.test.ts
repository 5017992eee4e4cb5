import assert from "node:assert/strict";
import { test } from "node:test";
import { Result } from "../protocol/messages.ts";
import { bounded } from "./results.ts";

test("the largest result that an agent may send takes 64 KiB; an ordinary one stays as it is", () => {
  const disk = { disk: "d".repeat(256), how: "h".repeat(256), proven: true, detail: "é".repeat(1024) };
  const largest = Result.parse({ ok: true, message: "m".repeat(4096), disks: Array(256).fill(disk) });
  const kept = bounded(largest);
  assert.ok(Buffer.byteLength(JSON.stringify(kept)) <= 64 * 1024);
  assert.equal(kept.message, largest.message);
  assert.ok(kept.disks!.length > 20);

  const ordinary = Result.parse({ ok: true, message: "wiped", disks: [{ ...disk, detail: "zeroes" }] });
  assert.equal(bounded(ordinary), ordinary);
});
