import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "./fault.ts";
import { jsonLog, withoutSecrets } from "./json-log.ts";
import type { Log } from "./log.ts";
import { Secrets } from "./secrets.ts";

function captured(secrets = new Secrets()): { log: Log; lines: () => string } {
  const lines: string[] = [];
  const log = jsonLog({ level: "debug", secrets, destination: { write: (line: string) => void lines.push(line) } });
  return { log, lines: () => lines.join("") };
}

test("the value of a field with a secret's name never reaches a line, however deep it stands", () => {
  const { log, lines } = captured();

  log.info(
    {
      token: "one-secret",
      nested: { list: [{ Password: "two-secret" }] },
      headers: { "X-Auth-Token": "three-secret" },
    },
    "hello",
  );
  log.child({ apiKey: "four-secret" }).warn({ pool: "a" }, "child");

  assert.doesNotMatch(lines(), /(one|two|three|four)-secret/);
  assert.match(lines(), /"pool":"a"/);
  assert.match(lines(), /"token":"\[redacted\]"/);
});

test("a known secret value is removed wherever it occurs, in messages and errors too", () => {
  const secrets = new Secrets();
  secrets.add("hunter2hunter2");
  const { log, lines } = captured(secrets);

  log.error({ error: new Error("PUT /x?key=hunter2hunter2 failed"), note: "hunter2hunter2!" }, "key hunter2hunter2");

  assert.doesNotMatch(lines(), /hunter2/);
  assert.match(lines(), /PUT \/x\?key=\[redacted\] failed/);
});

test("a secret with characters that JSON escapes is removed too", () => {
  const secrets = new Secrets();
  secrets.add('-----BEGIN KEY-----\nabc"def\n');
  const { log, lines } = captured(secrets);

  log.info({ note: 'read -----BEGIN KEY-----\nabc"def\n' }, "loaded");

  assert.doesNotMatch(lines(), /abc/);
});

test("short values are not treated as secrets: ordinary text stays readable", () => {
  const secrets = new Secrets();
  secrets.add("a");
  secrets.add(undefined);

  assert.equal(secrets.redact("banana"), "banana");
});

test("an error is logged as its code, its message and where it came from", () => {
  const out = withoutSecrets({ error: new Fault("NoCapacity", "pool/a", "no stock") }, new Secrets());

  const { code, message, stack, ...more } = out.error as Record<string, string>;
  assert.deepEqual([code, message, more], ["NoCapacity", "pool/a: no stock", {}]);
  assert.match(stack!, /json-log\.test\.ts/);
});

test("a level that is not asked for writes nothing", () => {
  const out: string[] = [];
  const log = jsonLog({ level: "warn", destination: { write: (line: string) => void out.push(line) } });

  log.info({}, "quiet");
  log.warn({}, "loud");

  assert.equal(out.length, 1);
  assert.match(out[0]!, /loud/);
});
