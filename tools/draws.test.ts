import assert from "node:assert/strict";
import { test } from "node:test";
import { drawsOf } from "./draws.ts";

test("clocks, timers and generators of the system are found with their lines", () => {
  const lines = [
    "const a = Date.now();",
    "const b = performance.now();",
    "const c = Math.random();",
    'import { seededRandom } from "@slipway/base";',
    "setTimeout(f, 1);",
    "const d = setInterval(f, 1);",
    "const e = new Date();",
    'import { setTimeout } from "node:timers/promises";',
    "const f = AbortSignal.timeout(1_000);",
  ];
  assert.deepEqual(
    drawsOf(lines.join("\n")).map(({ line }) => line),
    lines.map((_, at) => at + 1),
  );
});

test("what is given, what has the same name and what is only written about is not", () => {
  const source = [
    "socket.setTimeout(1_000);",
    "const now = clock.now();",
    "const at = new Date(now);",
    "random.bytes(8);",
    "setImmediate(next);",
    "/** Instead of Math.random(). */",
    "// Date.now() would jump",
    "const a = 1; // as Date.now() has it",
  ];
  assert.deepEqual(drawsOf(source.join("\n")), []);
});
