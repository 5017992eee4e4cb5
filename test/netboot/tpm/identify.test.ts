/** The rounds by which a machine proves its TPM, carried out by a TPM that we did not write as the agent carries them out. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { isFault, cryptoRandom as random } from "@slipway/base";
import { PCRS } from "../../../src/netboot/tpm/commands.ts";
import { identify, type Step } from "../../../src/netboot/tpm/identify.ts";
import { noTpm, TpmEmulator } from "./emulator.ts";

const skip = noTpm();

async function start(t: TestContext): Promise<TpmEmulator> {
  const tpm = await TpmEmulator.start();
  t.after(() => tpm.close());
  return tpm;
}

test("a machine proves its TPM in two rounds; its PCRs are those that were measured", { skip }, async (t) => {
  const tpm = await start(t);
  const once = async () => {
    let step: Step = identify(random);
    while (step.is === "asks") step = step.answered(await tpm.carryOut(step.commands));
    return step.identity;
  };
  const identity = await once();
  assert.deepEqual(Object.keys(identity.pcrs), PCRS.map(String));
  await tpm.run("tpm2_createek", "-G", "rsa", "-c", "ek.ctx", "-u", "ek.pub", "-f", "tss");
  assert.equal(identity.endorsementKey, createHash("sha256").update(tpm.read("ek.pub")).digest("hex"));
  await tpm.run("tpm2_pcrextend", `7:sha256=${"ab".repeat(32)}`);
  const later = await once();
  assert.equal(later.endorsementKey, identity.endorsementKey);
  const extended = createHash("sha256")
    .update(Buffer.from(identity.pcrs[7]! + "ab".repeat(32), "hex"))
    .digest("hex");
  assert.deepEqual(later.pcrs, { ...identity.pcrs, 7: extended });
});

test("another machine's TPM proves nothing, whatever it says of the first one's", { skip }, async (t) => {
  const [own, other] = [await start(t), await start(t)];
  const proving = identify(random);
  const shown = await own.carryOut(proving.commands);
  // It shows the keys of the first, and can't open what is made for them.
  const proof = proving.answered(shown);
  assert.ok(proof.is === "asks");
  const answers = await other.carryOut(proof.commands);
  assert.throws(
    () => proof.answered(answers),
    (error) => isFault(error, "Invalid") && /the TPM refused/.test(error.message),
  );
  // The first one's endorsement key with the other's signature.
  const mixed = await other.carryOut(proving.commands);
  assert.throws(
    () => proving.answered([shown[0]!, shown[1]!, ...mixed.slice(2)]),
    /signature is not the attestation key's/,
  );
  const false7 = Buffer.from(shown[2]!);
  false7[false7.length - 1]! ^= 1;
  assert.throws(() => proving.answered(shown.with(2, false7)), /not those that were read/);
  // A key of the same TPM that signs whatever it is given: bit 16 of its attributes, after tag, size, code, handle, two sizes, type and hash.
  const unrestricted = Buffer.from(shown[1]!);
  unrestricted[25]! ^= 1;
  assert.throws(() => proving.answered(shown.with(1, unrestricted)), /no restricted signing key/);
  // An answer to an earlier question.
  assert.throws(() => identify(random).answered(shown), /another question/);
  assert.throws(() => proving.answered(shown.slice(0, 4)), /there are 4 of 5/);
});
