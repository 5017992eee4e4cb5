import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { authoritiesIn, tpmAuthorities } from "./authorities.ts";
import { maker } from "./testing.ts";

test("a file holds any number of authorities, with text between them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-makers-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "makers.pem");
  const [one, two] = [await maker("One"), await maker("Two")];
  writeFileSync(file, `# One\n${one.pem}\n\r\nsubject=CN = Two\n${two.pem}`);
  const authorities = await authoritiesIn(file);
  assert.equal(authorities?.fingerprints.size, 2);
  assert.deepEqual([authorities.named("CN=Two").length, authorities.named("CN=Three").length], [1, 0]);
  assert.equal(await authoritiesIn(undefined), undefined);
  await assert.rejects(authoritiesIn(join(folder, "none")), (error) => isFault(error, "MissingInput"));
});

test("what is no authority's certificate is refused by its number", async () => {
  const root = await maker("Root");
  const { pem } = await root.below("Server, of ours", { ca: false });
  assert.throws(() => tpmAuthorities("nothing", "makers.pem"), /makers.pem: there is no certificate in it/);
  assert.throws(() => tpmAuthorities(`${root.pem}\n${pem}`, "f"), /f: certificate 2 \(CN=Server.*\) is no authority's/);
  const broken = root.pem.replace(/\n[A-Za-z0-9+/]{64}\n/, "\n");
  assert.throws(() => tpmAuthorities(`${root.pem}\n${broken}`, "f"), /f: certificate 2 can't be read/);
});
