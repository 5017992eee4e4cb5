import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { preseed } from "../../src/bootstrap/preseed/preseed.ts";
import { hostileSamples, SAMPLES } from "./samples.ts";
import { debconf } from "./tools.ts";

const reader = await debconf();
const skip = "missing" in reader ? reader.missing : false;
const read = "tool" in reader ? reader.tool : (undefined as never);
const folder = mkdtempSync(join(tmpdir(), "slipway-preseed-"));
after(() => rmSync(folder, { recursive: true }));

/** The answers that debconf keeps, by question. */
const keptBy = async (text: string): Promise<Record<string, string>> => {
  const [file, database] = [join(folder, "preseed"), join(folder, "database")];
  rmSync(database, { force: true });
  writeFileSync(file, text);
  await read(file, database);
  return Object.fromEntries(
    readFileSync(database, "utf8")
      .trim()
      .split("\n\n")
      .map((entry) => {
        const fields = Object.fromEntries(entry.split("\n").map((line) => line.split(/: ?(.*)/s).slice(0, 2)));
        return [fields.Name!, fields.Value ?? ""];
      }),
  );
};

/** What was written, by question. */
const written = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .trimEnd()
      .split("\n")
      .map((line) => line.split(" "))
      .map(([, question, , ...value]) => [question!, value.join(" ")]),
  );

test("N27 debconf takes every file, and keeps each answer as it was written", { skip }, async () => {
  for (const [name, installation] of SAMPLES) {
    const text = preseed(installation);
    assert.deepEqual(await keptBy(text), written(text), name);
  }
});

test("hostile texts reach debconf as answers, and answer nothing else", { skip }, async () => {
  const samples = hostileSamples(preseed, 12);
  assert.equal(samples.length, 12);
  for (const { written: text, installation } of samples)
    assert.deepEqual(await keptBy(text), written(text), JSON.stringify(installation));
});

test("the reader refuses what is no preseed file", { skip }, async () => {
  await assert.rejects(keptBy("d-i a/b string x\nbroken\n"), /parse error on line 2/);
});
