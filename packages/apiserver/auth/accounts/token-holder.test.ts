import assert from "node:assert/strict";
import { test } from "node:test";
import { Store } from "../../storage/store.ts";
import { holderOf } from "./token-holder.ts";

const NOW = 1_000_000;

test("a token's times are held against the clock, with a minute's leeway", () => {
  const said = (claims: object) => holderOf(new Store(), claims as never, NOW);
  const late = /has expired/;
  for (const [claims, why] of [
    [{}, late],
    [{ exp: NOW - 61 }, late],
    [{ exp: NOW + 60, nbf: NOW + 61 }, /not valid yet/],
    [{ exp: NOW + 60, iat: NOW + 61 }, /issued in the future/],
  ] as const)
    assert.match(String(said(claims)), why);
  // Past its times, the token names an account that is not there.
  for (const claims of [{ exp: NOW - 60 }, { exp: NOW, nbf: NOW + 60, iat: NOW + 60 }])
    assert.match(String(said(claims)), /not found/);
});
