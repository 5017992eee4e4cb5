/** What becomes of the responder when its program ends, with another program in perl's place. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault, type Log, quietLog } from "@slipway/base";
import { answerSolicitations } from "./responder.ts";

/** fe80::5054:ff:fe00:1 */
const SENDER = "fe80000000000000505400fffe000001";

/** Answers to all that ask, by this script for a shell. */
async function responder(t: TestContext, script: string) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-perl-"));
  writeFileSync(join(folder, "perl"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "perl"), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${folder}:${PATH}`;
  t.after(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });
  const warned: string[] = [];
  const ended = Promise.withResolvers<void>();
  const asked: string[] = [];
  const log: Log = {
    ...quietLog,
    warn(_fields, message) {
      warned.push(message);
      ended.resolve();
    },
  };
  const answers = (mac: string): boolean => asked.push(mac) > 0;
  return {
    folder,
    ended: ended.promise,
    warned,
    asked,
    open: () => answerSolicitations({ device: "eth1", answers, log }),
  };
}

test("a program that ends while it is answered costs the answer alone, and is reported", async (t) => {
  const { folder, open, ended, warned, asked } = await responder(
    t,
    `exec 0<&-; echo ready; read -r _ <"\${0%/*}/go"; echo ${SENDER}`,
  );
  execFileSync("mkfifo", [join(folder, "go")]);
  const { close } = await open();
  await writeFile(join(folder, "go"), "\n");
  await ended;
  assert.deepEqual(asked, ["52:54:00:00:00:01"]);
  assert.match(warned.join(), /no longer answered/);
  await close();
});

test("a program that is closed ends, and nothing is reported", async (t) => {
  const { open, warned } = await responder(t, "echo ready; cat >/dev/null");
  await (await open()).close();
  assert.deepEqual(warned, []);
});

test("a program that can't begin is reported by what it said", async (t) => {
  for (const [script, said] of [
    ["printf '1 socket' >&2; exit 1", /router solicitations on eth1: socket: EPERM/],
    ["echo 'no such module' >&2; exit 2", /perl ended: no such module/],
  ] as const) {
    const { open } = await responder(t, script);
    await assert.rejects(open(), (error) => isFault(error, "Unavailable") && said.test(error.message));
  }
});
