import { createHash, createHmac } from "node:crypto";

/** Hash algorithms of TPM 2.0 (Part 2, TPM_ALG_ID) that keys have here, by their number. */
export const HASHES: Readonly<Record<number, TpmHash>> = { 11: "sha256", 12: "sha384", 13: "sha512" };

export type TpmHash = "sha256" | "sha384" | "sha512";

/** Bytes of a digest. */
export const DIGEST_BYTES: Readonly<Record<TpmHash, number>> = { sha256: 32, sha384: 48, sha512: 64 };

export interface KdfaInput {
  hash: TpmHash;
  key: Uint8Array;
  label: string;
  contextU?: Uint8Array;
  contextV?: Uint8Array;
  bits: number;
}

/** KDFa (TPM 2.0 Part 1, 11.4.10.2): the counter mode of SP 800-108 with HMAC. `bits` is a multiple of 8. */
export function kdfa({ hash, key, label, contextU = NOTHING, contextV = NOTHING, bits }: KdfaInput): Buffer {
  const fixed = Buffer.concat([zeroEnded(label), contextU, contextV, u32(bits)]);
  return repeated(hash, bits, (counter) => createHmac(hash, key).update(counter).update(fixed).digest());
}

export interface KdfeInput {
  hash: TpmHash;
  /** x of the shared point. */
  z: Uint8Array;
  label: string;
  /** x of the ephemeral key. */
  partyU: Uint8Array;
  /** x of the TPM's key. */
  partyV: Uint8Array;
  bits: number;
}

/** KDFe (TPM 2.0 Part 1, 11.4.10.3): the concatenation of SP 800-56A. `bits` is a multiple of 8. */
export function kdfe({ hash, z, label, partyU, partyV, bits }: KdfeInput): Buffer {
  const rest = Buffer.concat([z, zeroEnded(label), partyU, partyV]);
  return repeated(hash, bits, (counter) => createHash(hash).update(counter).update(rest).digest());
}

const NOTHING = new Uint8Array();

function repeated(hash: TpmHash, bits: number, digest: (counter: Buffer) => Buffer): Buffer {
  const rounds = Math.ceil(bits / 8 / DIGEST_BYTES[hash]);
  const parts = Array.from({ length: rounds }, (_, at) => digest(u32(at + 1)));
  return Buffer.concat(parts).subarray(0, bits / 8);
}

function zeroEnded(label: string): Buffer {
  return Buffer.from(`${label}\0`);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
