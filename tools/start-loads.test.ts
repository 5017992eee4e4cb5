import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { entryPoints, importsOf, isPackage, targetOf } from "./imports.ts";

const ROOT = join(import.meta.dirname, "..");
/** The verb, and what it loads by `import()` at each start. */
const ROOTS = [
  "src/cli/main.ts",
  "src/cli/up.ts",
  "packages/apiserver/index.ts",
  "packages/apiserver/extras.ts",
  "src/console/server/console.ts",
  "src/console/server/credentials.ts",
  "src/console/server/page.ts",
];

/** What a file loads before it runs: neither types nor what it asks for by `import()`. */
function loadedBy(text: string): string[] {
  const without = text.replaceAll(/^import type .*?;$/gms, "").replaceAll(/\bimport\(/g, "");
  return importsOf(without).map(({ name }) => name);
}

/** The packages and Node's modules that the files load, each with a file that does. */
function loaded(): Map<string, string> {
  const entries = entryPoints(ROOT);
  const found = new Map<string, string>();
  const open = [...ROOTS];
  for (const file of open)
    for (const name of loadedBy(readFileSync(join(ROOT, file), "utf8"))) {
      const target = targetOf(file, name, entries);
      if (target === undefined && !isPackage(name)) found.set(name, file);
      else if (target !== undefined && !open.includes(target)) open.push(target);
    }
  return found;
}

test("a start of slipway up loads these packages and no others: one more takes time and memory of everybody", () => {
  const packages = [...loaded().keys()].filter((name) => !name.startsWith("node:")).map((name) => name.split("/")[0]);
  assert.deepEqual([...new Set(packages)].sort(), [
    "commander",
    "fastify",
    "js-yaml",
    "pino",
    "prom-client",
    "re2js",
    "zod",
  ]);
});

test("a start of slipway up imports no node:http, which brings the client of fetch", () => {
  assert.equal(loaded().get("node:http"), undefined);
});
