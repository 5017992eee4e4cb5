import assert from "node:assert/strict";
import { test } from "node:test";
import { asCalled } from "./outgoing.ts";

test("examples and hints name the command as it was called, and nothing else does", () => {
  const text =
    "Examples:\n  slipway up\n  KEY=1 slipway plan -f x\nstart `slipway netboot`, or (slipway order); slipway: a ConfigMap slipway";
  const called =
    "Examples:\n  ./$&/s up\n  KEY=1 ./$&/s plan -f x\nstart `./$&/s netboot`, or (./$&/s order); slipway: a ConfigMap slipway";
  assert.equal(asCalled(text, "./$&/s"), called);
});
