import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { ATTRIBUTES, readPublicArea } from "./public-area.ts";

/** Of a TPM that swtpm made: `tpm2_createek -G rsa -f tss`. */
const ENDORSEMENT_KEY = Buffer.from(
  "AToAAQALAAMAsgAgg3GXZ0SEs/gakMyNRqXXJP1S124GUgtk8qHaGzMUaaoABgCAAEMAEAgAAAAAAAEA9hSgCaCdXIUvebhUJDh4uOTYuT15kKMnSocdpWj2y86kbc4OWQKINMmId5m2DX2nCC6IKjf76iVh6oaVEF/KuoFemnth7t+4/nB5E4HC5KpqGZmggryYzZxsFU/FibZuwnXgRYizQzdzwGXgGVfJEDCB9LGMFrVwdpkpB1/QIAmA5kQYlFkO+rLmGM6WP4uyfcr24EprOuCD2/HC+zkxg97Jb7CC0dRT19OifgMDfD5YwbDqKp4Iv0ADp1YaEIqF1KLdYrJsuKlyCh7StjuIAjzSkZRCY289lyi/MEgSNUXfvNZSJtafxCZIk9CxU1g5BoRFKgk89cCUzl/ZR9ImJQ==",
  "base64",
);

test("an endorsement key is read with its algorithms, its attributes and its name", () => {
  const { nameHash, attributes, name, key, aesBits } = readPublicArea(ENDORSEMENT_KEY);
  assert.deepEqual([nameHash, aesBits, key.is, key.is === "rsa" && key.bits], ["sha256", 128, "rsa", 2048]);
  const { fixedTPM, restricted, decrypt, sign } = ATTRIBUTES;
  assert.deepEqual(
    [fixedTPM, restricted, decrypt, sign].map((bit) => (attributes & bit) !== 0),
    [true, true, true, false],
  );
  assert.deepEqual([name.length, name.subarray(0, 2).toString("hex")], [34, "000b"]);
});

test("what a machine sends in place of a public area is read or refused, and nothing else happens", () => {
  const bytes = fc.array(fc.tuple(fc.nat(ENDORSEMENT_KEY.length - 1), fc.nat(255)), { maxLength: 6 });
  fc.assert(
    fc.property(bytes, fc.nat(ENDORSEMENT_KEY.length), (changes, length) => {
      const damaged = Buffer.from(ENDORSEMENT_KEY.subarray(0, Math.max(length, 1)));
      for (const [at, value] of changes) if (at < damaged.length) damaged[at] = value;
      try {
        readPublicArea(damaged);
      } catch (error) {
        assert.ok(isFault(error, "Invalid"), String(error));
      }
    }),
    { numRuns: 2_000 },
  );
  assert.throws(() => readPublicArea(ENDORSEMENT_KEY.subarray(0, 100)), /it ends at byte 100/);
  assert.throws(() => readPublicArea(Buffer.concat([ENDORSEMENT_KEY, Buffer.of(0)])), /1 bytes follow its end/);
});

/** A public area on a curve, by TPM_ECC_CURVE, with a point that was sent as it is. */
function onCurve(curve: number, x: Buffer, y: Buffer): Buffer {
  const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 255);
  const sized = (bytes: Buffer): Buffer => Buffer.concat([u16(bytes.length), bytes]);
  const NONE = u16(0x10);
  const head = [u16(0x23), u16(0x0b), Buffer.from("000300b2", "hex"), sized(Buffer.alloc(0))];
  const cipher = [u16(6), u16(128), u16(0x43)];
  return sized(Buffer.concat([...head, ...cipher, NONE, u16(curve), NONE, sized(x), sized(y)]));
}

test("a key on a curve is read; a point that is not on it, and a curve that nobody knows, are refused as such", () => {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const [left, right] = [Buffer.from(x, "base64url"), Buffer.from(y, "base64url")];
  const { key } = readPublicArea(onCurve(3, left, right));
  assert.deepEqual(key, { is: "ecc", curve: "prime256v1", x: left, y: right });
  const beside = Buffer.from(right);
  beside[31]! ^= 1;
  assert.throws(() => readPublicArea(onCurve(3, left, beside)), /its point is not on its curve/);
  assert.throws(() => readPublicArea(onCurve(99, left, right)), /its curve 99 is not known/);
  assert.throws(() => readPublicArea(onCurve(3, Buffer.alloc(33, 1), right)), /a coordinate has 33 bytes/);
});

test("zeroes that a coordinate was sent without are put back", () => {
  for (;;) {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    const [left, right] = [Buffer.from(x, "base64url"), Buffer.from(y, "base64url")];
    if (left[0] !== 0) continue;
    const { key } = readPublicArea(onCurve(3, left.subarray(1), right));
    assert.deepEqual(key, { is: "ecc", curve: "prime256v1", x: left, y: right });
    return;
  }
});
