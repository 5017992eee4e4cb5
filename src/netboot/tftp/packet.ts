/**
 * The packets of TFTP: RFC 1350 §5, options as in RFC 2347. What `encode` writes, `decode` reads back; text is Latin-1,
 * one character a byte, so any name survives.
 */
export type Packet =
  | { op: "read" | "write"; name: string; mode: string; options: readonly Option[] }
  | { op: "data"; block: number; bytes: Uint8Array }
  | { op: "ack"; block: number }
  | { op: "error"; code: number; message: string }
  | { op: "oack"; options: readonly Option[] };

/** Name and value, both as written. */
export type Option = readonly [name: string, value: string];

export type Request = Extract<Packet, { op: "read" | "write" }>;

/** Codes of the error packet (RFC 1350 appendix; 8 from RFC 2347). */
export const ERROR = {
  seeMessage: 0,
  notFound: 1,
  accessViolation: 2,
  illegalOperation: 4,
  unknownTransfer: 5,
  refusedOptions: 8,
} as const;

const OPCODE = { read: 1, write: 2, data: 3, ack: 4, error: 5, oack: 6 } as const;

/** RFC 2347: a request is at most so long. */
export const MAX_REQUEST_BYTES = 512;

/** RFC 2348 §"Blocksize Option Specification": the largest block, and header. */
const MAX_PACKET_BYTES = 65_464 + 4;

/** Reads a datagram. Throws a `RangeError` that says what is wrong with it. */
export function decode(bytes: Uint8Array): Packet {
  if (bytes.length < 4 || bytes.length > MAX_PACKET_BYTES) throw new RangeError(`TFTP packet of ${bytes.length} bytes`);
  const opcode = (bytes[0]! << 8) | bytes[1]!;
  const number = (bytes[2]! << 8) | bytes[3]!;
  switch (opcode) {
    case OPCODE.read:
    case OPCODE.write: {
      if (bytes.length > MAX_REQUEST_BYTES) throw new RangeError(`TFTP request of ${bytes.length} bytes`);
      const [name, mode, ...rest] = texts(bytes, 2);
      if (name === undefined || mode === undefined) throw new RangeError("TFTP request without name or mode");
      return { op: opcode === OPCODE.read ? "read" : "write", name, mode, options: pairs(rest) };
    }
    case OPCODE.data:
      return { op: "data", block: number, bytes: bytes.subarray(4) };
    case OPCODE.ack:
      return { op: "ack", block: number };
    case OPCODE.error:
      // Some clients leave the message or its end out; the code is what counts.
      return { op: "error", code: number, message: texts(bytes, 4)[0] ?? latin1(bytes.subarray(4, MAX_REQUEST_BYTES)) };
    case OPCODE.oack:
      if (bytes.length > MAX_REQUEST_BYTES)
        throw new RangeError(`TFTP option acknowledgement of ${bytes.length} bytes`);
      return { op: "oack", options: pairs(texts(bytes, 2)) };
    default:
      throw new RangeError(`TFTP opcode ${opcode}`);
  }
}

/** Writes a packet. Throws a `RangeError` for text with a NUL or beyond Latin-1. */
export function encode(packet: Packet): Uint8Array {
  switch (packet.op) {
    case "read":
    case "write":
      return withTexts(OPCODE[packet.op], [packet.name, packet.mode, ...packet.options.flat()]);
    case "oack":
      return withTexts(OPCODE.oack, packet.options.flat());
    case "data": {
      const out = Buffer.allocUnsafe(4 + packet.bytes.length);
      out.writeUInt32BE(OPCODE.data * 0x10000 + packet.block);
      out.set(packet.bytes, 4);
      return out;
    }
    case "ack":
      return Uint8Array.of(0, OPCODE.ack, packet.block >> 8, packet.block & 0xff);
    case "error": {
      const message = withTexts(packet.code, [packet.message]);
      return Buffer.concat([Uint8Array.of(0, OPCODE.error), message]);
    }
  }
}

function withTexts(number: number, items: readonly string[]): Uint8Array {
  for (const item of items) {
    if (item.includes("\0") || /[^\0-\xff]/.test(item))
      throw new RangeError(`TFTP text ${JSON.stringify(item.slice(0, 64))}`);
  }
  return Buffer.concat([
    Uint8Array.of(number >> 8, number & 0xff),
    ...items.map((item) => Buffer.from(`${item}\0`, "latin1")),
  ]);
}

/** The texts that end in NUL; what follows the last NUL is padding of the client's. */
function texts(bytes: Uint8Array, from: number): string[] {
  return latin1(bytes.subarray(from, from + MAX_REQUEST_BYTES))
    .split("\0")
    .slice(0, -1);
}

/** A name without a value is left out: it can't be honoured. */
function pairs(items: readonly string[]): Option[] {
  const out: Option[] = [];
  for (let i = 0; i + 1 < items.length; i += 2) out.push([items[i]!, items[i + 1]!]);
  return out;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
