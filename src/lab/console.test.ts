import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { plain, SerialConsole } from "./console.ts";

function consoleFor(t: TestContext): { serial: SerialConsole; line: PassThrough } {
  const folder = mkdtempSync(join(tmpdir(), "slipway-console-"));
  const serial = new SerialConsole(join(folder, "console.log"));
  t.after(async () => {
    await serial.close();
    rmSync(folder, { recursive: true });
  });
  const line = new PassThrough();
  serial.read(line);
  return { serial, line };
}

test("what is waited for is found across pieces, and in what was said before", async (t) => {
  const { serial, line } = consoleFor(t);
  const soon = serial.shows(/log(in):/, AbortSignal.timeout(60_000));
  line.write("debian lo");
  line.write("gin: ");
  assert.equal((await soon)[1], "in");
  await serial.shows(/debian/, AbortSignal.timeout(60_000));
});

test("what is not shown in time is named, with what was shown last", async (t) => {
  const { serial, line } = consoleFor(t);
  const stop = new AbortController();
  const never = serial.shows(/login:/, stop.signal);
  line.write("Kernel panic");
  await new Promise(setImmediate);
  stop.abort();
  await assert.rejects(never, /login:.* was not shown; last:\nKernel panic/);
});

test("everything is in the file, byte by byte", async (t) => {
  const { serial, line } = consoleFor(t);
  const shown: unknown[] = [];
  const stop = serial.listen((text) => shown.push(text));
  line.write(Buffer.from([0x1b, 0x5b, 0x32, 0x4a, 0xff, 0x41]));
  await serial.shows(/\xffA$/, AbortSignal.timeout(60_000));
  stop();
  line.write("B");
  await serial.shows(/AB$/, AbortSignal.timeout(60_000));
  assert.deepEqual(shown, ["\x1b[2J\xffA"]);
  await serial.close();
  assert.deepEqual([...readFileSync(serial.file)], [0x1b, 0x5b, 0x32, 0x4a, 0xff, 0x41, 0x42]);
});

test("a person is shown no control sequences", () => {
  assert.equal(plain("\x1b[2J\x1b[01;01H\x1b[=3hBdsDxe\r\n\x1b[0;1miPXE\x1b[0m"), "BdsDxe\niPXE");
});
