/** What of an ELF file says where it runs: x86-64 and AArch64 programs and libraries, 64 bits, little-endian (System V gABI, chapters 4 and 5). */
export interface Elf {
  architecture: "amd64" | "arm64";
  /** Path of the dynamic loader that a program asks for. */
  interpreter: string | undefined;
  /** Names of the libraries it is linked with. */
  needed: string[];
}

const ARCHITECTURES: Readonly<Record<number, Elf["architecture"]>> = { 62: "amd64", 183: "arm64" };
const SEGMENT = { load: 1, dynamic: 2, interpreter: 3 } as const;
const ENTRY = { end: 0, needed: 1, strings: 5 } as const;

/** Reads an ELF file's bytes. Undefined when they are something else. Throws `RangeError` for an ELF file of another kind. */
export function readElf(bytes: Buffer): Elf | undefined {
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46) return undefined;
  const architecture = ARCHITECTURES[bytes.readUInt16LE(18)];
  if (bytes[4] !== 2 || bytes[5] !== 1 || architecture === undefined) throw new RangeError("ELF for another machine");

  const at = Number(bytes.readBigUInt64LE(32));
  const size = bytes.readUInt16LE(54);
  const segments = Array.from({ length: bytes.readUInt16LE(56) }, (_, i) => {
    const start = at + i * size;
    const word = (offset: number): number => Number(bytes.readBigUInt64LE(start + offset));
    return { type: bytes.readUInt32LE(start), offset: word(8), address: word(16), length: word(32) };
  });
  const fileOffset = (address: number): number => {
    const home = segments.find(
      (s) => s.type === SEGMENT.load && address >= s.address && address < s.address + s.length,
    );
    if (home === undefined) throw new RangeError("ELF: an address outside the file");
    return address - home.address + home.offset;
  };
  const text = (offset: number): string => bytes.toString("latin1", offset, bytes.indexOf(0, offset));

  const interpreter = segments.find(({ type }) => type === SEGMENT.interpreter);
  const dynamic = segments.find(({ type }) => type === SEGMENT.dynamic);
  const entries: { tag: number; value: number }[] = [];
  for (let i = 0; dynamic !== undefined && i < dynamic.length; i += 16) {
    const tag = Number(bytes.readBigUInt64LE(dynamic.offset + i));
    if (tag === ENTRY.end) break;
    entries.push({ tag, value: Number(bytes.readBigUInt64LE(dynamic.offset + i + 8)) });
  }
  const strings = entries.find(({ tag }) => tag === ENTRY.strings);
  const needed = entries.filter(({ tag }) => tag === ENTRY.needed);
  return {
    architecture,
    interpreter: interpreter && text(interpreter.offset),
    needed: needed.map(({ value }) => text(fileOffset(strings!.value) + value)),
  };
}
