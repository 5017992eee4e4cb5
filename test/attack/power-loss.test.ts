/** Power is lost while objects are written: what was acknowledged is there afterwards, in every state that a disk may be left in. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openJournal } from "@slipway/apiserver";
import { systemClock as clock, seededRandom } from "@slipway/base";
import { Disk, stepsOf, TRACED } from "./crash-states.ts";

const COMMITS = 60;
const STATES = 100;
const KEYS = 12;
/** So long that the log is written back several times. */
const LONG = 100_000;
const random = seededRandom(Number(process.env.SEED ?? 1));

/** What commit `n` does: puts an object, and with every third one takes another away. */
const writer = (file: string): string => `
  import { writeSync } from "node:fs";
  import { openJournal } from ${JSON.stringify(import.meta.resolve("@slipway/apiserver"))};
  import { systemClock as clock, cryptoRandom as random } from ${JSON.stringify(import.meta.resolve("@slipway/base"))};
  for (const [from, to] of [[1, 5], [6, ${COMMITS}]]) {
    const journal = openJournal(${JSON.stringify(file)}, { clock, random });
    journal.load(() => {});
    for (let n = from; n <= to; n++) {
      const object = { metadata: { resourceVersion: String(n) }, n, filler: String(n).repeat(${LONG} / String(n).length) };
      const gone = n % 3 === 0 ? [{ collection: "c", key: "k" + (n + 5) % ${KEYS}, object: undefined }] : [];
      journal.commit([{ collection: "c", key: "k" + n % ${KEYS}, object }, ...gone], n);
      writeSync(1, "ack " + n + "\\n");
    }
    journal.close();
  }`;

/** Which commit each key's object is of, after commit `version`. */
function expected(version: number): Record<string, number> {
  const objects: Record<string, number> = {};
  for (let n = 1; n <= version; n++) {
    objects[`k${n % KEYS}`] = n;
    if (n % 3 === 0) delete objects[`k${(n + 5) % KEYS}`];
  }
  return objects;
}

test("after a loss of power at any moment, with writes reordered and torn, every acknowledged write is there", (t) => {
  if (spawnSync("strace", ["-V"]).status !== 0) return t.skip("strace is not here");
  const top = mkdtempSync(join(tmpdir(), "power-"));
  t.after(() => rmSync(top, { recursive: true }));
  const folder = join(top, "state");
  mkdirSync(folder);
  const log = join(top, "trace");
  const script = ["--input-type=module", "-e", writer(join(folder, "db"))];
  const traced = ["-f", "-y", "-xx", "-s", "10000000", "-e", TRACED, "-o", log, process.execPath, ...script];
  const { status, stderr } = spawnSync("strace", traced, { encoding: "utf8", maxBuffer: 2 ** 26 });
  if (/ptrace|PTRACE/.test(stderr)) return t.skip(`strace may not look: ${stderr.slice(0, 100)}`);
  assert.equal(status, 0, stderr);
  const steps = stepsOf(readFileSync(log, "latin1"), folder);
  assert.equal(steps.filter((step) => step.is === "said").length, COMMITS);
  const backs = steps.filter((step) => step.is === "write" && step.path === join(folder, "db")).length;
  assert.ok(backs > 100, `the log was written back: ${backs} pages`);

  // As often while the files are made as in all the time afterwards.
  const first = steps.findIndex((step) => step.is === "said") + 20;
  const moments = Array.from({ length: STATES }, (_, i) => random.int(i % 2 === 0 ? first : steps.length)).sort(
    (a, b) => a - b,
  );
  const disk = new Disk(folder);
  let acknowledged = 0;
  const found = new Set<number>();
  for (const [at, step] of steps.entries()) {
    disk.play(step);
    if (step.is === "said") acknowledged = Number(step.text.slice(4));
    for (; moments[0] === at; moments.shift()) {
      const after = mkdtempSync(join(top, "after-"));
      for (const [name, content] of disk.afterPowerLoss(random)) writeFileSync(join(after, name), content);
      const where = `power lost after step ${at} of ${steps.length}, ${acknowledged} acknowledged`;
      const objects: Record<string, number> = {};
      let version = 0;
      try {
        const journal = openJournal(join(after, "db"), { clock, random });
        ({ version } = journal.load(({ key, object }) => {
          objects[key] = (object as unknown as { n: number }).n;
        }));
        journal.close();
      } catch (error) {
        assert.fail(`${where}: ${error}`);
      }
      assert.ok(version >= acknowledged, `${where}: found ${version}`);
      assert.deepEqual(objects, expected(version), where);
      found.add(version);
      rmSync(after, { recursive: true });
    }
  }
  t.diagnostic(`${STATES} states, ${found.size} different versions`);
});
