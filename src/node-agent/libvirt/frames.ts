/** Packets of libvirt's RPC: a length, a header of six words, a body. */
import { malformed } from "./xdr.ts";

/** What a packet is. */
export const CALL = 0;
export const REPLY = 1;
export const EVENT = 2;
export const STREAM = 3;

/** How a call ended. */
export const OK = 0;
export const FAILED = 1;
/** Of a stream: there is more to come. */
export const GOES_ON = 2;

export interface Packet {
  program: number;
  version: number;
  procedure: number;
  type: number;
  /** Of the call that it answers. */
  serial: number;
  status: number;
  body: Buffer;
}

const HEADER_BYTES = 28;
/** libvirt's own limit. */
const LONGEST_PACKET = 32 * 1024 * 1024;

/** The bytes of a packet. */
export function packetBytes({ program, version, procedure, type, serial, status, body }: Packet): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(HEADER_BYTES + body.length, 0);
  header.writeUInt32BE(program, 4);
  header.writeUInt32BE(version, 8);
  header.writeInt32BE(procedure, 12);
  header.writeInt32BE(type, 16);
  header.writeUInt32BE(serial, 20);
  header.writeInt32BE(status, 24);
  return Buffer.concat([header, body]);
}

/** Puts packets together from what a stream brings, in pieces of any size. Holds no more than was received. */
export class Frames {
  #pieces: Buffer[] = [];
  #held = 0;

  /** The packets that these bytes complete. Throws a `Fault` (`Invalid`) when a length can't be one: the stream can't be read any further. */
  push(bytes: Buffer): Packet[] {
    this.#pieces.push(bytes);
    this.#held += bytes.length;
    const packets: Packet[] = [];
    for (;;) {
      if (this.#held < 4) return packets;
      const length = this.#head(4).readUInt32BE(0);
      if (length < HEADER_BYTES || length > LONGEST_PACKET) throw malformed(`a packet of ${length} bytes`);
      if (this.#held < length) return packets;
      packets.push(read(this.#take(length)));
    }
  }

  /** The first `n` bytes, which are there. */
  #head(n: number): Buffer {
    if (this.#pieces[0]!.length < n) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!;
  }

  #take(n: number): Buffer {
    const all = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    const rest = all.subarray(n);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#held -= n;
    return all.subarray(0, n);
  }
}

function read(bytes: Buffer): Packet {
  return {
    program: bytes.readUInt32BE(4),
    version: bytes.readUInt32BE(8),
    procedure: bytes.readInt32BE(12),
    type: bytes.readInt32BE(16),
    serial: bytes.readUInt32BE(20),
    status: bytes.readInt32BE(24),
    body: bytes.subarray(HEADER_BYTES),
  };
}
