/**
 * How a machine proves which TPM it has, in two rounds of commands that its agent carries out: first it shows its keys and its signed PCRs, then it opens a
 * credential that was made for them. Only then is anything of the first round believed: the TPM with the endorsement key has the key that signed.
 */
import { createHash } from "node:crypto";
import { Fault, type Random } from "@slipway/base";
import { activated, checkQuote, createdKey, isSame, pcrValues } from "./answers.ts";
import {
  activateCredential,
  type Command,
  createAttestationKey,
  createEndorsementKey,
  PCRS,
  policySecret,
  quote,
  readPcrs,
  startPolicy,
} from "./commands.ts";
import { makeCredential } from "./make-credential.ts";
import { ATTRIBUTES, type PublicArea } from "./public-area.ts";

/** A TPM that was proven to be there. */
export interface TpmIdentity {
  /** SHA-256 of the endorsement key's public area, in hexadecimal digits: what distinguishes one TPM from all others. */
  endorsementKey: string;
  /** By number, in hexadecimal digits: SHA-256 bank. */
  pcrs: Readonly<Record<string, string>>;
}

/** A round: what the agent is to carry out, and what its answers lead to. */
export interface Round<Next> {
  commands: readonly Command[];
  /** Throws a `Fault` (`Invalid`) for answers that prove nothing. */
  answered(answers: readonly Uint8Array[]): Next;
}

const SECRET_BYTES = 32;
const NONCE_BYTES = 32;

/** The first round, which leads to the second, which leads to the identity. */
export function identify(random: Random): Round<Round<TpmIdentity>> {
  const nonce = random.bytes(NONCE_BYTES);
  const reads = readPcrs();
  const commands = [
    createEndorsementKey(),
    createAttestationKey(),
    ...reads.map(({ command }) => command),
    quote("@2", nonce),
  ];
  return {
    commands,
    answered(answers) {
      demand(answers, commands);
      const [endorsement, attestation] = answers.slice(0, 2).map(createdKey) as [Created, Created];
      // Another key of the same TPM would sign whatever it is given.
      if (!isAttestationKey(attestation.area))
        throw new Fault(
          "Invalid",
          "TPM answer",
          "its attestation key is no restricted signing key that stays in its TPM",
        );
      const values = reads.flatMap(({ count }, at) => pcrValues(answers[2 + at]!, count));
      checkQuote(answers.at(-1)!, { key: attestation.area, nonce, values });
      const pcrs = Object.fromEntries(PCRS.map((pcr, at) => [pcr, values[at]!.toString("hex")]));
      const endorsementKey = createHash("sha256").update(endorsement.public).digest("hex");
      return prove(endorsement, attestation, { endorsementKey, pcrs }, random);
    },
  };
}

type Created = ReturnType<typeof createdKey>;

function prove(
  { area: endorsementKey }: Created,
  { area: { name } }: Created,
  identity: TpmIdentity,
  random: Random,
): Round<TpmIdentity> {
  const secret = random.bytes(SECRET_BYTES);
  const credential = makeCredential({ endorsementKey, name, secret }, random);
  const handles = { key: "@2", endorsementKey: "@1", session: "@3" };
  const commands = [
    createEndorsementKey(),
    createAttestationKey(),
    startPolicy(random.bytes(NONCE_BYTES)),
    policySecret(handles.session),
    activateCredential(handles, credential),
  ];
  return {
    commands,
    answered(answers) {
      demand(answers, commands);
      if (!isSame(activated(answers.at(-1)!), secret))
        throw new Fault("Invalid", "TPM answer", "it is not the secret that was encrypted to its endorsement key");
      return identity;
    },
  };
}

function isAttestationKey({ attributes }: PublicArea): boolean {
  const { fixedTPM, fixedParent, sensitiveDataOrigin, restricted, sign, decrypt } = ATTRIBUTES;
  const needed = fixedTPM | fixedParent | sensitiveDataOrigin | restricted | sign;
  return (attributes & needed) === needed && (attributes & decrypt) === 0;
}

function demand(answers: readonly Uint8Array[], commands: readonly Command[]): void {
  if (answers.length === commands.length) return;
  throw new Fault("Invalid", "TPM answer", `there are ${answers.length} of ${commands.length}`);
}
