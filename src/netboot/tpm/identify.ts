/**
 * How a machine proves which TPM it has, in two rounds of commands that its agent carries out: first it shows its keys and its signed PCRs, then it opens a
 * credential that was made for them. Only then is anything of the first round believed: the TPM with the endorsement key has the key that signed. What its maker
 * has stored of that key is read in a third, where there is something.
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
import type { MakerCertificate } from "./maker-certificate.ts";
import { ATTRIBUTES, type PublicArea, type PublicKey } from "./public-area.ts";
import { ASK_WHERE, type Reading, readingOf, type StoredCertificate } from "./stored-certificate.ts";

/** A TPM that was proven to be there. */
export interface TpmIdentity {
  /** SHA-256 of the endorsement key's public area, in hexadecimal digits: what distinguishes one TPM from all others. */
  endorsementKey: string;
  /** By number, in hexadecimal digits: SHA-256 bank. */
  pcrs: Readonly<Record<string, string>>;
  /** Of the endorsement key. Absent: an older Slipway has recorded the rest. */
  certificate?: MakerCertificate;
}

/** What an agent is to carry out next, or what came of it. */
export type Step = Round | Proven;

/** A round: what the agent is to carry out, and what its answers lead to. */
export interface Round {
  is: "asks";
  commands: readonly Command[];
  /** Throws a `Fault` (`Invalid`) for answers that prove nothing. */
  answered(answers: readonly Uint8Array[]): Step;
}

/** The end: the TPM is there. What it has stored is not checked yet. */
export interface Proven {
  is: "proven";
  identity: TpmIdentity;
  /** Its endorsement key. */
  key: PublicKey;
  stored: StoredCertificate;
}

const SECRET_BYTES = 32;
const NONCE_BYTES = 32;

/** The first round. */
export function identify(random: Random): Round {
  const nonce = random.bytes(NONCE_BYTES);
  const reads = readPcrs();
  const commands = [
    createEndorsementKey(),
    createAttestationKey(),
    ...reads.map(({ command }) => command),
    quote("@2", nonce),
  ];
  return {
    is: "asks",
    commands: [...commands, ...ASK_WHERE],
    answered(all) {
      const answers = all.slice(0, commands.length);
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
      const reading = readingOf(all.slice(commands.length));
      return prove(endorsement, attestation, { identity: { endorsementKey, pcrs }, reading }, random);
    },
  };
}

type Created = ReturnType<typeof createdKey>;

function prove(
  { area: endorsementKey }: Created,
  { area: { name } }: Created,
  { identity, reading }: { identity: TpmIdentity; reading: Reading | { because: string } },
  random: Random,
): Round {
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
    is: "asks",
    commands,
    answered(answers) {
      demand(answers, commands);
      if (!isSame(activated(answers.at(-1)!), secret))
        throw new Fault("Invalid", "TPM answer", "it is not the secret that was encrypted to its endorsement key");
      const proven = { is: "proven", identity, key: endorsementKey.key } as const;
      if ("because" in reading) return { ...proven, stored: reading };
      return {
        is: "asks",
        commands: reading.commands,
        answered: (pieces) => ({ ...proven, stored: reading.read(pieces) }),
      };
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
