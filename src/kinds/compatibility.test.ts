import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { type CustomResourceDefinition, crdOf } from "./crd.ts";
import { Instance } from "./harvester/instance.ts";
import { InstancePool } from "./harvester/instance-pool.ts";
import type { Kind, PrinterColumn } from "./kind.ts";

/** What users of the original systems have: their definitions and their manifests. Not part of the project. */
const DATA = `${process.env.SLIPWAY_REFERENCE ?? "../shared/reference"}/data`;
const SYSTEM = "harvester-equinix-addon";
const skip = existsSync(DATA) ? false : `${DATA} is absent`;

interface Shape {
  type?: string;
  nullable?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  properties?: Record<string, Shape>;
  items?: Shape;
  additionalProperties?: Shape;
}

/** The definitions of a system, Helm's lines taken out and its branch for old clusters left out. */
function originals(): CustomResourceDefinition[] {
  const text = readFileSync(`${DATA}/crds/${SYSTEM}/crds.yaml`, "utf8");
  const current = text.split("{{- else -}}")[0] ?? "";
  return loadAll(current.replace(/^\{\{.*$/gm, "")).filter((doc) => doc !== undefined) as CustomResourceDefinition[];
}

function examples(): { file: string; manifest: { apiVersion: string; kind: string; spec: unknown } }[] {
  return readdirSync(`${DATA}/examples/${SYSTEM}`).flatMap((file) =>
    loadAll(readFileSync(`${DATA}/examples/${SYSTEM}/${file}`, "utf8")).map((manifest) => ({
      file,
      manifest: manifest as never,
    })),
  );
}

const kinds: readonly Kind[] = [InstancePool, Instance];

/** What the original takes and ours would not, by path. */
function narrower(original: Shape, ours: Shape | undefined, path: string): string[] {
  if (ours === undefined) return [`${path} is missing`];
  const found: string[] = [];
  if (original.type !== ours.type && ours["x-kubernetes-int-or-string"] !== true)
    found.push(`${path} is ${ours.type}, was ${original.type}`);
  if (original.nullable === true && ours.nullable !== true) found.push(`${path} may not be null any more`);
  for (const [name, child] of Object.entries(original.properties ?? {}))
    found.push(...narrower(child, ours.properties?.[name], `${path}.${name}`));
  if (original.items) found.push(...narrower(original.items, ours.items, `${path}[]`));
  if (original.additionalProperties)
    found.push(...narrower(original.additionalProperties, ours.additionalProperties, `${path}{}`));
  return found;
}

for (const kind of kinds) {
  const original = (): CustomResourceDefinition => {
    const found = originals().find((crd) => crd.spec.names.kind === kind.kind);
    assert.ok(found, `the original has no ${kind.kind}`);
    return found;
  };

  test(`${kind.kind}: every field of the original is there, with its type and its leniency`, { skip }, () => {
    const was = original().spec.versions[0];
    const is = crdOf([kind]).spec.versions.find((version) => version.name === was?.name);

    assert.deepEqual(narrower(was?.schema.openAPIV3Schema as Shape, is?.schema.openAPIV3Schema as Shape, ""), []);
  });

  test(`${kind.kind}: nothing is required that the original did not require`, { skip }, () => {
    const { openAPIV3Schema } = crdOf([kind]).spec.versions[0]?.schema ?? {};

    assert.deepEqual(openAPIV3Schema?.required ?? [], []);
    assert.deepEqual(openAPIV3Schema?.properties?.spec?.required ?? [], []);
  });

  test(`${kind.kind}: names, scope, subresources and columns are the original's`, { skip }, () => {
    const was = original();
    const is = crdOf([kind]);
    const shown = (columns: PrinterColumn[]): PrinterColumn[] => columns.filter((c) => !c.priority && c.name !== "Age");

    assert.equal(is.metadata.name, was.metadata.name);
    assert.equal(is.spec.scope, was.spec.scope);
    for (const name of ["plural", "singular", "kind"] as const) assert.equal(is.spec.names[name], was.spec.names[name]);
    assert.deepEqual(is.spec.versions[0]?.subresources?.status, was.spec.versions[0]?.subresources?.status);
    assert.deepEqual(
      shown(is.spec.versions[0]?.additionalPrinterColumns ?? []),
      was.spec.versions[0]?.additionalPrinterColumns,
    );
  });
}

test("every example of the original is taken as it is", { skip }, () => {
  const all = examples();
  assert.ok(all.length >= 3);
  for (const { file, manifest } of all) {
    const kind = kinds.find((k) => k.kind === manifest.kind);
    assert.ok(kind, `${file} holds a ${manifest.kind}, which nothing serves`);
    assert.equal(manifest.apiVersion, `${kind.group}/${kind.version}`);
    const result = kind.spec.safeParse(manifest.spec);
    assert.ok(result.success, `${file}: ${result.error?.message}`);
  }
});
