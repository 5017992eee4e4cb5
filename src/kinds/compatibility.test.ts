import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { loadAll } from "js-yaml";
import { SERVED } from "./cluster-api/kinds.ts";
import { type CustomResourceDefinition, crdOf } from "./crd.ts";
import { Instance } from "./harvester/instance.ts";
import { InstancePool } from "./harvester/instance-pool.ts";
import { DataStore } from "./kamaji/data-store.ts";
import { KubeconfigGenerator } from "./kamaji/kubeconfig-generator.ts";
import { TenantControlPlane } from "./kamaji/tenant-control-plane.ts";
import { KamajiControlPlane, KamajiControlPlaneV1alpha1 } from "./kamaji-control-plane/kamaji-control-plane.ts";
import { KamajiControlPlaneTemplate } from "./kamaji-control-plane/kamaji-control-plane-template.ts";
import type { Kind, PrinterColumn } from "./kind.ts";
import { BareMetalHost } from "./metal3/bare-metal-host.ts";
import { HardwareData } from "./metal3/hardware-data.ts";
import { HostClaim } from "./metal3/host-claim.ts";
import { HostDeployPolicy } from "./metal3/host-deploy-policy.ts";
import { PacketCluster } from "./packet/packet-cluster.ts";
import { PacketMachine } from "./packet/packet-machine.ts";
import { PacketMachineTemplate } from "./packet/packet-machine-template.ts";
import { SIPCluster } from "./sip/sip-cluster.ts";
import { Vino } from "./vino/vino.ts";

/** What users of the original systems have: their definitions and their manifests. Not part of the project. */
const DATA = `${process.env.SLIPWAY_REFERENCE ?? "../shared/reference"}/data`;
const SYSTEMS: Readonly<Record<string, readonly Kind[]>> = {
  "harvester-equinix-addon": [InstancePool, Instance],
  metal3: [BareMetalHost, HardwareData, HostClaim, HostDeployPolicy],
  kamaji: [DataStore, TenantControlPlane, KubeconfigGenerator],
  "kamaji-control-plane": [KamajiControlPlane, KamajiControlPlaneV1alpha1, KamajiControlPlaneTemplate],
  packet: [PacketCluster, PacketMachine, PacketMachineTemplate],
  // The definitions of today have no v1alpha2 any more.
  "cluster-api": SERVED.flat().filter(({ version }) => version !== "v1alpha2"),
  sip: [SIPCluster],
  vino: [Vino],
};
/** Whose examples are applied to an API, which drops nulls as their authors expect: see kamaji/examples.test.ts. */
const APPLIED_ELSEWHERE = new Set([...SYSTEMS.kamaji!, ...SYSTEMS["cluster-api"]!]);
const skip = existsSync(DATA) ? false : `${DATA} is absent`;

interface Shape {
  type?: string;
  nullable?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  properties?: Record<string, Shape>;
  items?: Shape;
  additionalProperties?: Shape;
  required?: string[];
  enum?: unknown[];
  default?: unknown;
}

