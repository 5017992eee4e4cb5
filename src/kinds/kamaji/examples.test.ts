import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { loadAll } from "js-yaml";
import { type CustomResourceDefinition, crdOf } from "../crd.ts";
import type { Kind } from "../kind.ts";
import type { StructuralSchema } from "../structural-schema.ts";
import { KAMAJI_KINDS } from "./kinds.ts";
import { kamajiApi } from "./testing.ts";

/** Kamaji's definitions and manifests. Not part of the project. */
const DATA = `${process.env.SLIPWAY_REFERENCE ?? "../shared/reference"}/data`;
const skip = existsSync(DATA) ? false : `${DATA} is absent`;

const documents = <T>(folder: string): T[] =>
  readdirSync(folder).flatMap((file) => loadAll(readFileSync(`${folder}/${file}`, "utf8")) as T[]);

type Manifest = { apiVersion: string; kind: string; metadata: { name: string }; spec: unknown };

const pathOf = ({ kind }: Manifest): string => {
  const of = KAMAJI_KINDS.flat().find((one) => one.kind === kind) as Kind;
  return `/apis/${of.group}/${of.version}/${of.namespaced ? "namespaces/default/" : ""}${of.plural}`;
};
const isServed = ({ apiVersion, kind }: Manifest): boolean =>
  KAMAJI_KINDS.flat().some((of) => of.kind === kind && `${of.group}/${of.version}` === apiVersion);

test("Kamaji's examples apply unchanged, and the one that its own definition refuses is refused for the same field", {
  skip,
}, async () => {
  const { send, close } = await kamajiApi();
  const answers = new Map<string, string>();
  for (const body of documents<Manifest>(`${DATA}/examples/kamaji`).filter(isServed)) {
    const answer = await send({ method: "POST", path: pathOf(body), body });
    const { details } = answer.body as { details?: { causes?: { field: string; message: string }[] } };
    answers.set(
      `${body.kind}/${body.metadata.name}`,
      answer.status === 201 ? "created" : `${details?.causes?.[0]?.field}: ${details?.causes?.[0]?.message}`,
    );
  }

  assert.deepEqual(Object.fromEntries(answers), {
    "DataStore/etcd": "created",
    "TenantControlPlane/k8s-133": "created",
    // It is of an earlier shape, with `deployment` and `service` directly under `spec`.
    "TenantControlPlane/konnectivity-addon": "spec.controlPlane: Required value",
  });
  await close();
});

/** What narrows the values that a schema takes; absent: not narrowed. */
const BOUNDS = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "enum"] as const;
/** What changes the meaning of values. */
const MEANING = ["default", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"] as const;

/** The order of an enum and the escapes of slashes in patterns mean nothing. */
function comparable(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("\\/", "/");
  return Array.isArray(value) ? [...value].sort() : value;
}

function* differences(was: StructuralSchema, is: StructuralSchema | undefined, path: string): Generator<string> {
  if (is === undefined) return;
  for (const facet of [...BOUNDS.filter((bound) => is[bound] !== undefined), ...MEANING]) {
    const [before, now] = [was[facet], is[facet]].map((value) => comparable(value));
    if (!isDeepStrictEqual(before, now))
      yield `${path} ${facet}: ${JSON.stringify(before)}, now ${JSON.stringify(now)}`;
  }
  for (const [name, child] of Object.entries(was.properties ?? {}))
    yield* differences(child, is.properties?.[name], `${path}.${name}`);
  if (was.items) yield* differences(was.items, is.items, `${path}[]`);
  if (was.additionalProperties) yield* differences(was.additionalProperties, is.additionalProperties, `${path}{}`);
}

test("no bound is narrower than Kamaji's, and defaults and list types are Kamaji's, but for those that are listed", {
  skip,
}, () => {
  const found = documents<CustomResourceDefinition>(`${DATA}/crds/kamaji`).flatMap((crd) => {
    const versions = KAMAJI_KINDS.find(([of]) => of?.kind === crd.spec.names.kind) ?? [];
    const [was, is] = [crd, crdOf(versions)].map((one) => one.spec.versions[0]?.schema.openAPIV3Schema);
    return [...differences(was as StructuralSchema, is, crd.spec.names.kind)];
  });

  const prefixesAndAddresses = [
    "dnsServiceIPs[]",
    "loadBalancerSourceRanges[]",
    "podCidr",
    "podCidrs[]",
    "serviceCidr",
  ];
  assert.deepEqual(found.sort(), [
    // One condition of a type, as everywhere.
    'DataStore.status.conditions x-kubernetes-list-map-keys: undefined, now ["type"]',
    'DataStore.status.conditions x-kubernetes-list-type: undefined, now "map"',
    // Nothing that is longer passes the rules on these fields.
    "TenantControlPlane.spec.kubernetes.version maxLength: undefined, now 64",
    ...[...prefixesAndAddresses, "serviceCidrs[]"].map(
      (field) => `TenantControlPlane.spec.networkProfile.${field} maxLength: undefined, now 64`,
    ),
  ]);
});

test("scale and categories are Kamaji's", { skip }, () => {
  for (const crd of documents<CustomResourceDefinition>(`${DATA}/crds/kamaji`)) {
    const is = crdOf(KAMAJI_KINDS.find(([of]) => of?.kind === crd.spec.names.kind) ?? []);

    assert.deepEqual(is.spec.versions[0]?.subresources, crd.spec.versions[0]?.subresources);
    assert.deepEqual(is.spec.names, crd.spec.names);
  }
});
