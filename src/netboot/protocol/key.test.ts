import assert from "node:assert/strict";
import { test } from "node:test";
import { fingerprint } from "./key.ts";

test("a key's fingerprint is what sha256sum says of its text, short enough to be compared by eye", () => {
  // printf age1… | sha256sum
  assert.equal(
    fingerprint("age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq"),
    "5559-c603-7d92-0c10-a273-ec75",
  );
});
