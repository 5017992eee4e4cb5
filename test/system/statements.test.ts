/** The promises are lists (H: Harvester pools, N: netboot, SIP and VINO: sub-clusters); here they are held against the names of all tests. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

const numbers = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);
const HARVESTER = numbers(1, 32).map((n) => `H${n}`);
const NETBOOT = [...numbers(1, 30), ...numbers(33, 35), 47, 48].map((n) => `N${n}`);

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

const SIP = [
  ...numbers(1, 19).map((n) => `SIP-${n}`),
  ...numbers(1, 10).map((n) => `SIP-N${n}`),
  ...[...numbers(1, 7).map((n) => `C${n}`), ...numbers(1, 12).map((n) => `M${n}`), "S1", "S2"],
];
const VINO = [...numbers(1, 17).map((n) => `VINO-${n}`), ...numbers(1, 46).map((n) => `VINO-T${n}`)];

/** Names of tests, and parts of them that stand in tables, which begin with a promise about sub-clusters. */
const OF_SUB_CLUSTERS = /["'`]((?:(?:SIP|VINO)-[A-Z]?\d+|C\d)\b[^"'`]*)/g;

test("every promise about sub-clusters, and every case of SIP's and ViNO's own tests, has a test with it in its name", async () => {
  const texts = await Promise.all((await testFiles()).map((name) => readFile(name, "utf8")));
  const names = texts.flatMap((text) => [...text.matchAll(OF_SUB_CLUSTERS)].map(([, name]) => name!));
  const named = new Set(names.flatMap((name) => name.match(/\b(?:(?:SIP|VINO)-)?[A-Z]?\d+\b/g) ?? []));
  assert.deepEqual(
    [...SIP, ...VINO].filter((id) => !named.has(id)),
    [],
  );
});

/** How programs are run, and packages are imported, that speak SSH. */
const SPEAKS_SSH =
  /(?:from |import\(|spawn\w*\(|exec\w*\()\s*["'`](?:ssh2?|scp|sftp|node-ssh)\b|^\s*(?:ssh|scp|sftp) /m;

test("N5 machines are installed without SSH, so that no host key can go unchecked", async () => {
  const sources = (
    await Promise.all(
      ["src", "packages"].map((folder) =>
        readdir(folder, { recursive: true }).then((names) => names.map((name) => join(folder, name))),
      ),
    )
  ).flat();
  const programs = sources.filter(
    (name) => /(?:\.ts|\.sh|\/init)$/.test(name) && !/(?:\.test|\/testing)\.ts$|node_modules/.test(name),
  );
  assert.ok(programs.some((name) => name.endsWith("orders.sh")));
  const speaking = await Promise.all(
    programs.map(async (name) => SPEAKS_SSH.test(await readFile(name, "utf8")) && name),
  );
  assert.deepEqual(
    speaking.filter((name) => name !== false),
    [],
  );
  assert.match('execFile("ssh", [host])', SPEAKS_SSH);
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
