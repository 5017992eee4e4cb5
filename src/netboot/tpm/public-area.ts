/** Public areas of TPM 2.0 keys (Part 2, 12.2.4), as machines send them: untrusted, so every length is checked. */
import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { Fault } from "@slipway/base";
import { Reader } from "./reader.ts";
import { HASHES, type TpmHash } from "./tpm-hash.ts";

export interface PublicArea {
  /** Of the key's name, and of everything that is protected by the key. */
  nameHash: TpmHash;
  /** TPMA_OBJECT. */
  attributes: number;
  /** What the TPM calls the object: algorithm and digest of its public area. */
  name: Buffer;
  key: PublicKey;
  /** Of the symmetric cipher by which the key protects others; absent: it is no storage key. AES, CFB. */
  aesBits?: 128 | 192 | 256;
}

export type PublicKey =
  | { is: "rsa"; bits: number; public: KeyObject }
  | { is: "ecc"; curve: Curve; x: Buffer; y: Buffer };

export type Curve = keyof typeof CURVES;

/** By Node's names. `id`: TPM_ECC_CURVE; `bytes`: of a coordinate. */
export const CURVES = {
  prime256v1: { id: 0x0003, bytes: 32, jwk: "P-256" },
  secp384r1: { id: 0x0004, bytes: 48, jwk: "P-384" },
  secp521r1: { id: 0x0005, bytes: 66, jwk: "P-521" },
} as const;

const RSA = 0x0001;
const ECC = 0x0023;
const AES = 0x0006;
const CFB = 0x0043;
const NONE = 0x0010;
/** Schemes and key derivations that have a hash after their number; ECDAA has a count, too. */
const ECDAA = 0x001a;
const USUAL_EXPONENT = 65_537;
const MOST_BYTES = 2_048;

/** Object attributes that matter here (TPMA_OBJECT). */
export const ATTRIBUTES = {
  fixedTPM: 1 << 1,
  fixedParent: 1 << 4,
  sensitiveDataOrigin: 1 << 5,
  restricted: 1 << 16,
  decrypt: 1 << 17,
  sign: 1 << 18,
};

/** Reads a TPM2B_PUBLIC. Throws a `Fault` (`Invalid`) for what is none, and for algorithms that are not known here. */
export function readPublicArea(bytes: Uint8Array): PublicArea {
  if (bytes.length > MOST_BYTES) throw invalid(`it has ${bytes.length} bytes`);
  const outer = new Reader(bytes, "TPM public area");
  const area = outer.sized();
  outer.end();
  const reader = new Reader(area, "TPM public area");
  const type = reader.u16();
  const nameAlgorithm = reader.u16();
  const nameHash = HASHES[nameAlgorithm];
  if (nameHash === undefined) throw invalid(`its hash ${nameAlgorithm} is not known`);
  const attributes = reader.u32();
  reader.sized(); // authPolicy
  const aesBits = symmetric(reader);
  scheme(reader);
  const key = type === RSA ? rsa(reader) : type === ECC ? ecc(reader) : undefined;
  if (key === undefined) throw invalid(`its type ${type} is not known`);
  reader.end();
  const digest = createHash(nameHash).update(area).digest();
  const name = Buffer.concat([u16(nameAlgorithm), digest]);
  return { nameHash, attributes, name, key, ...(aesBits !== undefined && { aesBits }) };
}

function symmetric(reader: Reader): PublicArea["aesBits"] {
  const algorithm = reader.u16();
  if (algorithm === NONE) return undefined;
  const [bits, mode] = [reader.u16(), reader.u16()];
  if (algorithm !== AES || mode !== CFB || !(bits === 128 || bits === 192 || bits === 256))
    throw invalid(`its cipher ${algorithm} with ${bits} bits in mode ${mode} is not known`);
  return bits;
}

function scheme(reader: Reader): void {
  const algorithm = reader.u16();
  if (algorithm === NONE) return;
  reader.u16();
  if (algorithm === ECDAA) reader.u16();
}

function rsa(reader: Reader): PublicKey {
  const bits = reader.u16();
  const exponent = reader.u32() || USUAL_EXPONENT;
  const modulus = reader.sized();
  if (modulus.length * 8 !== bits || bits < 2048)
    throw invalid(`its RSA key has ${bits} bits, and ${modulus.length} bytes`);
  const e = Buffer.alloc(4);
  e.writeUInt32BE(exponent);
  const jwk = { kty: "RSA", n: Buffer.from(modulus).toString("base64url"), e: e.toString("base64url") };
  return { is: "rsa", bits, public: createPublicKey({ format: "jwk", key: jwk }) };
}

function ecc(reader: Reader): PublicKey {
  const id = reader.u16();
  const [curve, known] = Object.entries(CURVES).find(([, each]) => each.id === id) ?? [];
  if (curve === undefined || known === undefined) throw invalid(`its curve ${id} is not known`);
  scheme(reader);
  const [x, y] = [reader.sized(), reader.sized()].map((each) => padded(each, known.bytes)) as [Buffer, Buffer];
  const jwk = { kty: "EC", crv: known.jwk, x: x.toString("base64url"), y: y.toString("base64url") };
  try {
    // A point that is not on the curve would give away what is computed with it.
    createPublicKey({ format: "jwk", key: jwk });
  } catch (cause) {
    throw new Fault("Invalid", "TPM public area", "its point is not on its curve", { cause });
  }
  return { is: "ecc", curve: curve as Curve, x, y };
}

/** A coordinate with the zeroes that it may have been sent without. */
function padded(coordinate: Uint8Array, bytes: number): Buffer {
  if (coordinate.length > bytes) throw invalid(`a coordinate has ${coordinate.length} bytes`);
  return Buffer.concat([Buffer.alloc(bytes - coordinate.length), coordinate]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function invalid(what: string): Fault {
  return new Fault("Invalid", "TPM public area", what);
}
