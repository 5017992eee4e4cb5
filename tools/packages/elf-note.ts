/**
 * Adds a note to a 64-bit little-endian ELF program, as a segment that is loaded with it (System V gABI, chapter 5). Node finds what a
 * single executable application carries by such a note.
 */
const HEADER_BYTES = 56;
const SEGMENT = { load: 1, note: 4, self: 6 } as const;
const READABLE = 4;
/** The largest page that amd64 and arm64 have. */
const PAGE = 65_536;
const NOTE_HEADER_BYTES = 12;

interface Segment {
  type: number;
  flags: number;
  offset: number;
  address: number;
  fileBytes: number;
  memoryBytes: number;
  align: number;
}

/** Returns the program with the note. Throws `RangeError` for what is no such program. */
export function withNote(program: Buffer, name: string, content: Buffer): Buffer {
  if (program.length < 64 || program.readUInt32BE(0) !== 0x7f454c46 || program[4] !== 2 || program[5] !== 1)
    throw new RangeError("no ELF program of 64 bits, little-endian");
  const segments = readSegments(program);
  const loaded = segments.filter(({ type }) => type === SEGMENT.load);
  const [first, last] = [loaded[0], loaded.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError("ELF: nothing is loaded");

  // As far from the first segment in memory as in the file: kernels before 5.18 find the program's headers only where that is so.
  const base = first.address - first.offset;
  const end = Math.max(...loaded.map(({ address, memoryBytes }) => address + memoryBytes));
  const offset = aligned(Math.max(program.length, end - base), PAGE);
  const headers = HEADER_BYTES * (segments.length + 2);
  const note = noteOf(name, content);
  const noteAt = aligned(headers, 8);
  const total = noteAt + note.length;
  const at = (from: number, bytes: number): Omit<Segment, "type"> => ({
    ...{ flags: READABLE, offset: offset + from, address: base + offset + from },
    ...{ fileBytes: bytes, memoryBytes: bytes, align: 8 },
  });
  const now = segments.flatMap((segment): Segment[] => {
    if (segment.type === SEGMENT.self) return [{ type: SEGMENT.self, ...at(0, headers) }];
    // Loaded segments stand in the order of their addresses.
    return segment === last ? [segment, { type: SEGMENT.load, ...at(0, total), align: PAGE }] : [segment];
  });
  now.push({ type: SEGMENT.note, ...at(noteAt, note.length), align: 4 });

  const whole = Buffer.alloc(offset + total);
  program.copy(whole);
  for (const [i, segment] of now.entries()) writeSegment(whole, offset + i * HEADER_BYTES, segment);
  note.copy(whole, offset + noteAt);
  whole.writeBigUInt64LE(BigInt(offset), 32);
  whole.writeUInt16LE(now.length, 56);
  return whole;
}

function noteOf(name: string, content: Buffer): Buffer {
  const owner = Buffer.from(`${name}\0`);
  const head = Buffer.alloc(NOTE_HEADER_BYTES);
  head.writeUInt32LE(owner.length, 0);
  head.writeUInt32LE(content.length, 4);
  const padded = (part: Buffer): Buffer => Buffer.concat([part, Buffer.alloc(aligned(part.length, 4) - part.length)]);
  return Buffer.concat([head, padded(owner), padded(content)]);
}

function readSegments(program: Buffer): Segment[] {
  const start = Number(program.readBigUInt64LE(32));
  return Array.from({ length: program.readUInt16LE(56) }, (_, i) => {
    const from = start + i * HEADER_BYTES;
    const long = (offset: number): number => Number(program.readBigUInt64LE(from + offset));
    return {
      ...{ type: program.readUInt32LE(from), flags: program.readUInt32LE(from + 4) },
      ...{ offset: long(8), address: long(16), fileBytes: long(32), memoryBytes: long(40), align: long(48) },
    };
  });
}

function writeSegment(program: Buffer, from: number, segment: Segment): void {
  program.writeUInt32LE(segment.type, from);
  program.writeUInt32LE(segment.flags, from + 4);
  const { offset, address, fileBytes, memoryBytes, align } = segment;
  for (const [i, value] of [offset, address, address, fileBytes, memoryBytes, align].entries())
    program.writeBigUInt64LE(BigInt(value), from + 8 + 8 * i);
}

function aligned(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}
