/** What is refused of the metadata of any object, in the words of Kubernetes' validation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { builtin } from "../builtin/testing.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { embeddedMetadataErrors, finalizerWarnings, malformedMetadata, metadataErrors } from "./metadata.ts";

const CUSTOM = { group: "example.com", plural: "widgets", builtIn: false } as ServedResource;
const object = (metadata: object): Body => ({ metadata: { name: "x", ...metadata } }) as unknown as Body;
const lines = (metadata: object, resource: ServedResource = builtin("ConfigMap"), old?: object) =>
  metadataErrors(object(metadata), resource, old && object(old)).map(({ field, message }) => `${field}: ${message}`);
/** Compares by whole lines; one that ends in `…` is the beginning of its line. */
function assertLines(found: readonly string[], wanted: readonly string[], what: unknown): void {
  const shown = found.map((line, i) => (wanted[i]?.endsWith("…") ? `${line.slice(0, wanted[i].length - 1)}…` : line));
  assert.deepEqual(shown, wanted, JSON.stringify(what));
}
const bad = (field: string, value: unknown, why: string) =>
  `metadata.${field}: Invalid value: ${JSON.stringify(value)}: ${why}`;
const SUBDOMAIN = "a lowercase RFC 1123 subdomain …";

test("a name goes by the rule of its kind, and so does the prefix of one", () => {
  assertLines(lines({ name: "a.b" }), [], "a subdomain");
  assertLines(lines({ name: "A" }), [bad("name", "A", SUBDOMAIN)], "A");
  assertLines(lines({ name: "a.b" }, builtin("Namespace")), [bad("name", "a.b", "must not contain dots…")], "label");
  assertLines(lines({ name: "a.b" }, builtin("Service")), [bad("name", "a.b", "must not contain dots…")], "label");
  for (const kind of ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "APIService"]) {
    assertLines(lines({ name: "system:A" }, builtin(kind)), [], kind);
    assertLines(lines({ name: "a/b" }, builtin(kind)), [bad("name", "a/b", "may not contain '/'")], kind);
  }
  assertLines(lines({ name: "A b/c" }, builtin("CertificateSigningRequest")), [], "any");
  assertLines(lines({ generateName: "a-" }), [], "a dash has something behind it");
  assertLines(lines({ generateName: "AB-" }), [bad("generateName", "AB-", SUBDOMAIN)], "AB-");
});

test("labels, annotations and finalizers have qualified names; annotations hold 256 KiB in all", () => {
  assertLines(
    lines({ labels: { "a b": "-" } }),
    [bad("labels", "a b", "name part must …"), bad("labels", "-", "a valid label must …")],
    "labels",
  );
  assertLines(lines({ annotations: { A: "any value" } }), [], "capitals are taken for small letters");
  assertLines(lines({ annotations: { "a b": "" } }), [bad("annotations", "a b", "name part must …")], "annotations");
  assertLines(lines({ annotations: { a: "x".repeat(256 * 1024 - 1) } }), [], "just so");
  assertLines(
    lines({ annotations: { a: "x".repeat(256 * 1024) } }),
    ["metadata.annotations: Too long: may not be more than 262144 bytes"],
    "one more",
  );
  const short = "name is neither a standard finalizer name nor is it fully qualified";
  assertLines(lines({ finalizers: ["kubernetes", "orphan", "a.example/b"] }), [], "standard");
  assertLines(lines({ finalizers: ["short"] }), [bad("finalizers[0]", "short", short)], "short");
  assertLines(lines({ finalizers: ["short"] }, CUSTOM), [], "custom resources may");
  assertLines(lines({ finalizers: ["a b"] }, CUSTOM), [bad("finalizers", "a b", "name part must …")], "a b");
  assertLines(
    lines({ finalizers: ["orphan", "foregroundDeletion"] }),
    [bad("finalizers", ["orphan", "foregroundDeletion"], "finalizer orphan and foregroundDeletion cannot be both set")],
    "both",
  );
});

test("owners are named in full, are no Events, and at most one is the controller", () => {
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
  const owners = (...ownerReferences: object[]) => lines({ ownerReferences });
  const at = "ownerReferences";
  assert.deepEqual(owners(owner, { ...owner, apiVersion: "apps/v1", controller: true }), []);
  assert.deepEqual(owners({ ...owner, apiVersion: "" }), [bad(`${at}.apiVersion`, "", "version must not be empty")]);
  assert.deepEqual(owners({ ...owner, apiVersion: "a/b/c" }), [
    bad(`${at}.apiVersion`, "a/b/c", "version must not be empty"),
  ]);
  for (const field of ["kind", "name", "uid"])
    assert.deepEqual(owners({ ...owner, [field]: "" }), [bad(`${at}.${field}`, "", "must not be empty")], field);
  const event = { ...owner, kind: "Event" };
  assert.deepEqual(owners(event), [bad(at, event, "/v1, Kind=Event is disallowed from being an owner")]);
  const two = [owner, { ...owner, kind: "Job" }].map((one) => ({ ...one, controller: true }));
  assert.deepEqual(owners(...two), [
    bad(at, two, 'Only one reference can have Controller set to true. Found "true" in references for Pod/p and Job/p'),
  ]);
});

