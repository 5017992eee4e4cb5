/** What a kernel module says of itself in its ELF section `.modinfo`: `name=value`, each ended by a zero (linux/moduleparam.h). */
export interface ModuleInfo {
  /** With `_` for `-`, as the kernel calls it. */
  name: string;
  /** Names of the modules that must be there before it. */
  depends: string[];
  /** Modules that it asks for by `modprobe` while it runs, before it (`pre`). */
  softDepends: string[];
  /** Patterns of the devices it drives. */
  aliases: string[];
  /** Files that it loads from /lib/firmware. */
  firmware: string[];
}

/** Reads a module's bytes, not compressed. Throws `RangeError` when it is no 64-bit ELF object with such a section. */
export function readModuleInfo(bytes: Buffer, name: string): ModuleInfo {
  const section = elfSection(bytes, ".modinfo");
  if (section === undefined) throw new RangeError(`${name}: no .modinfo`);
  const entries = section
    .toString("utf8")
    .split("\0")
    .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)] as const);
  const all = (key: string): string[] => entries.filter(([k]) => k === key).map(([, value]) => value);
  return {
    name: moduleName(name),
    depends: all("depends").flatMap((list) => list.split(",").filter(Boolean).map(moduleName)),
    softDepends: all("softdep").flatMap((text) => {
      const pre = /\bpre:\s*([^:]*?)(?:\s*post:|$)/.exec(text)?.[1] ?? "";
      return pre.split(/\s+/).filter(Boolean).map(moduleName);
    }),
    aliases: all("alias"),
    firmware: all("firmware"),
  };
}

/** The kernel takes `-` and `_` in a module's name for the same. */
export const moduleName = (name: string): string => name.replaceAll("-", "_");

/** A section of a little-endian 64-bit ELF file (System V gABI, chapter 4), by name. */
function elfSection(bytes: Buffer, wanted: string): Buffer | undefined {
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2) return undefined;
  const table = Number(bytes.readBigUInt64LE(40));
  const [size, count, names] = [bytes.readUInt16LE(58), bytes.readUInt16LE(60), bytes.readUInt16LE(62)];
  const section = (index: number): { name: number; data: Buffer } => {
    const at = table + index * size;
    const offset = Number(bytes.readBigUInt64LE(at + 24));
    return {
      name: bytes.readUInt32LE(at),
      data: bytes.subarray(offset, offset + Number(bytes.readBigUInt64LE(at + 32))),
    };
  };
  const strings = section(names).data;
  for (let i = 1; i < count; i++) {
    const { name, data } = section(i);
    if (strings.toString("latin1", name, strings.indexOf(0, name)) === wanted) return data;
  }
  return undefined;
}
