import { createHash, hash } from "node:crypto";

/**
 * A password as `/etc/shadow` keeps it, so that its clear text never leaves the process: `$6$<salt>$<hash>`, sha512-crypt with
 * its default of 5000 rounds (U. Drepper, "Unix crypt using SHA-256 and SHA-512"). `salt` is any text: sixteen salt characters
 * are made of it, always the same ones, so that a hash made again from the same two texts is the same.
 */
export function hashPassword(password: string, salt: string): string {
  return sha512Crypt(password, saltOf(salt));
}

/**
 * The same for a password of at least a hundred random bits, with the fewest rounds that the algorithm allows: rounds make guesses
 * dear, and nobody guesses this one, while each machine's 5000 would cost its operator 7 ms.
 */
export function hashRandomPassword(password: string, salt: string): string {
  return sha512Crypt(password, saltOf(salt), LEAST_ROUNDS);
}

const ALPHABET = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SALT_CHARACTERS = 16;
const ROUNDS = 5000;
const LEAST_ROUNDS = 1000;
const DIGEST_BYTES = 64;

function saltOf(text: string): string {
  const digest = createHash("sha256").update(text).digest().subarray(0, SALT_CHARACTERS);
  return Array.from(digest, (byte) => ALPHABET[byte & 0x3f]).join("");
}

/** The algorithm as it stands, with the salt as given; only its first sixteen characters count. The number of rounds is part of the result unless it is the default. */
export function sha512Crypt(password: string, salt: string, rounds = ROUNDS): string {
  const key = Buffer.from(password);
  const shortSalt = Buffer.from(salt).subarray(0, SALT_CHARACTERS);
  const first = firstDigest(key, shortSalt);
  const keyBytes = stretched(sha512(repeated(key, key.length)), key.length);
  const saltBytes = stretched(sha512(repeated(shortSalt, 16 + first[0]!)), shortSalt.length);

  // All rounds write their text into one place, and take digests as Latin-1: a Buffer for each would cost as much as its hash.
  const text = Buffer.alloc(DIGEST_BYTES + saltBytes.length + 2 * keyBytes.length);
  let digest = first.toString("latin1");
  for (let round = 0; round < rounds; round++) {
    const odd = round % 2 === 1;
    let length = odd ? keyBytes.copy(text) : text.write(digest, "latin1");
    if (round % 3 !== 0) length += saltBytes.copy(text, length);
    if (round % 7 !== 0) length += keyBytes.copy(text, length);
    length += odd ? text.write(digest, length, "latin1") : keyBytes.copy(text, length);
    digest = hash("sha512", text.subarray(0, length), "binary");
  }
  return `$6$${rounds === ROUNDS ? "" : `rounds=${rounds}$`}${shortSalt}$${written(Buffer.from(digest, "latin1"))}`;
}

function firstDigest(key: Buffer, salt: Buffer): Buffer {
  const inner = sha512(Buffer.concat([key, salt, key]));
  const parts = [key, salt, stretched(inner, key.length)];
  // One block per bit of the key's length, lowest bit first.
  for (let bits = key.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? inner : key);
  return sha512(Buffer.concat(parts));
}

function sha512(bytes: Buffer): Buffer {
  return hash("sha512", bytes, "buffer");
}

/** `bytes`, `times` times over. */
function repeated(bytes: Buffer, times: number): Buffer {
  return Buffer.alloc(bytes.length * times, bytes.length === 0 ? 0 : bytes);
}

/** A digest repeated to `length` bytes. */
function stretched(digest: Buffer, length: number): Buffer {
  return Buffer.alloc(length, digest);
}

/**
 * The digest in crypt's base 64: little-endian groups of three bytes, taken 21 apart in an order that rotates from group to group.
 */
function written(digest: Buffer): string {
  let out = "";
  let [a, b, c] = [0, 21, 42];
  for (let group = 0; group < 21; group++) {
    out += characters((digest[a]! << 16) | (digest[b]! << 8) | digest[c]!, 4);
    [a, b, c] = [b + 1, c + 1, a + 1];
  }
  return out + characters(digest[DIGEST_BYTES - 1]!, 2);
}

function characters(value: number, count: number): string {
  return Array.from({ length: count }, (_, i) => ALPHABET[(value >> (6 * i)) & 0x3f]).join("");
}
