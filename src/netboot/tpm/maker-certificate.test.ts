import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { fingerprintOf, tpmAuthorities } from "./authorities.ts";
import { checkCertificate } from "./maker-certificate.ts";
import { endorsementKey, maker, NOW } from "./testing.ts";

const DAY_MS = 86_400_000;
const KEY = endorsementKey();
const ROOT = await maker("Root");
const AUTHORITIES = tpmAuthorities(ROOT.pem, "makers.pem");
const check = (der: Buffer, { chain = [] as Buffer[], authorities = AUTHORITIES, now = NOW } = {}) =>
  checkCertificate({ der, chain }, { key: KEY, authorities, now });
/** Where no authorities are named. */
const recorded = (der: Buffer) => checkCertificate({ der, chain: [] }, { key: KEY, authorities: undefined, now: NOW });

test("a certificate for the key, by an authority of the settings, counts, and is reported by issuer, serial number, end and authority", async () => {
  assert.deepEqual(check(await ROOT.certify(KEY.public)), {
    issuer: "CN=Root",
    serial: "0123ab",
    until: "2027-06-01T00:00:00.000Z",
    authority: fingerprintOf(new X509Certificate(ROOT.pem)),
  });
});

test("without authorities it is recorded, and its chain is not judged", async () => {
  const { issuer, authority, because } = recorded(await ROOT.certify(KEY.public));
  assert.deepEqual([issuer, authority, because], ["CN=Root", undefined, undefined]);
  const other = check(await ROOT.certify(endorsementKey().public), { authorities: undefined });
  assert.equal(other.because, "has a certificate for another key");
});

test("authorities between it and the settings' are taken from the TPM, in any order; what does not belong to them is passed over", async () => {
  const middle = await ROOT.below("Middle");
  const low = await middle.below("Low");
  const stranger = await maker("Stranger");
  const der = await low.certify(KEY.public);
  const whole = check(der, { chain: [stranger.der, low.der, Buffer.from("3082000100", "hex"), middle.der] });
  assert.equal(whole.because, undefined);
  assert.equal(whole.authority, fingerprintOf(new X509Certificate(ROOT.pem)));
  assert.match(
    check(der, { chain: [low.der] }).because ?? "",
    /leads to no authority of tpmAuthorities, but to CN=Middle$/,
  );
  // An authority in the middle is trusted as it stands where the settings name it.
  assert.equal(check(der, { authorities: tpmAuthorities(low.pem, "") }).because, undefined);
});

test("an authority whose key can't be read has certified nothing, whatever it is called", async () => {
  const der = Buffer.from(ROOT.der);
  // Of the key's algorithm: id-ecPublicKey, made one that nobody knows.
  const algorithm = der.indexOf(Buffer.from("06072a8648ce3d0201", "hex"));
  assert.notEqual(algorithm, -1);
  der[algorithm + 8] = 0x7f;
  const pem = `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`;
  const { because, authority } = check(await ROOT.certify(KEY.public), { authorities: tpmAuthorities(pem, "") });
  assert.match(because ?? "", /leads to no authority of tpmAuthorities, but to CN=Root$/);
  assert.equal(authority, undefined);
});

test("what is not below an authority of the settings counts for nothing, whatever it is called", async () => {
  const other = await maker("Root");
  const says = async (der: Buffer, chain: Buffer[] = []): Promise<string | undefined> => check(der, { chain }).because;
  const stranger = await other.certify(KEY.public);
  assert.match((await says(stranger, [other.der]))!, /leads to no authority/);
  const noAuthority = await ROOT.below("No authority", { ca: false });
  assert.match((await says(await noAuthority.certify(KEY.public), [noAuthority.der]))!, /leads to no authority/);
  // Of the right name, between a stranger's and the settings'.
  const forged = await other.below("Low");
  assert.match(
    (await says(await forged.certify(KEY.public), [forged.der, other.der, ROOT.der]))!,
    /leads to no authority/,
  );
});

test("times are those of the clock, of each certificate on the way", async () => {
  const says = (der: Buffer, now: number, chain: Buffer[] = []) => check(der, { now, chain }).because;
  const der = await ROOT.certify(KEY.public, { from: NOW, to: NOW + DAY_MS });
  assert.equal(says(der, NOW - 1_000), "has a certificate that begins at 2026-06-01T00:00:00.000Z");
  assert.deepEqual([says(der, NOW), says(der, NOW + DAY_MS)], [undefined, undefined]);
  assert.equal(says(der, NOW + DAY_MS + 1_000), "has a certificate that has ended at 2026-06-02T00:00:00.000Z");
  const old = await ROOT.below("Old", { to: NOW - 1_000 });
  assert.match(
    says(await old.certify(KEY.public), NOW, [old.der])!,
    /whose issuer's certificate has ended at 2026-05-31/,
  );
  const past = await maker("Past", { to: NOW - 1_000 });
  const authorities = tpmAuthorities(past.pem, "");
  assert.match(check(await past.certify(KEY.public), { authorities }).because!, /whose issuer's certificate has ended/);
});

test("a chain that goes round or on and on ends", async () => {
  let last = await maker("0");
  const chain = [last.der];
  for (let at = 1; at < 8; at++) {
    last = await last.below(String(at));
    chain.push(last.der);
  }
  assert.match(check(await last.certify(KEY.public), { chain }).because ?? "", /leads to no authority/);
  const own = await maker("Own");
  assert.match(
    check(await own.certify(KEY.public), { chain: [own.der, own.der] }).because ?? "",
    /leads to no authority/,
  );
});

test("whatever bytes are in a certificate's place, they count for nothing, and nothing is thrown", async () => {
  const good = await ROOT.certify(KEY.public);
  assert.equal(check(Buffer.alloc(0)).because, "has bytes that are no certificate where one should be");
  const changes = fc.array(fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 })), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(changes, fc.uint8Array({ maxLength: 200 }), (changed, other) => {
      const der = Buffer.from(good);
      for (const [at, by] of changed) der[at]! ^= by;
      if (!der.equals(good)) assert.notEqual(check(der).because, undefined);
      assert.notEqual(check(Buffer.from(other), { chain: [der] }).because, undefined);
    }),
    { numRuns: 500 },
  );
});

test("an unusual issuer's name is reported on one line, and cut", async () => {
  const long = await maker(`x\u0007y ${"z".repeat(600)}`);
  const { issuer } = recorded(await long.certify(KEY.public));
  assert.ok(issuer!.length <= 256 && !/\p{Cc}/u.test(issuer!), issuer);
});
