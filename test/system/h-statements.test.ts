/** The promises H1–H32 are a list; here it is held against the names of all tests. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

const IDS = Array.from({ length: 32 }, (_, index) => `H${index + 1}`);

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
  return texts.flatMap((text) => [...text.matchAll(/\btest\(\s*["'`]([^"'`]+)/g)].map(([, name]) => name!));
}

test("every promise H1–H32 has a test whose name begins with it", async () => {
  const begun = new Set((await testNames()).map((name) => /^H\d+(?= )/.exec(name)?.[0]));
  assert.deepEqual(
    IDS.filter((id) => !begun.has(id)),
    [],
  );
});

test("the promises are those of the requirements", async (t) => {
  const folder = process.env.SLIPWAY_REFERENCE ?? "../shared/reference/data";
  const text = await readFile(join(folder, "..", "harvester-equinix-addon.md"), "utf8").catch(() => undefined);
  if (text === undefined) return t.skip("the requirements are not here");
  assert.deepEqual(
    [...text.matchAll(/^\| (H\d+) \|/gm)].map(([, id]) => id),
    IDS,
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