/** The definitions of a system, Helm's lines taken out and its branch for old clusters left out. */
function originals(system: string): CustomResourceDefinition[] {
  return readdirSync(`${DATA}/crds/${system}`).flatMap((file) => {
    const text = readFileSync(`${DATA}/crds/${system}/${file}`, "utf8");
    const current = text.split("{{- else -}}")[0] ?? "";
    return loadAll(current.replace(/^\{\{.*$/gm, "")).filter((doc) => doc) as CustomResourceDefinition[];
  });
}

interface Example {
  file: string;
  manifest: { apiVersion: string; kind: string; spec: unknown };
}

/** The manifests of all systems that are of a kind that is served. */
function examples(kinds: readonly Kind[]): Example[] {
  const files = readdirSync(`${DATA}/examples`, { recursive: true, encoding: "utf8" }).filter((f) =>
    /\.ya?ml$/.test(f),
  );
  const all = files.flatMap((file) =>
    loadAll(readFileSync(`${DATA}/examples/${file}`, "utf8")).map((manifest) => ({ file, manifest }) as Example),
  );
  return all.filter(({ manifest }) =>
    kinds.some((kind) => manifest?.kind === kind.kind && manifest.apiVersion?.startsWith(`${kind.group}/`)),
  );
}

/** What the original takes and ours would not, by path. */
function narrower(original: Shape, ours: Shape | undefined, path: string): string[] {
  if (ours === undefined) return [`${path} is missing`];
  const found = narrowerHere(original, ours, path);
  // An open object takes whatever the original has in it.
  const isOpen = ours["x-kubernetes-preserve-unknown-fields"] === true;
  for (const [name, child] of Object.entries(original.properties ?? {}))
    if (!isOpen || ours.properties?.[name] !== undefined)
      found.push(...narrower(child, ours.properties?.[name], `${path}.${name}`));
  if (original.items) found.push(...narrower(original.items, ours.items, `${path}[]`));
  if (original.additionalProperties)
    found.push(...narrower(original.additionalProperties, ours.additionalProperties, `${path}{}`));
  return found;
}

/** The same of one field alone. */
function narrowerHere(original: Shape, ours: Shape, path: string): string[] {
  const found: string[] = [];
  if (original.type !== ours.type && ours["x-kubernetes-int-or-string"] !== true)
    found.push(`${path} is ${ours.type}, was ${original.type}`);
  if (original.nullable === true && ours.nullable !== true) found.push(`${path} may not be null any more`);
  for (const name of ours.required ?? [])
    if (!(original.required ?? []).includes(name)) found.push(`${path}.${name} must be given`);
  if (ours.enum !== undefined && original.enum?.every((value) => ours.enum?.includes(value)) !== true)
    found.push(`${path} takes ${ours.enum} only, took ${original.enum ?? "all"}`);
  if (original.default !== undefined && !isDeepStrictEqual(original.default, ours.default))
    found.push(`${path} is ${JSON.stringify(ours.default)} unless said, was ${JSON.stringify(original.default)}`);
  return found;
}

for (const [system, kind] of Object.entries(SYSTEMS).flatMap(([name, kinds]) =>
  kinds.map((kind) => [name, kind] as const),
)) {
  const original = (): CustomResourceDefinition => {
    const found = originals(system).find(
      ({ spec }) => spec.names.kind === kind.kind && spec.versions.some(({ name }) => name === kind.version),
    );
    assert.ok(found, `the original has no ${kind.kind} ${kind.version}`);
    return found;
  };

  test(`${kind.kind} ${kind.version}: every field of the original is there, with its type and its leniency, and no more is required`, {
    skip,
  }, () => {
    const was = original().spec.versions.find((version) => version.name === kind.version);
    const is = crdOf([kind]).spec.versions.find((version) => version.name === was?.name);

    assert.deepEqual(narrower(was?.schema.openAPIV3Schema as Shape, is?.schema.openAPIV3Schema as Shape, ""), []);
  });

  test(`${kind.kind} ${kind.version}: names, scope, subresources and columns are the original's`, { skip }, () => {
    const was = original();
    const wasVersion = was.spec.versions.find((version) => version.name === kind.version);
    const is = crdOf([kind]);
    // The words that describe a column are ours.
    const shown = (columns: PrinterColumn[] = []): PrinterColumn[] =>
      columns.filter((c) => !c.priority && c.name !== "Age").map(({ description: _, ...column }) => column);

    assert.equal(is.metadata.name, was.metadata.name);
    assert.equal(is.spec.scope, was.spec.scope);
    for (const name of ["plural", "singular", "kind"] as const) assert.equal(is.spec.names[name], was.spec.names[name]);
    assert.deepEqual(is.spec.versions[0]?.subresources?.status, wasVersion?.subresources?.status);
    const scale = wasVersion?.subresources?.scale;
    if (scale !== undefined) assert.deepEqual(is.spec.versions[0]?.subresources?.scale, scale);
    assert.deepEqual(is.spec.names.shortNames ?? [], [...(was.spec.names.shortNames ?? kind.shortNames)]);
    // Where the original shows nothing but age, ours may show more.
    const wasShown = shown(wasVersion?.additionalPrinterColumns);
    if (kind !== SIPCluster && kind !== Vino)
      assert.deepEqual(shown(is.spec.versions[0]?.additionalPrinterColumns), wasShown);
  });
}

test("every example of the originals is taken as it is", { skip }, () => {
  const kinds = Object.values(SYSTEMS)
    .flat()
    .filter((kind) => !APPLIED_ELSEWHERE.has(kind));
  const all = examples(kinds);
  assert.ok(all.length >= 9, `${all.length} examples were found`);
  for (const { file, manifest } of all) {
    const kind = kinds.find((k) => k.kind === manifest.kind);
    assert.ok(kind, `${file} holds a ${manifest.kind}, which nothing serves`);
    assert.equal(manifest.apiVersion, `${kind.group}/${kind.version}`);
    // A host may be declared by its name alone.
    if (manifest.spec === undefined) continue;
    const result = kind.spec.safeParse(manifest.spec);
    assert.ok(result.success, `${file}: ${result.error?.message}`);
  }
});
