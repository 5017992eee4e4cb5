/** The promises are lists (H: Harvester pools, N: netboot); here they are held against the names of all tests. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

const numbers = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);
const HARVESTER = numbers(1, 32).map((n) => `H${n}`);
const NETBOOT = [...numbers(1, 3), ...numbers(8, 24), 48].map((n) => `N${n}`);

async function testFiles(): Promise<string[]> {
  const folders = ["src", "test"];
  const found = await Promise.all(
    folders.map(async (folder) => (await readdir(folder, { recursive: true })).map((name) => join(folder, name))),
  );
  return found.flat().filter((name) => name.endsWith(".test.ts"));
}

/** Names as they stand in the source, templates included. */
async function testNames(): Promise<string[]> {
  const texts = await Promise.all((await testFiles()).map((name) => readFile(name, "utf8")));
  return texts.flatMap((text) =>
    [...text.matchAll(/\b(?:test|describe)\(\s*["'`]([^"'`]+)/g)].map(([, name]) => name!),
  );
}

test("every promise has a test whose name begins with it", async () => {
  const named = new Set(
    (await testNames()).flatMap((name) => /^(?:[A-Z]\d+ )+/.exec(name)?.[0].trim().split(" ") ?? []),
  );
  assert.deepEqual(
    [...HARVESTER, ...NETBOOT].filter((id) => !named.has(id)),
    [],
  );
});

test("the promises are those of the requirements", async (t) => {
  const folder = process.env.SLIPWAY_REFERENCE ?? "../shared/reference/data";
  const text = await readFile(join(folder, "..", "harvester-equinix-addon.md"), "utf8").catch(() => undefined);
  if (text === undefined) return t.skip("the requirements are not here");
  assert.deepEqual(
    [...text.matchAll(/^\| (H\d+) \|/gm)].map(([, id]) => id),
    HARVESTER,
  );
});

/** The closed unions that decide a machine's life: their words are the transitions. */
const TRANSITIONS: readonly [file: string, word: RegExp][] = [
  ["src/machines/lifecycle.ts", /\{ do: "(\w+)"/g],
  ["src/machines/lifecycle.ts", /^ {2}\| "(\w+)"/gm],
  ["src/systems/harvester/release-plan.ts", /\{ do: "(\w+)"/g],
  ["src/machines/machine.ts", /^ {2}\| "(\w+)"/gm],
];

test("H31 every step, reason of loss and phase that the plans know is named by a test", async () => {
  const texts = (await Promise.all((await testFiles()).map((name) => readFile(name, "utf8")))).join("\n");
  for (const [file, word] of TRANSITIONS) {
    const words = new Set([...(await readFile(file, "utf8")).matchAll(word)].map(([, found]) => found!));
    assert.ok(words.size > 3, `${file}: the words are found`);
    const untested = [...words].filter((each) => !texts.includes(`"${each}"`));
    assert.deepEqual(untested, [], file);
  }
});
