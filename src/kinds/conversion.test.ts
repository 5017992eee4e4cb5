import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import fc from "fast-check";
import { converter, converterOfAll } from "./conversion.ts";
import { crdOf } from "./crd.ts";
import { aBoat as a, boat, renaming } from "./testing.ts";

/** v2 is stored; v1 calls `spec.name` `spec.title`, v1beta1 calls it `spec.label`. */
const BOATS = [
  boat("v2", "name"),
  boat("v1", "title", { conversion: renaming("title") }),
  boat("v1beta1", "label", { conversion: renaming("label"), served: false }),
];

test("versions meet in the stored one: each knows only its own way there and back", () => {
  const convert = converter(BOATS);
  const old = a("v1", { title: "Argo", oars: 2 });
  assert.deepEqual(convert(old, "sea.example.org/v2"), a("v2", { name: "Argo", oars: 2 }));
  assert.deepEqual(convert(old, "sea.example.org/v1beta1"), a("v1beta1", { label: "Argo", oars: 2 }));
  assert.deepEqual(old, a("v1", { title: "Argo", oars: 2 }), "what was given is not changed");
});

test("through any other version and back, an object is what it was", () => {
  const convert = converter(BOATS);
  const fields = { v2: "name", v1: "title", v1beta1: "label" } as const;
  const version = fc.constantFrom("v2", "v1", "v1beta1");
  const value = fc.record({ text: fc.string(), oars: fc.nat() }, { requiredKeys: [] });
  fc.assert(
    fc.property(version, version, value, (from, by, { text, oars }) => {
      const object = a(from, {
        ...(text !== undefined && { [fields[from as "v1"]]: text }),
        ...(oars !== undefined && { oars }),
      });
      assert.deepEqual(convert(convert(object, `sea.example.org/${by}`), object.apiVersion), object);
    }),
  );
});

test("a version or kind that is none of ours is refused by name", () => {
  const refused = (object: KubeObject, to: string, message: RegExp) =>
    assert.throws(
      () => converterOfAll([BOATS])(object, to),
      (fault: Fault) => fault.code === "Invalid" && message.test(fault.message),
    );
  refused(a("v2", {}), "sea.example.org/v3", /Boat: there is no version sea\.example\.org\/v3/);
  refused(a("v3", {}), "sea.example.org/v2", /Boat: there is no version sea\.example\.org\/v3/);
  refused({ ...a("v2", {}), kind: "Ship" }, "sea.example.org/v2", /Ship: sea\.example\.org\/v2 is none of our kinds/);
});

test("a definition names all versions and who converts, where that takes more than a name", () => {
  const service = { namespace: "slipway-system", name: "slipway", path: "/convert" };
  const { versions, conversion } = crdOf(BOATS, { service }).spec;
  assert.deepEqual(
    versions.map(({ name, served, storage }) => [name, served, storage]),
    [
      ["v2", true, true],
      ["v1", true, false],
      ["v1beta1", false, false],
    ],
  );
  assert.deepEqual(conversion, {
    strategy: "Webhook",
    webhook: { clientConfig: { service }, conversionReviewVersions: ["v1"] },
  });
  assert.equal(crdOf(BOATS).spec.conversion, undefined, "for a server that converts by itself");
  const alike = [boat("v2", "name"), boat("v1", "name")];
  assert.equal(crdOf(alike, { service }).spec.conversion, undefined);
});
