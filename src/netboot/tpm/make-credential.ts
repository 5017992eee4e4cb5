/**
 * Identity of a machine by its TPM 2.0 (Part 1, 24): a secret is encrypted to the machine's endorsement key so that only its TPM opens it, and
 * only for a named key that lives in the same TPM. `make-credential.ts` is the server's half, TPM2_ActivateCredential the agent's. Everything here is
 * pure but for randomness; it must not know of hosts.
 */
import { constants, createCipheriv, createECDH, createHmac, publicEncrypt } from "node:crypto";
import { Fault, type Random } from "@slipway/base";
import { ATTRIBUTES, CURVES, type PublicArea, type PublicKey } from "./public-area.ts";
import { DIGEST_BYTES, kdfa, kdfe, type TpmHash } from "./tpm-hash.ts";

/** What TPM2_ActivateCredential takes. */
export interface Credential {
  /** TPM2B_ID_OBJECT: the secret, encrypted and bound to the name. */
  idObject: Buffer;
  /** TPM2B_ENCRYPTED_SECRET: the seed of it, encrypted to the endorsement key. */
  encryptedSeed: Buffer;
}

const IDENTITY = "IDENTITY";

/**
 * Encrypts a secret for the TPM that has the endorsement key, to be opened only where an object with this name is. Throws a `Fault` (`Invalid`) for a
 * key that is no endorsement key, and for a secret that is longer than its hash.
 */
export function makeCredential(
  { endorsementKey, name, secret }: { endorsementKey: PublicArea; name: Uint8Array; secret: Uint8Array },
  random: Random,
): Credential {
  const { nameHash: hash, key, aesBits } = checkedKey(endorsementKey);
  const digestBytes = DIGEST_BYTES[hash];
  if (secret.length > digestBytes)
    throw new Fault("Invalid", "TPM credential", `a secret of ${secret.length} bytes is too long`);
  const { seed, encrypted } = key.is === "rsa" ? seedByRsa(key, hash, random) : seedByEcdh(key, hash);
  const symmetricKey = kdfa({ hash, key: seed, label: "STORAGE", contextU: name, bits: aesBits });
  const cipher = createCipheriv(`aes-${aesBits}-cfb`, symmetricKey, Buffer.alloc(16));
  const identity = Buffer.concat([cipher.update(sized(secret)), cipher.final()]);
  const integrityKey = kdfa({ hash, key: seed, label: "INTEGRITY", bits: digestBytes * 8 });
  const integrity = createHmac(hash, integrityKey).update(identity).update(name).digest();
  return { idObject: sized(Buffer.concat([sized(integrity), identity])), encryptedSeed: sized(encrypted) };
}

/** A key that signs, or that could leave its TPM, proves nothing. */
function checkedKey({ attributes, aesBits, ...others }: PublicArea) {
  const { fixedTPM, fixedParent, restricted, decrypt, sign } = ATTRIBUTES;
  const needed = fixedTPM | fixedParent | restricted | decrypt;
  if (aesBits === undefined || (attributes & needed) !== needed || (attributes & sign) !== 0)
    throw new Fault("Invalid", "TPM endorsement key", "it is no restricted decryption key that stays in its TPM");
  return { ...others, aesBits };
}

function seedByRsa(key: Extract<PublicKey, { is: "rsa" }>, hash: TpmHash, random: Random) {
  const seed = Buffer.from(random.bytes(DIGEST_BYTES[hash]));
  const padding = constants.RSA_PKCS1_OAEP_PADDING;
  const encrypted = publicEncrypt(
    { key: key.public, padding, oaepHash: hash, oaepLabel: Buffer.from(`${IDENTITY}\0`) },
    seed,
  );
  return { seed, encrypted };
}

/** The ephemeral key is Node's: a private key is not to be repeated, not even by a seed. */
function seedByEcdh({ curve, x, y }: Extract<PublicKey, { is: "ecc" }>, hash: TpmHash) {
  const { bytes } = CURVES[curve];
  const ephemeral = createECDH(curve);
  const point = ephemeral.generateKeys();
  const [ownX, ownY] = [point.subarray(1, 1 + bytes), point.subarray(1 + bytes)];
  const z = ephemeral.computeSecret(Buffer.concat([Buffer.of(4), x, y]));
  const seed = kdfe({ hash, z, label: IDENTITY, partyU: ownX, partyV: x, bits: DIGEST_BYTES[hash] * 8 });
  return { seed, encrypted: Buffer.concat([sized(ownX), sized(ownY)]) };
}

function sized(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
