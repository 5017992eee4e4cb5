import type { Field } from "./system-use.ts";

/** What Rock Ridge (IEEE P1282) says of one record. */
export interface RockRidge {
  name?: string;
  /** Where a symbolic link leads, in parts as they are joined by slashes; an absolute one begins with an empty part. */
  link?: readonly string[];
  /** The block of the directory that stands elsewhere because it would lie too deep. */
  movedTo?: number;
  /** Neither a file, a directory nor a link. */
  special: boolean;
  /** The contents are kept compressed (zisofs). */
  compressed: boolean;
}

const CONTINUES = 0x01;
const FILE_TYPE = 0o170000;
const ORDINARY: ReadonlySet<number> = new Set([0o100000, 0o040000, 0o120000]);

/** Reads what Rock Ridge says in the fields of one record, in all of which a long name or link may go on. */
export function rockRidge(fields: readonly Field[]): RockRidge {
  const of = (name: string): Buffer[] => fields.filter((field) => field.name === name).map(({ data }) => data);
  const mode = of("PX")
    .find((data) => data.length >= 4)
    ?.readUInt32LE(0);
  const moved = of("CL")
    .find((data) => data.length >= 4)
    ?.readUInt32LE(0);
  const name = Buffer.concat(of("NM").map((data) => data.subarray(1))).toString("utf8");
  const links = of("SL").map((data) => data.subarray(1));
  return {
    ...(name === "" ? {} : { name }),
    ...(links.length === 0 ? {} : { link: linkParts(links) }),
    ...(moved === undefined ? {} : { movedTo: moved }),
    special: mode !== undefined && !ORDINARY.has(mode & FILE_TYPE),
    compressed: of("ZF").length > 0,
  };
}

/** Component records of a link (§4.1.3.1): flags, length, text; one part may stand in several. */
function linkParts(areas: readonly Buffer[]): string[] {
  const parts: string[] = [];
  let open = "";
  for (const area of areas) {
    for (let at = 0; at + 2 <= area.length; ) {
      const [flags, length] = [area[at]!, area[at + 1]!];
      const text = area.toString("utf8", at + 2, Math.min(at + 2 + length, area.length));
      at += 2 + length;
      open += (flags & 0x02) !== 0 ? "." : (flags & 0x04) !== 0 ? ".." : text;
      if ((flags & CONTINUES) !== 0) continue;
      parts.push(open);
      open = "";
    }
  }
  return open === "" ? parts : [...parts, open];
}
