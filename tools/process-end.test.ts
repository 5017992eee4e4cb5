import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const IMPORTED = join(import.meta.dirname, "process-end.ts");
const folder = mkdtempSync(join(tmpdir(), "process-end-"));
after(() => rmSync(folder, { recursive: true }));

/** What the runner says of a file with this text. */
function run(text: string, endMs: number): { status: number | null; output: string } {
  const file = join(folder, "some.test.mjs");
  writeFileSync(file, `import { after, test } from "node:test";\n${text}`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", IMPORTED, "--test", file], {
    env: { ...env, TEST_END_MS: String(endMs) },
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

test("a file whose tests are over while something is open ends as failed, and says what is open", () => {
  const { status, output } = run(`test("leaks", () => void setInterval(() => {}, 1e6));`, 100);
  assert.equal(status, 1);
  assert.match(output, /the tests are over, but the process does not end\. Still open: .*Timeout/);
});

test("a file that closes what it opened passes, however long its tests take", () => {
  const { status, output } = run(`test("waits", () => new Promise((done) => setTimeout(done, 300)));`, 100);
  assert.equal(status, 0, output);
});
