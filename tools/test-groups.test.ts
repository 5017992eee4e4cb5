import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { groupsOf } from "./test-groups.ts";

test("files of a folder share a process, those below it too; many are dealt out evenly, and none is lost", () => {
  assert.deepEqual(groupsOf(["src/b/deep/z.test.ts", "tools/t.test.ts", "src/b/y.test.ts", "src/a/x.test.ts"]), [
    { name: "src-a", files: ["src/a/x.test.ts"] },
    { name: "src-b", files: ["src/b/deep/z.test.ts", "src/b/y.test.ts"] },
    { name: "tools", files: ["tools/t.test.ts"] },
  ]);
  const many = Array.from({ length: 81 }, (_, at) => `src/a/${String(at).padStart(2, "0")}.test.ts`);
  const groups = groupsOf(many);
  assert.deepEqual(
    groups.map(({ name, files }) => [name, files.length]),
    [
      ["src-a-1", 27],
      ["src-a-2", 27],
      ["src-a-3", 27],
    ],
  );
  assert.deepEqual(
    groups.flatMap(({ files }) => files),
    many,
  );
});

/** What the runner makes of these files. */
function run(t: TestContext, files: Record<string, string>, env: Record<string, string> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), "test-groups-"));
  t.after(() => rmSync(cwd, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), `import { test } from "node:test";\n${text}`);
  }
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "grouped-tests.ts"), "--together", "src/**/*.test.ts", "--apart", "far/**/*.test.ts"],
    { cwd, env: { ...rest, ...env }, encoding: "utf8" },
  );
  return { status, out: stdout + stderr };
}

const MARK = "globalThis.seen = (globalThis.seen ?? 0) + 1;";
const FAR = { "far/3.test.ts": `test("far", () => {});` };
const PRINTS = `${MARK}\ntest("counts", (t) => t.diagnostic("seen " + globalThis.seen));`;

test("every file's tests are run, those of a folder by one process, others by one each", (t) => {
  const files = { "src/a/1.test.ts": MARK, "src/a/2.test.ts": PRINTS, "far/3.test.ts": PRINTS };
  const { status, out } = run(t, files);
  assert.equal(status, 0, out);
  assert.match(out, /seen 2/);
  assert.match(out, /seen 1/);
  assert.match(out, /tests 2\n/);
});

test("where files are to be apart, each has a process", (t) => {
  const { status, out } = run(t, { ...FAR, "src/a/1.test.ts": MARK, "src/a/2.test.ts": PRINTS }, { APART: "1" });
  assert.equal(status, 0, out);
  assert.match(out, /seen 1/);
});

test("a test that fails, and a file that can't be loaded, fail the run by their names", (t) => {
  const failing = run(t, { ...FAR, "src/a/1.test.ts": `test("breaks", () => { throw new Error("no"); });` });
  assert.equal(failing.status, 1);
  assert.match(failing.out, /src\/a\/1\.test\.ts:2/);
  const broken = { "src/a/1.test.ts": `test("passes", () => {});`, "src/a/2.test.ts": `throw new Error("no");` };
  const unread = run(t, { ...FAR, ...broken });
  assert.equal(unread.status, 1);
  assert.match(unread.out, /src\/a\/2\.test\.ts:2/);
});

test("a pattern that no file has fails the run: a folder that was renamed is not passed over", (t) => {
  const { status, out } = run(t, { "src/a/1.test.ts": `test("passes", () => {});` });
  assert.equal(status, 1);
  assert.match(out, /far\/\*\*\/\*\.test\.ts: no such file/);
});
