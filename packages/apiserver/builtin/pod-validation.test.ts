import assert from "node:assert/strict";
import { test } from "node:test";
import { validatePodSpec } from "./pod-validation.ts";

const N = 20_000;

test("others have their turn while very many containers and amounts of one Pod are judged", () => {
  const containers = Array.from({ length: N }, (_, i) => ({ name: `c${i}`, image: "a" }));
  const limits = Object.fromEntries(Array.from({ length: N }, (_, i) => [`example.com/r${i}`, "1"]));
  for (const spec of [
    { containers },
    { containers: [{ name: "c", image: "a" }], initContainers: containers },
    { containers: [{ name: "c", image: "a", resources: { limits } }] },
  ]) {
    const passes = validatePodSpec(spec, "spec");
    let yields = 0;
    while (passes.next().done !== true) yields++;
    assert.ok(yields >= 3, `${yields} times`);
  }
});
