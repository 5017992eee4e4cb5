import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createAuthority } from "../../../../pki/authority.ts";
import { dexKeys } from "./dex-certificate.ts";

const DAY_MS = 86_400_000;
const HOST = "192.0.2.10";

test("SIP-14 a provider's certificate is kept, renewed 30 days before its end, and made anew for another host, its authority stays", async () => {
  const clock = new VirtualClock();
  const first = await dexKeys({}, { host: HOST, clock });
  assert.ok(new X509Certificate(first["tls.crt"]!).verify(new X509Certificate(first["ca.crt"]!).publicKey));
  assert.deepEqual(await dexKeys(first, { host: HOST, clock }), first);
  await clock.run(330 * DAY_MS);
  assert.deepEqual(await dexKeys(first, { host: HOST, clock }), first);
  const other = await dexKeys(first, { host: "dex.example", clock });
  assert.notEqual(other["tls.crt"], first["tls.crt"]);
  assert.equal(other["ca.crt"], first["ca.crt"]);
  await clock.run(10 * DAY_MS);
  const renewed = await dexKeys(first, { host: HOST, clock });
  assert.notEqual(renewed["tls.crt"], first["tls.crt"]);
  assert.equal(renewed["ca.crt"], first["ca.crt"]);
});

test("SIP-14 the user's authority signs, and its key is nowhere else", async () => {
  const clock = new VirtualClock();
  const given = await createAuthority({ commonName: "ours", clock });
  const keys = await dexKeys({}, { host: HOST, clock, given });
  assert.ok(new X509Certificate(keys["tls.crt"]!).verify(new X509Certificate(given.certificatePem).publicKey));
  assert.equal(keys["ca.key"], undefined);
});
