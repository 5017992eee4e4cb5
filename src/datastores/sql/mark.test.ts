import assert from "node:assert/strict";
import { test } from "node:test";
import { readMark, writeMark } from "./mark.ts";
import { scramVerifier } from "./scram.ts";

test("a mark is read back, and other comments are none", () => {
  const mark = { schema: "tenant", user: "user" };
  assert.deepEqual(readMark(writeMark(mark)), mark);
  for (const comment of [
    null,
    undefined,
    "",
    "slipway",
    "slipway place",
    "slipway place {",
    'slipway place {"schema":1}',
    "slipway place []",
  ])
    assert.equal(readMark(comment), undefined);
});

test("a password is sent as PostgreSQL keeps it: the exchange of RFC 7677", () => {
  const salt = Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64");
  assert.equal(
    scramVerifier("pencil", salt),
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
  );
});
