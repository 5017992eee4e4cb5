import assert from "node:assert/strict";
import { test } from "node:test";
import { unreadableBody } from "./custom-object.ts";

test("a body that can't be read is named by its own kind and version, where it has them", () => {
  const said = (body: unknown): string | undefined => {
    const call = { resource: { kind: "Pod", version: "v1" }, body } as never;
    return (unreadableBody(call, { message: "why", known: true } as never) as { message?: string }).message;
  };
  assert.equal(
    said({ kind: "Boat", apiVersion: "sea/v2" }),
    'request: Boat in version "v2" cannot be handled as a Pod: why',
  );
  for (const body of [{ kind: "", apiVersion: "" }, { kind: 1, apiVersion: null }, undefined])
    assert.equal(said(body), 'request: Pod in version "v1" cannot be handled as a Pod: why');
});
