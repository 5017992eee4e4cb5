import { randomBytes } from "node:crypto";

/** Randomness as an argument: cryptographic in production, seeded in simulation. */
export interface Random {
  /** `n` random bytes. */
  bytes(n: number): Uint8Array;
  /** A whole number from 0 up to, not including, `below`. */
  int(below: number): number;
  /** A number from 0 up to, not including, 1. */
  fraction(): number;
}

/** How much is asked of the operating system's generator at once: one call costs more than the bytes of hundreds. */
const DRAWN_BYTES = 4096;
let drawn = Buffer.alloc(0);
let used = 0;

/** Bytes that nobody got before; what is handed out is wiped from what was drawn. */
function fromSystem(n: number): Uint8Array {
  if (n > DRAWN_BYTES / 16) return randomBytes(n);
  if (used + n > drawn.length) [drawn, used] = [randomBytes(DRAWN_BYTES), 0];
  const bytes = Uint8Array.prototype.slice.call(drawn, used, used + n);
  drawn.fill(0, used, used + n);
  used += n;
  return bytes;
}

/** From the operating system's generator. The only source for passwords, tokens and capability URLs. */
export const cryptoRandom: Random = random(fromSystem);

/** The same sequence for the same seed (splitmix32). For simulation and tests; never for a secret of a real machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  return random((n) => Uint8Array.from({ length: n }, () => next() >>> 24));
}

/** `length` characters drawn evenly from `alphabet` (at most 256 characters). */
export function text(source: Random, length: number, alphabet: string): string {
  return Array.from({ length }, () => alphabet[source.int(alphabet.length)]).join("");
}

export const LOWER_CASE = "abcdefghijklmnopqrstuvwxyz";
export const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A version 4 UUID (RFC 9562 §5.4). */
export function uuid(source: Random): string {
  const b = source.bytes(16);
  b[6] = (b[6]! & 0x0f) | 0x40;
  b[8] = (b[8]! & 0x3f) | 0x80;
  const characters = Buffer.allocUnsafe(36);
  let at = 0;
  for (const [i, byte] of b.entries()) {
    if (i === 4 || i === 6 || i === 8 || i === 10) characters[at++] = DASH;
    characters[at++] = HEX[byte >> 4]!;
    characters[at++] = HEX[byte & 15]!;
  }
  // Text put together of its parts would keep them all: five times the memory, for as long as its object lives.
  return characters.toString("latin1");
}

const HEX = Buffer.from("0123456789abcdef");
const DASH = 0x2d;

function random(bytes: (n: number) => Uint8Array): Random {
  const uint32 = (): number => {
    const b = bytes(4);
    return ((b[0]! << 24) | (b[1]! << 16) | (b[2]! << 8) | b[3]!) >>> 0;
  };
  return {
    bytes,
    fraction: () => uint32() / 2 ** 32,
    int(below) {
      // Rejection keeps every value equally likely.
      const limit = 2 ** 32 - (2 ** 32 % below);
      for (;;) {
        const value = uint32();
        if (value < limit) return value % below;
      }
    },
  };
}
