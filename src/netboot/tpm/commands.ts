/**
 * Commands to a TPM 2.0 as bytes (Part 3), each with passwords that are empty: what an agent with nothing but the device file is to write to it.
 * `@N` in hexadecimal text stands for the handle in the answer to the N-th command before it (from 1), which is known on the machine alone.
 */
import type { Credential } from "./make-credential.ts";

/** Hexadecimal text, with `@N` in the place of handles. */
export type Command = string;

/** Tags of commands. */
export const SESSIONS = "8002";
export const NO_SESSIONS = "8001";
const ENDORSEMENT = "4000000b";
const NULL_HANDLE = "40000007";
/** An empty password (TPM_RS_PW). */
export const PASSWORD = "40000009" + "0000" + "01" + "0000";
const SHA256 = "000b";
const NULL_ALGORITHM = "0010";
/** A handle is eight digits; so is what stands for it in lengths. */
const HANDLE_BYTES = 4;

/** PCRs of the boot chain: firmware and its settings (0–7), boot loader and what it starts (8, 9), MOK (14). */
export const PCRS: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14];
/** An answer has room for eight digests. */
const PCRS_AT_ONCE = 8;

/** The endorsement key by the TCG's default template for RSA 2048 (EK Credential Profile 2.4, B.3.3, L-1): the same at every call. */
export function createEndorsementKey(): Command {
  const policy = "837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa";
  const area = [
    "0001",
    SHA256,
    "000300b2",
    sized(policy),
    "000600800043",
    NULL_ALGORITHM,
    "0800",
    "00000000",
    sized("00".repeat(256)),
  ];
  return createPrimary(area.join(""));
}

/** A key that signs what the TPM itself says, and nothing else (ECDSA, P-256). The same at every call. */
export function createAttestationKey(): Command {
  const area = [
    "0023",
    SHA256,
    "00050472",
    sized(""),
    NULL_ALGORITHM,
    `0018${SHA256}`,
    "0003",
    NULL_ALGORITHM,
    sized(""),
    sized(""),
  ];
  return createPrimary(area.join(""));
}

/** Reads all of `PCRS`, in their order, a few at a time. `count`: how many a command reads. */
export function readPcrs(): { command: Command; count: number }[] {
  const groups = Array.from({ length: Math.ceil(PCRS.length / PCRS_AT_ONCE) }, (_, at) =>
    PCRS.slice(at * PCRS_AT_ONCE, (at + 1) * PCRS_AT_ONCE),
  );
  return groups.map((group) => ({
    command: command(NO_SESSIONS, "0000017e", selection(group)),
    count: group.length,
  }));
}

/** Has the key with this handle sign `PCRS` together with the nonce. */
export function quote(handle: string, nonce: Uint8Array): Command {
  return command(
    SESSIONS,
    "00000158",
    handle + authorized(PASSWORD) + sized(hex(nonce)) + NULL_ALGORITHM + selection(PCRS),
  );
}

/** A policy session. `nonce`: 16 bytes or more. */
export function startPolicy(nonce: Uint8Array): Command {
  const [tpmKey, bind, salt, policy] = [NULL_HANDLE, NULL_HANDLE, sized(""), "01"];
  return command(NO_SESSIONS, "00000176", tpmKey + bind + sized(hex(nonce)) + salt + policy + NULL_ALGORITHM + SHA256);
}

/** Authorizes the session as endorsement keys demand. */
export function policySecret(session: string): Command {
  const [nonce, parameters, reference, expiration] = [sized(""), sized(""), sized(""), "00000000"];
  return command(
    SESSIONS,
    "00000151",
    ENDORSEMENT + session + authorized(PASSWORD) + nonce + parameters + reference + expiration,
  );
}

/** Opens a credential that was made for the key and the endorsement key; the answer has the secret. */
export function activateCredential(
  { key, endorsementKey, session }: { key: string; endorsementKey: string; session: string },
  { idObject, encryptedSeed }: Credential,
): Command {
  const authorizations = authorized(`${PASSWORD}${session}0000000000`);
  return command(SESSIONS, "00000147", key + endorsementKey + authorizations + hex(idObject) + hex(encryptedSeed));
}

function createPrimary(area: string): Command {
  const [sensitive, outsideInfo, pcrs] = [sized(sized("") + sized("")), sized(""), "00000000"];
  return command(
    SESSIONS,
    "00000131",
    ENDORSEMENT + authorized(PASSWORD) + sensitive + sized(area) + outsideInfo + pcrs,
  );
}

/** A whole command: what follows its code is `rest`. */
export function command(tag: string, code: string, rest: string): Command {
  return tag + number(lengthOf(tag + code + rest) + 4, 4) + code + rest;
}

/** TPML_PCR_SELECTION of one bank, SHA-256. */
function selection(pcrs: readonly number[]): string {
  const bitmap = [0, 8, 16].map((from) =>
    pcrs.reduce((sum, pcr) => sum | (pcr >= from && pcr < from + 8 ? 1 << (pcr - from) : 0), 0),
  );
  return `00000001${SHA256}03${hex(Uint8Array.from(bitmap))}`;
}

/** An area of authorizations, with its length. */
export function authorized(authorizations: string): string {
  return number(lengthOf(authorizations), 4) + authorizations;
}

function sized(content: string): string {
  return number(lengthOf(content), 2) + content;
}

/** In bytes; what stands for a handle counts as one. */
function lengthOf(text: string): number {
  return text.replace(/@\d/g, "0".repeat(2 * HANDLE_BYTES)).length / 2;
}

/** Big-endian, as hexadecimal digits. */
export function number(value: number, bytes: number): string {
  return value.toString(16).padStart(2 * bytes, "0");
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
