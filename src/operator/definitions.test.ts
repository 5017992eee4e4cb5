import assert from "node:assert/strict";
import { test } from "node:test";
import { crdOf } from "../kinds/crd.ts";
import { SYSTEMS } from "./systems.ts";

test("SIP-18 every definition that is installed, Metal3's and SIP's among them, is of apiextensions.k8s.io/v1, with a schema for each version", () => {
  const definitions = SYSTEMS.flatMap(({ kinds }) => kinds.map((versions) => crdOf(versions)));
  const named = new Set(definitions.map(({ metadata }) => metadata.name));
  for (const name of ["baremetalhosts.metal3.io", "sipclusters.airship.airshipit.org", "vinoes.airship.airshipit.org"])
    assert.ok(named.has(name), name);
  for (const { apiVersion, metadata, spec } of definitions) {
    assert.equal(apiVersion, "apiextensions.k8s.io/v1");
    for (const { name, schema } of spec.versions) assert.ok(schema?.openAPIV3Schema, `${metadata.name} ${name}`);
  }
});
