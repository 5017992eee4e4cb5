import assert from "node:assert/strict";
import { test } from "node:test";
import { type Log, quietLog } from "@slipway/base";
import { Parts } from "./parts.ts";

test("what was started last ends first, once, and one that can't be ended is reported and keeps no other", async () => {
  const said: string[] = [];
  const log: Log = { ...quietLog, error: (fields) => void said.push(JSON.stringify(fields)) };
  const parts = new Parts(log);
  const part = (name: string, end = async () => {}) =>
    parts.own({
      close() {
        said.push(name);
        return end();
      },
    });
  part("first");
  part("second", () => Promise.reject(new Error("stuck")));
  part("third");
  await parts.close();
  await parts.close();
  assert.deepEqual(said, ["third", "second", '{"error":"netboot: stuck"}', "first"]);
});