test("of an object that is there, what names it stays, and one that is leaving takes no new finalizers", () => {
  const old = { name: "x", namespace: "n", uid: "u" };
  assert.deepEqual(lines(old, CUSTOM, old), []);
  for (const field of ["name", "namespace", "uid"])
    assert.deepEqual(lines({ ...old, [field]: "y" }, CUSTOM, old), [bad(field, "y", "field is immutable")], field);
  assert.deepEqual(lines({ ...old, deletionTimestamp: "t" }, CUSTOM, old), [
    bad("deletionTimestamp", "t", "field is immutable"),
  ]);
  assert.deepEqual(lines({ ...old, deletionGracePeriodSeconds: 3 }, CUSTOM, old), [
    bad("deletionGracePeriodSeconds", 3, "field is immutable"),
  ]);
  const leaving = { ...old, deletionTimestamp: "t", finalizers: ["a.example/b"] };
  assert.deepEqual(lines({ ...leaving, finalizers: [] }, CUSTOM, leaving), []);
  assert.deepEqual(lines({ ...leaving, finalizers: ["a.example/b", "a.example/c"] }, CUSTOM, leaving), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.example/c"}',
  ]);
});

test("an object inside another may have any name that fits in a path, or none", () => {
  const found = (metadata: object) =>
    embeddedMetadataErrors({ metadata } as unknown as Body).map(({ field, message }) => `${field}: ${message}`);
  assert.deepEqual(found({}), []);
  assert.deepEqual(found({ name: "A:b", finalizers: ["short"] }), []);
  assert.deepEqual(found({ name: "a/b" }), [bad("name", "a/b", "may not contain '/'")]);
  assertLines(found({ labels: { "a b": "" } }), [bad("labels", "a b", "name part must …")], "labels");
});

test("finalizers that a write adds to a custom resource are advised against where others may use the same", () => {
  const advice = (how: string) =>
    `prefer a domain-qualified finalizer ${how} to avoid accidental conflicts with other finalizer writers`;
  const warnings = (finalizers: string[], old?: string[]) =>
    finalizerWarnings(object({ finalizers }), old && object({ finalizers: old }));
  assert.deepEqual(warnings(["a.example/b", "orphan"]), []);
  assert.deepEqual(warnings(["short"]), [`metadata.finalizers: "short": ${advice("name")}`]);
  assert.deepEqual(warnings(["a.short"]), [`metadata.finalizers: "a.short": ${advice("name including a path (/)")}`]);
  assert.deepEqual(warnings(["short"], ["short"]), []);
  assert.deepEqual(
    warnings(["b", "a", "b"]).map((line) => line.split('"')[1]),
    ["a", "b"],
  );
});

test("metadata of the wrong shape is named as a decoder would", () => {
  for (const [metadata, said] of [
    [undefined, "metadata: expected an object"],
    [[], "metadata: expected an object"],
    [{ name: 7 }, "metadata.name: expected a string"],
    [{ namespace: {} }, "metadata.namespace: expected a string"],
    [{ generateName: 1 }, "metadata.generateName: expected a string"],
    [{ uid: true }, "metadata.uid: expected a string"],
    [{ resourceVersion: 1 }, "metadata.resourceVersion: expected a string"],
    [{ creationTimestamp: 1 }, "metadata.creationTimestamp: expected a string"],
    [{ deletionTimestamp: 1 }, "metadata.deletionTimestamp: expected a string"],
    [{ labels: [] }, "metadata.labels: expected an object"],
    [{ annotations: { a: 1 } }, "metadata.annotations.a: expected a string"],
    [{ labels: { a: null } }, "metadata.labels.a: expected a string"],
    [{ finalizers: {} }, "metadata.finalizers: expected strings"],
    [{ finalizers: [1] }, "metadata.finalizers: expected strings"],
    [{ ownerReferences: {} }, "metadata.ownerReferences: expected objects"],
    [{ ownerReferences: ["a"] }, "metadata.ownerReferences: expected objects"],
    [{ managedFields: "a" }, "metadata.managedFields: expected objects"],
    [{ managedFields: [1] }, "metadata.managedFields: expected objects"],
    [{ name: null, labels: null, finalizers: null, ownerReferences: null, managedFields: null }, undefined],
    [{ name: "x", labels: { a: "b" }, finalizers: ["a"], ownerReferences: [{}], managedFields: [{}] }, undefined],
  ] as const)
    assert.equal(malformedMetadata(metadata), said, JSON.stringify(metadata));
});
