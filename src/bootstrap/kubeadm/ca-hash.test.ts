import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { systemClock } from "@slipway/base";
import { createAuthority } from "../../pki/authority.ts";
import { caHashes } from "./ca-hash.ts";

test("each certificate of a text has the hash of its public key, as `kubeadm token create` prints it", async () => {
  const pems = await Promise.all(
    ["a", "b"].map(async (commonName) => (await createAuthority({ commonName, clock: systemClock })).certificatePem),
  );
  const spki = (pem: string) => new X509Certificate(pem).publicKey.export({ type: "spki", format: "der" });
  const expected = pems.map((pem) => `sha256:${createHash("sha256").update(spki(pem)).digest("hex")}`);
  assert.deepEqual(caHashes(`# the old one\n${pems.join("\n")}`), expected);
  assert.notEqual(expected[0], expected[1]);
});

test("a text without a certificate is refused, with what to do", () => {
  for (const text of ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"])
    assert.throws(() => caHashes(text), { code: "Invalid", remedy: /tls\.crt/ });
});
