/** A TPM's non-volatile memory (Part 3, 31): which areas there are, and what they hold, a piece at a time. Answers come from an untrusted machine. */
import { Fault } from "@slipway/base";
import { bodyOf } from "./answers.ts";
import { authorized, type Command, command, NO_SESSIONS, number, PASSWORD, SESSIONS } from "./commands.ts";
import { Reader } from "./reader.ts";

/** An area that can be read with an empty password. */
export interface NvArea {
  index: number;
  bytes: number;
  /** Handle whose password is asked for: the area's own, or the owner's. */
  reader: string;
}

const WHAT = "TPM memory";
const OWNER = "40000001";
/** Attributes (Part 2, TPMA_NV): who may read. */
const OWNER_READS = 1 << 17;
const PASSWORD_READS = 1 << 18;
/** The least that a TPM gives at one time (PC Client Platform TPM Profile, TPM_PT_NV_BUFFER_MAX). */
const PIECE_BYTES = 512;

/** Asks for the area's size, and for who may read it. */
export function askArea(index: number): Command {
  return command(NO_SESSIONS, "00000169", number(index, 4));
}

/** The area that an answer to `askArea` describes; undefined: there is none. Throws a `Fault` (`Invalid`) for one that nobody may read here, and for what is no answer. */
export function areaOf(answer: Uint8Array): NvArea | undefined {
  if (isRefusal(answer)) return undefined;
  const area = new Reader(bodyOf(answer).sized(), WHAT);
  const index = area.u32();
  area.u16(); // hash of its name
  const attributes = area.u32();
  area.sized(); // policy
  const bytes = area.u16();
  if ((attributes & PASSWORD_READS) !== 0) return { index, bytes, reader: number(index, 4) };
  if ((attributes & OWNER_READS) !== 0) return { index, bytes, reader: OWNER };
  throw new Fault("Invalid", WHAT, `area ${index.toString(16)} can't be read without a policy`);
}

/** Reads all of the area. */
export function askContent({ index, bytes, reader }: NvArea): Command[] {
  return piecesOf(bytes).map(({ offset, length }) => {
    const handles = reader + number(index, 4);
    return command(SESSIONS, "0000014e", handles + authorized(PASSWORD) + number(length, 2) + number(offset, 2));
  });
}

/** What the answers to `askContent` have. Throws a `Fault` (`Invalid`) unless each has its piece, whole. */
export function contentOf({ bytes }: NvArea, answers: readonly Uint8Array[]): Buffer {
  const pieces = piecesOf(bytes).map(({ length }, at) => {
    if (answers[at] === undefined) throw new Fault("Invalid", WHAT, `there are ${at} pieces only`);
    const reader = bodyOf(answers[at]);
    reader.u32(); // size of the parameters
    const piece = reader.sized();
    if (piece.length !== length) throw new Fault("Invalid", WHAT, `a piece has ${piece.length} bytes of ${length}`);
    return piece;
  });
  return Buffer.concat(pieces);
}

function piecesOf(bytes: number): { offset: number; length: number }[] {
  return Array.from({ length: Math.ceil(bytes / PIECE_BYTES) }, (_, at) => ({
    offset: at * PIECE_BYTES,
    length: Math.min(PIECE_BYTES, bytes - at * PIECE_BYTES),
  }));
}

/** A header alone, with a code that is not 0. */
function isRefusal(answer: Uint8Array): boolean {
  return answer.length === 10 && answer.subarray(6).some((byte) => byte !== 0);
}
