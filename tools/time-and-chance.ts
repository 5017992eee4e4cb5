/**
 * Checks that time and chance come in as arguments: no source outside packages/base asks the system's clock, sets one of its timers or
 * draws from a generator that can be foreseen, so that production runs on the operating system's generator and tests in virtual time.
 * Prints what does, and ends with 1.
 */
import { globSync, readFileSync } from "node:fs";
import { drawsOf } from "./draws.ts";

/** Tests, and the rigs that only tests start, choose their own seed. */
const OF_TESTS = /(\.test|\/testing|\/rig)\.ts$/;

const files = globSync(["packages/**/*.ts", "src/**/*.{ts,tsx}"], { exclude: ["**/node_modules/**"] }).sort();
const wrong = files
  .filter((file) => !file.startsWith("packages/base/") && !OF_TESTS.test(file))
  .flatMap((file) => drawsOf(readFileSync(file, "utf8")).map(({ line, name }) => `${file}:${line}: ${name}`));
for (const line of wrong) console.error(line);
console.log(
  wrong.length === 0 ? "time and chance: all come in as arguments" : `time and chance: ${wrong.length} do not come in`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
