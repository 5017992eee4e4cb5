/** The example in each package's README runs as it stands, and prints what the README says. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const readmes = globSync("packages/*/README.md").sort();

test("every package has a README", () => {
  assert.deepEqual(readmes.map(dirname), globSync("packages/*/package.json").map(dirname).sort());
});

for (const file of readmes)
  test(`the example of ${file} prints what it says`, async () => {
    const text = readFileSync(file, "utf8");
    const block = (language: string): string => {
      const [, found] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text) ?? [];
      assert.ok(found, `a block of ${language}`);
      return found;
    };
    const args = ["--input-type=module-typescript", "--eval", block("ts")];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: dirname(file), timeout: 60_000 });
    assert.equal(stdout, block("text"));
  });
