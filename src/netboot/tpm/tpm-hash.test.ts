import assert from "node:assert/strict";
import { test } from "node:test";
import { kdfa, kdfe } from "./tpm-hash.ts";

const KEY = Buffer.alloc(32, 0x0b);

// openssl kdf -keylen 48 -kdfopt mode:counter -kdfopt mac:HMAC -kdfopt digest:SHA256 -kdfopt hexkey:0b… -kdfopt salt:STORAGE -kdfopt info:AB KBKDF
test("KDFa gives what OpenSSL's KBKDF gives, also over more than one digest, and both contexts follow each other", () => {
  const expected = "bb3ef807875a202b014c3f3b1722fa6312f04b5b8a1f9a6796f47e14d5e6c3a262a42d0699460abe4f483d399d5ec21b";
  const contexts = { contextU: Buffer.from("A"), contextV: Buffer.from("B") };
  assert.equal(kdfa({ hash: "sha256", key: KEY, label: "STORAGE", ...contexts, bits: 384 }).toString("hex"), expected);
});

// openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexkey:0b… -kdfopt hexinfo:4944454e544954590055555656 SSKDF
test("KDFe gives what OpenSSL's SSKDF gives", () => {
  const parties = { partyU: Buffer.from("UU"), partyV: Buffer.from("VV") };
  const made = kdfe({ hash: "sha256", z: KEY, label: "IDENTITY", ...parties, bits: 256 });
  assert.equal(made.toString("hex"), "5d3b050d6ef5b8ed76202a9eb210827fd377ec8929b74c446a35cf55bf4050c9");
});
