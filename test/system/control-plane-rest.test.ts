import assert from "node:assert/strict";
import { test } from "node:test";
import { restOfPlane } from "./control-plane-life.ts";

test("B15 a control plane at rest asks the API next to nothing in an hour, and a tenant that ends shows within a second", async () => {
  const { asked, shownAfterMs } = await restOfPlane();
  assert.ok(asked.length <= 20, asked.join("\n"));
  assert.ok(shownAfterMs <= 1_000, `${shownAfterMs} ms`);
});
