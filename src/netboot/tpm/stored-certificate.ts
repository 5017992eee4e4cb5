/**
 * The certificate of a TPM's endorsement key, as its maker stored it in the TPM (TCG EK Credential Profile 2.4, §2.2.1): DER, which may be padded at its end, and
 * perhaps the certificates of those who issued it. What is read here proves nothing: `maker-certificate.ts` checks it.
 */
import { Fault, isFault } from "@slipway/base";
import type { Command } from "./commands.ts";
import { areaOf, askArea, askContent, contentOf, type NvArea } from "./nv.ts";

/** As read; `because`: why there is none, in words that follow "its TPM". */
export type StoredCertificate = { der: Buffer; chain: readonly Buffer[] } | { because: string };

/** Where it is for the RSA key of 2048 bits that `createEndorsementKey` makes. */
const CERTIFICATE = 0x01c0_0002;
/** Where the issuers' certificates begin: one after the other, also over the end of an area. */
const CHAIN = 0x01c0_0100;
const MOST_CHAIN_AREAS = 8;
const MOST_BYTES = 4_096;
const MOST_CHAIN_BYTES = 8_192;
const MOST_IN_CHAIN = 8;

const INDEXES = [CERTIFICATE, ...Array.from({ length: MOST_CHAIN_AREAS }, (_, at) => CHAIN + at)];

/** What to ask first: where something is. */
export const ASK_WHERE: readonly Command[] = INDEXES.map(askArea);

/** What to read, by the answers to `ASK_WHERE`. `because`: there is nothing to read. */
export type Reading = { commands: readonly Command[]; read(answers: readonly Uint8Array[]): StoredCertificate };

/** Plans the reading. Never throws: an answer that makes no sense costs the certificate alone. */
export function readingOf(answers: readonly Uint8Array[]): Reading | { because: string } {
  try {
    const [certificate, ...chain] = INDEXES.map((index, at) => areaAt(index, answers[at]));
    if (certificate === undefined) return { because: "has no certificate of its maker" };
    if (certificate.bytes > MOST_BYTES)
      return { because: `has a certificate of ${certificate.bytes} bytes: at most ${MOST_BYTES} are read` };
    const areas = [certificate, ...withinBounds(chain)];
    return { commands: areas.flatMap(askContent), read: (read) => stored(areas, read) };
  } catch (error) {
    return unreadable(error);
  }
}

function areaAt(index: number, answer: Uint8Array | undefined): NvArea | undefined {
  const area = answer && areaOf(answer);
  if (area === undefined || area.index === index) return area;
  throw new Fault("Invalid", "TPM memory", `the answer is about area ${area.index.toString(16)}`);
}

/** The areas from the first on without a gap, as many as fit. */
function withinBounds(areas: readonly (NvArea | undefined)[]): NvArea[] {
  const taken: NvArea[] = [];
  let bytes = 0;
  for (const area of areas) {
    if (area === undefined || bytes + area.bytes > MOST_CHAIN_BYTES) break;
    bytes += area.bytes;
    taken.push(area);
  }
  return taken;
}

function stored(areas: readonly NvArea[], answers: readonly Uint8Array[]): StoredCertificate {
  try {
    let at = 0;
    const [certificate, ...chain] = areas.map((area) => {
      const count = askContent(area).length;
      at += count;
      return contentOf(area, answers.slice(at - count, at));
    });
    const [der] = certificatesIn(certificate!, 1);
    if (der === undefined) return { because: "has bytes that are no certificate where one should be" };
    return { der, chain: certificatesIn(Buffer.concat(chain), MOST_IN_CHAIN) };
  } catch (error) {
    return unreadable(error);
  }
}

/** What begins with a SEQUENCE (X.690 §8.9) and ends where that says, one after the other; what is left over is padding. */
function certificatesIn(bytes: Buffer, most: number): Buffer[] {
  const found: Buffer[] = [];
  let rest = bytes;
  while (found.length < most) {
    const length = sequenceLength(rest);
    if (length === undefined || length > rest.length) break;
    found.push(rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  return found;
}

/** With its header; a certificate's length takes two bytes. */
function sequenceLength(bytes: Buffer): number | undefined {
  return bytes.length >= 4 && bytes.readUInt16BE(0) === 0x3082 ? 4 + bytes.readUInt16BE(2) : undefined;
}

function unreadable(error: unknown): { because: string } {
  if (isFault(error, "Invalid")) return { because: `has a certificate that can't be read: ${error.message}` };
  throw error;
}
