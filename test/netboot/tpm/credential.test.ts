/** Credentials that Slipway makes, opened by a TPM that we did not write. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { cryptoRandom as random } from "@slipway/base";
import { type Credential, makeCredential } from "../../../src/netboot/tpm/make-credential.ts";
import { readPublicArea } from "../../../src/netboot/tpm/public-area.ts";
import { noTpm, TpmEmulator } from "./emulator.ts";

const skip = noTpm();

/** A TPM with an endorsement key of this kind and an attestation key under it. */
async function machine(t: TestContext, kind: string): Promise<TpmEmulator> {
  const tpm = await TpmEmulator.start();
  t.after(() => tpm.close());
  await tpm.run("tpm2_createek", "-G", kind, "-c", "ek.ctx", "-u", "ek.pub", "-f", "tss");
  const key = ["-G", "ecc", "-g", "sha256", "-s", "ecdsa"];
  await tpm.run("tpm2_createak", "-C", "ek.ctx", "-c", "ak.ctx", ...key, "-u", "ak.pub", "-f", "tss", "-n", "ak.name");
  return tpm;
}

/** Has the TPM open it, as tpm2-tools keeps credentials in files. Rejects when the TPM refuses. */
async function activated(tpm: TpmEmulator, { idObject, encryptedSeed }: Credential): Promise<Buffer> {
  const magicAndVersion = Buffer.from("badcc0de00000001", "hex");
  tpm.write("credential", Buffer.concat([magicAndVersion, idObject, encryptedSeed]));
  await tpm.run("tpm2_startauthsession", "--policy-session", "-S", "session.ctx");
  await tpm.run("tpm2_policysecret", "-S", "session.ctx", "-c", "e");
  const keys = ["-c", "ak.ctx", "-C", "ek.ctx", "-P", "session:session.ctx"];
  try {
    await tpm.run("tpm2_activatecredential", ...keys, "-i", "credential", "-o", "opened");
  } finally {
    await tpm.run("tpm2_flushcontext", "session.ctx");
  }
  return tpm.read("opened");
}

const credentialFor = (tpm: TpmEmulator, name: Uint8Array, secret: Uint8Array): Credential =>
  makeCredential({ endorsementKey: readPublicArea(tpm.read("ek.pub")), name, secret }, random);

for (const kind of ["rsa", "ecc"])
  test(`a TPM with an endorsement key of ${kind} opens what was made for it and its own key, and nothing else does`, {
    skip,
  }, async (t) => {
    const tpm = await machine(t, kind);
    const { name } = readPublicArea(tpm.read("ak.pub"));
    assert.deepEqual(name, tpm.read("ak.name"));
    for (const secret of [randomBytes(32), Buffer.from("short")])
      assert.deepEqual(await activated(tpm, credentialFor(tpm, name, secret)), secret);
    const other = await machine(t, kind);
    const secret = randomBytes(32);
    // Another TPM; the right one for a key of another; what was changed on the way.
    await assert.rejects(activated(other, credentialFor(tpm, name, secret)));
    await assert.rejects(activated(tpm, credentialFor(tpm, other.read("ak.name"), secret)));
    const { idObject, encryptedSeed } = credentialFor(tpm, name, secret);
    idObject[idObject.length - 1]! ^= 1;
    await assert.rejects(activated(tpm, { idObject, encryptedSeed }));
  });

test("a key that signs gets no credential, though it lives in the TPM", { skip }, async (t) => {
  const tpm = await machine(t, "rsa");
  const { name } = readPublicArea(tpm.read("ak.pub"));
  const endorsementKey = readPublicArea(tpm.read("ak.pub"));
  assert.throws(
    () => makeCredential({ endorsementKey, name, secret: randomBytes(32) }, random),
    /no restricted decryption key/,
  );
});
