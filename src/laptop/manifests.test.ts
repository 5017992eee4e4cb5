import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { parseManifests, readManifests } from "./manifests.ts";

const object = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;

test("all YAML files below a folder are read, by their names, and nothing else", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-manifests-"));
  t.after(() => rmSync(dir, { recursive: true }));
  await assert.rejects(
    readManifests(dir),
    (error) => isFault(error, "MissingInput") && /no manifests here; name a folder with \*\.yaml/.test(error.advice),
  );
  mkdirSync(join(dir, "b"));
  writeFileSync(join(dir, "c.yaml"), `---\n---\n${object("c-1")}---\n${object("c-2")}`);
  writeFileSync(join(dir, "b", "b.yml"), object("b"));
  writeFileSync(join(dir, "a.yaml.txt"), "no: manifest\n");
  const names = (await readManifests(dir)).map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ["b", "c-1", "c-2"]);
});

test("what is no object is named by its place among those of its file", () => {
  const whole = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  for (const wrong of [{ ...whole, apiVersion: 1 }, { ...whole, kind: undefined }, { ...whole, metadata: {} }, 7]) {
    const text = `${object("a")}---\n${JSON.stringify(wrong)}\n`;
    assert.throws(
      () => parseManifests(text, "x.yaml"),
      (error) => isFault(error, "Invalid") && /^x\.yaml: document 2: .* is missing$/.test(error.message),
    );
  }
  assert.throws(() => parseManifests("a: 1\nb: [1,\n---\n", "x.yaml"), /^Fault: x\.yaml:\d: not YAML: /);
});
