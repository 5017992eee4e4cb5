import assert from "node:assert/strict";
import { test } from "node:test";
import { ALLOWED_VALUES } from "../data/allowed-values.ts";
import { DEFAULTS } from "../data/defaults.ts";
import { DESCRIPTIONS } from "../data/descriptions.ts";
import type { Schema } from "../model/served.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import { schemaOf } from "./type-schema.ts";

const of = (group: string, name: string): Schema => schemaOf(wireTypeOf(group, name)!);
const at = (schema: Schema, ...names: string[]): Schema =>
  names.reduce((inner, name) => (inner.items ?? inner).properties![name]!, schema);

test("a list of objects merges as its Go type says, and keys that an item leaves out are their type's zero", () => {
  const ports = at(of("core", "Container"), "ports");
  assert.equal(ports["x-kubernetes-list-type"], "map");
  assert.deepEqual(ports["x-kubernetes-list-map-keys"], ["containerPort", "protocol"]);
  assert.equal(ports["x-kubernetes-patch-strategy"], "merge");
  assert.equal(ports["x-kubernetes-patch-merge-key"], "containerPort");
  assert.equal(at(ports, "containerPort").default, 0);
  assert.equal(at(ports, "protocol").default, "TCP");
  assert.equal(at(of("core", "ContainerPort"), "containerPort").default, undefined);
});

test("members of embedded structs stand beside the others, with the words that their type has elsewhere", () => {
  const added = of("core", "EphemeralContainer");
  assert.equal(at(added, "targetContainerName").type, "string");
  assert.equal(at(added, "name").description, "Unique among the Pod's containers.");
  assert.equal(at(added, "terminationMessagePath").default, "/dev/termination-log");
});

test("what OpenAPI demands is required, and what apply owns as a whole is atomic", () => {
  assert.deepEqual(of("core", "Taint").required, ["key", "effect"]);
  assert.equal(of("meta", "LabelSelector")["x-kubernetes-map-type"], "atomic");
  assert.equal(at(of("core", "PersistentVolumeSpec"), "claimRef")["x-kubernetes-map-type"], "granular");
});

test("an object within an object has apiVersion, kind and metadata; a schema within one is any object", () => {
  const claim = at(of("apps", "StatefulSetSpec"), "volumeClaimTemplates").items!;
  assert.deepEqual(Object.keys(claim.properties!).sort(), ["apiVersion", "kind", "metadata", "spec", "status"]);
  const schema = at(of("apiextensions", "CustomResourceValidation"), "openAPIV3Schema");
  assert.equal(schema["x-kubernetes-preserve-unknown-fields"], true);
});

test("allowed values of a list are those of its items", () => {
  const types = at(of("networking", "NetworkPolicySpec"), "policyTypes");
  assert.deepEqual([types.enum, types.items?.enum], [undefined, ["Ingress", "Egress"]]);
});

test("defaults, descriptions and allowed values name types and fields that there are", () => {
  for (const name of [DEFAULTS, DESCRIPTIONS, ALLOWED_VALUES].flatMap(Object.keys)) {
    const [section, type, field] = name.split(".") as [string, string, string | undefined];
    const struct = wireTypeOf(section, type);
    assert.ok(struct !== undefined, name);
    assert.ok(field === undefined || struct.declared.some((declared) => declared.name === field), name);
  }
});
