/** What a TPM answers to `commands.ts`. It comes from an untrusted machine: all is bounded, and what is wrong is a `Fault` (`Invalid`). */
import { createHash, createPublicKey, timingSafeEqual, verify } from "node:crypto";
import { Fault } from "@slipway/base";
import { CURVES, type PublicArea, readPublicArea } from "./public-area.ts";
import { Reader } from "./reader.ts";

const WHAT = "TPM answer";
const SESSIONS = 0x8002;
/** TPM_GENERATED_VALUE and TPM_ST_ATTEST_QUOTE: what only a restricted key signs. */
const GENERATED = 0xff544347;
const QUOTE = 0x8018;
const ECDSA = 0x0018;
const SHA256 = 0x000b;

/** The public area in the answer to TPM2_CreatePrimary. */
export function createdKey(answer: Uint8Array): { area: PublicArea; public: Buffer } {
  const reader = bodyOf(answer);
  reader.u32(); // handle
  reader.u32(); // size of the parameters
  const area = reader.sized();
  const whole = Buffer.concat([u16(area.length), area]);
  return { area: readPublicArea(whole), public: whole };
}

/** The values in the answer to TPM2_PCR_Read, as many as were asked for. */
export function pcrValues(answer: Uint8Array, count: number): Buffer[] {
  const reader = bodyOf(answer);
  reader.u32(); // update counter
  skipSelection(reader);
  const digests = reader.u32();
  // A TPM may have no SHA-256 bank, or not all of it.
  if (digests !== count) throw invalid(`it has ${digests} PCRs of ${count}`);
  return Array.from({ length: count }, () => Buffer.from(reader.sized()));
}

/** Checks that the key has signed these PCR values together with the nonce. Throws a `Fault` that says what differs. */
export function checkQuote(
  answer: Uint8Array,
  { key, nonce, values }: { key: PublicArea; nonce: Uint8Array; values: readonly Buffer[] },
): void {
  const reader = bodyOf(answer);
  reader.u32(); // size of the parameters
  const attest = reader.sized();
  const [scheme, hash] = [reader.u16(), reader.u16()];
  if (scheme !== ECDSA || hash !== SHA256) throw invalid(`it is signed by ${scheme} with ${hash}`);
  const [r, s] = [reader.sized(), reader.sized()];
  if (!isSignedBy(key, attest, r, s)) throw invalid("its signature is not the attestation key's");
  const said = new Reader(attest, WHAT);
  if (said.u32() !== GENERATED || said.u16() !== QUOTE) throw invalid("it is no quote");
  said.sized(); // the signer's name
  if (!isSame(said.sized(), nonce)) throw invalid("it is an answer to another question");
  said.bytes(8 + 4 + 4 + 1); // clock
  said.bytes(8); // firmware
  skipSelection(said);
  const digest = createHash("sha256").update(Buffer.concat(values)).digest();
  if (!isSame(said.sized(), digest)) throw invalid("the PCRs that it signs are not those that were read");
}

/** The secret in the answer to TPM2_ActivateCredential. */
export function activated(answer: Uint8Array): Uint8Array {
  const reader = bodyOf(answer);
  reader.u32(); // size of the parameters
  return reader.sized();
}

/** Whether two byte strings are the same, in a time that goes by their length alone. */
export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function isSignedBy({ key }: PublicArea, attest: Uint8Array, r: Uint8Array, s: Uint8Array): boolean {
  if (key.is !== "ecc") return false;
  const { bytes, jwk: crv } = CURVES[key.curve];
  if (r.length > bytes || s.length > bytes) return false;
  const [x, y] = [key.x.toString("base64url"), key.y.toString("base64url")];
  const publicKey = createPublicKey({ format: "jwk", key: { kty: "EC", crv, x, y } });
  const padded = (part: Uint8Array): Buffer => Buffer.concat([Buffer.alloc(bytes - part.length), part]);
  return verify("sha256", attest, { key: publicKey, dsaEncoding: "ieee-p1363" }, Buffer.concat([padded(r), padded(s)]));
}

function skipSelection(reader: Reader): void {
  const banks = reader.u32();
  if (banks > 16) throw invalid(`it has ${banks} banks`);
  for (let bank = 0; bank < banks; bank++) {
    reader.u16();
    reader.bytes(reader.bytes(1)[0]!);
  }
}

/** What follows the header. Throws a `Fault` for an answer that says no. */
export function bodyOf(answer: Uint8Array): Reader {
  const reader = new Reader(answer, WHAT);
  const tag = reader.u16();
  const size = reader.u32();
  const code = reader.u32();
  if (code !== 0) throw invalid(`the TPM refused, with code 0x${code.toString(16)}`);
  if (size !== answer.length || (tag !== SESSIONS && tag !== 0x8001)) throw invalid("it is none");
  return reader;
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function invalid(what: string): Fault {
  return new Fault("Invalid", WHAT, what);
}
