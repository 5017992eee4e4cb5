/** The three ways to install, rendered by the programs that people use: each gives exactly what is declared in `src/operator/install`. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { loadAll } from "js-yaml";
import { installedObjects } from "../../src/operator/install/files.ts";
import { PATHS, VARIATIONS, withValues } from "../../src/operator/install/testing.ts";
import { DEFAULT_VALUES, type InstallValues, type ValuePath } from "../../src/operator/install/values.ts";
import { findProgram } from "./programs.ts";

const DEPLOY = join(import.meta.dirname, "../../deploy");
const CHART = join(DEPLOY, "chart");
const NAMESPACE = "harvester-system";

const helm = findProgram("helm");
const kubectl = findProgram("kubectl");
const needsHelm = { skip: helm === undefined && "no helm: make kube-assets NAMES=helm, or put one on the PATH" };
const needsKubectl = { skip: kubectl === undefined && "no kubectl: make kube-assets, or put one on the PATH" };

interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

function run(program: string | undefined, args: readonly string[], input = ""): Run {
  return spawnSync(program!, args, { encoding: "utf8", input, maxBuffer: 1 << 24 });
}

function template(values: object, namespace = NAMESPACE): Run {
  return run(helm, ["template", "slipway", CHART, "--namespace", namespace, "--values", "-"], JSON.stringify(values));
}

function rendered(values: InstallValues, namespace = NAMESPACE): unknown[] {
  const { status, stdout, stderr } = template(values, namespace);
  assert.equal(status, 0, stderr);
  return sorted(documents(stdout));
}

function declared(values: InstallValues, namespace = NAMESPACE): unknown[] {
  return sorted(JSON.parse(JSON.stringify(installedObjects(values, namespace))) as object[]);
}

function documents(text: string): object[] {
  return loadAll(text).filter((document): document is object => typeof document === "object" && document !== null);
}

/** Helm and kustomize put objects into an order of their own. */
function sorted(objects: readonly object[]): unknown[] {
  const key = (object: object): string => {
    const { kind, metadata } = object as { kind: string; metadata: { namespace?: string; name: string } };
    return `${kind} ${metadata.namespace ?? ""} ${metadata.name}`;
  };
  return objects.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

test("helm lint is content, strictly", needsHelm, () => {
  const { status, stdout } = run(helm, ["lint", "--strict", CHART]);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /0 chart\(s\) failed/);
});

test("the chart with its own values is deploy/slipway.yaml but for the namespaces, object by object", needsHelm, () => {
  const { stdout } = run(helm, ["template", "slipway", CHART, "--namespace", NAMESPACE, "--include-crds"]);
  const applied = documents(readFileSync(join(DEPLOY, "slipway.yaml"), "utf8"));
  const withoutNamespaces = applied.filter((object) => (object as { kind: string }).kind !== "Namespace");
  assert.deepEqual(sorted(documents(stdout)), sorted(withoutNamespaces));
});

test("kubectl apply -k applies what kubectl apply -f does", needsKubectl, () => {
  const { status, stdout, stderr } = run(kubectl, ["kustomize", DEPLOY]);
  assert.equal(status, 0, stderr);
  assert.deepEqual(sorted(documents(stdout)), sorted(documents(readFileSync(join(DEPLOY, "slipway.yaml"), "utf8"))));
});

test("the chart brings the definitions of deploy/crds", () => {
  const read = (folder: string) => readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
  assert.deepEqual(read(join(CHART, "crds")), read(join(DEPLOY, "crds")));
});

test("the chart in another namespace leaves nothing in Harvester's", needsHelm, () => {
  const objects = rendered(DEFAULT_VALUES, "metal");
  assert.deepEqual(objects, declared(DEFAULT_VALUES, "metal"));
  assert.ok(!JSON.stringify(objects).includes(NAMESPACE));
});

for (const path of PATHS) {
  const { value, besides = {}, nonsense } = VARIATIONS[path];

  test(`chart value ${path}: rendered as declared, refused when it makes no sense`, needsHelm, () => {
    const values = withValues(DEFAULT_VALUES, { ...besides, [path]: value });
    assert.deepEqual(rendered(values), declared(values));
    const { status, stderr } = template(withValues(DEFAULT_VALUES, { [path]: nonsense }));
    assert.notEqual(status, 0);
    assert.match(stderr, /don't meet the specifications of the schema/);
    assert.ok(stderr.includes(`at '/${path.replaceAll(".", "/")}`), stderr);
  });
}

test("a value that the chart does not know is refused", needsHelm, () => {
  const { status, stderr } = template({ replica: 3 });
  assert.notEqual(status, 0);
  assert.match(stderr, /additional properties 'replica' not allowed/);
});

test("any choice of values together is rendered as declared", needsHelm, () => {
  fc.assert(
    fc.property(fc.subarray(PATHS), (paths) => {
      const chosen: Partial<Record<ValuePath, unknown>> = {};
      for (const path of paths) chosen[path] = VARIATIONS[path].value;
      const values = withValues(DEFAULT_VALUES, chosen);
      assert.deepEqual(rendered(values), declared(values));
    }),
    { numRuns: 25 },
  );
});

test("what Helm says at the end names what the Pods wait for, until a URL is given", needsHelm, () => {
  const notes = (...set: string[]) =>
    run(helm, ["install", "slipway", CHART, "--namespace", NAMESPACE, "--dry-run=client", ...set]).stdout;
  assert.match(notes(), /kubectl -n harvester-system create configmap slipway --from-literal=bootUrl=URL/);
  assert.doesNotMatch(notes("--set", "boot.url=https://b.example"), /create configmap/);
});
