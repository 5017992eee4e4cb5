import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareVersions } from "./versions.ts";

test("stable versions come before beta, beta before alpha, others last", () => {
  const versions = [
    "foo10",
    "v1alpha1",
    "v3beta1",
    "v10",
    "v11alpha2",
    "v2",
    "v12alpha1",
    "v1",
    "v10beta3",
    "foo1",
    "v0",
  ];

  assert.deepEqual(versions.sort(compareVersions), [
    "v10",
    "v2",
    "v1",
    "v0",
    "v10beta3",
    "v3beta1",
    "v12alpha1",
    "v11alpha2",
    "v1alpha1",
    "foo1",
    "foo10",
  ]);
});

test("the order is the same from both sides", () => {
  const version = fc.constantFrom("v1", "v2", "v1beta1", "v2beta1", "v1alpha1", "x", "y");
  fc.assert(
    fc.property(version, version, (a, b) =>
      assert.equal(Math.sign(compareVersions(a, b)), -Math.sign(compareVersions(b, a)) + 0),
    ),
  );
});
