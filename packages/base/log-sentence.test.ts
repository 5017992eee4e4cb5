import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "./fault.ts";
import { jsonLog } from "./json-log.ts";
import { logSentence } from "./log-sentence.ts";

function logged(write: (log: ReturnType<typeof jsonLog>) => void): string {
  const lines: string[] = [];
  write(jsonLog({ level: "debug", destination: { write: (line) => void lines.push(logSentence(line)) } }));
  return lines.join("").replaceAll(/^\d\d:\d\d:\d\d /gm, "");
}

test("a line is a sentence with its fields behind it", () => {
  assert.equal(
    logged((log) => log.warn({ pool: "a/b", seconds: 3, is: undefined }, "a machine is late")),
    "warning: a machine is late  pool=a/b  seconds=3\n",
  );
  assert.equal(
    logged((log) => log.child({ of: "x y" }).info({}, "begun")),
    'begun  of="x y"\n',
  );
});

test("an error is its message, and a list is JSON", () => {
  const error = new Fault("Unavailable", "api", "not reached");
  assert.equal(
    logged((log) => log.error({ error, missing: ["a", "b"] }, "no answer")),
    'error: no answer  error="api: not reached"  missing=["a","b"]\n',
  );
});

test("time is that of the line; a level is coloured where that is wanted; what is no JSON stays", () => {
  const line = '{"level":50,"time":1700000000000,"msg":"lost"}\n';
  assert.equal(logSentence(line), "22:13:20 error: lost\n");
  assert.equal(logSentence(line, { colours: true }), "22:13:20 \u001b[31merror\u001b[39m: lost\n");
  assert.equal(logSentence("plain\n"), "plain\n");
});
