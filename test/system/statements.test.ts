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
