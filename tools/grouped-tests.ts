/**
 * `grouped-tests.ts --together PATTERN --apart PATTERN`, both as often as wanted: runs test files. Of the first, those of a folder share a process,
 * which takes less than half the CPU; the others have one each. With `APART` set (`make test-all`) all have one each, so that none leans on what
 * another left behind.
 */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { groupsOf } from "./test-groups.ts";

const PROCESS_END = join(import.meta.dirname, "process-end.ts");
// No test takes half an hour: one that waits for what never comes ends with its name.
const RUNNER = ["--test", "--test-timeout=1800000", "--test-concurrency=2", "--test-reporter=spec"];

const { together, apart } = patterns();
const folder = mkdtempSync(join(tmpdir(), "slipway-tests-"));
try {
  const shared = process.env.APART === undefined ? groupsOf(filesOf(together)).map(entry) : filesOf(together);
  const args = ["--import", PROCESS_END, ...RUNNER, ...shared, ...filesOf(apart)];
  process.exitCode = spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}

function patterns(): { together: string[]; apart: string[] } {
  const take = { type: "string", multiple: true, default: [] as string[] } as const;
  const { values } = parseArgs({ options: { together: take, apart: take } });
  return values;
}

/** The files of all patterns. A pattern that has none is a mistake. */
function filesOf(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const files = globSync(pattern, { exclude: ["**/node_modules/**"] });
    if (files.length === 0) throw new Error(`${pattern}: no such file`);
    return files;
  });
}

/** A file that has the runner load those of a group: the names of tests, and where they stand, stay theirs. */
function entry({ name, files }: { name: string; files: readonly string[] }): string {
  const file = join(folder, `${name}.test.mjs`);
  writeFileSync(file, files.map((each) => `import ${JSON.stringify(pathToFileURL(resolve(each)).href)};\n`).join(""));
  return file;
}
