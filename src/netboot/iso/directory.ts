import { bytesAt, type Image, malformed } from "./bytes-at.ts";
import { type DirectoryRecord, type Place, parseRecord } from "./directory-record.ts";
import { rockRidge } from "./rock-ridge.ts";
import { fieldsOf } from "./system-use.ts";
import { type NameRule, SECTOR_BYTES, type Volume } from "./volume.ts";

/** What a name in a directory stands for. */
export type Entry =
  | { is: "file"; parts: Place[]; compressed: boolean }
  | { is: "directory"; place: Place }
  /** As `RockRidge.link`. */
  | { is: "link"; to: readonly string[] };

/** A directory's entries by name. */
export type Directory = ReadonlyMap<string, Entry>;

/** No directory of a real image comes near. */
const MOST_BYTES = 8 * 1024 * 1024;
/** Each is up to 4 GiB long. */
const MOST_PARTS = 1024;

/** Reads a directory's records. Throws a `Fault` for what can't be read safely. */
export async function readDirectory(image: Image, { blockBytes, names }: Volume, place: Place): Promise<Directory> {
  if (place.size > MOST_BYTES) throw malformed(`has a directory of ${place.size} bytes`);
  const entries = new Map<string, Entry>();
  const budget = { bytes: MOST_BYTES };
  const files = new FileParts();
  for (const record of recordsOf(await bytesAt(image, place.at, place.size), blockBytes)) {
    const [entry, name] = await entryOf(image, record, { blockBytes, names, budget });
    if (entry === undefined || name === "") continue;
    if (entry.is !== "file") entries.set(name, entry);
    else if (files.begins(name, entry.parts, record.goesOn) && !entries.has(name)) entries.set(name, entry);
  }
  return entries;
}

/** The parts of a long file follow one another; only the last says that it is. */
class FileParts {
  #begun: { name: string; parts: Place[] } | undefined;

  /** Whether a record begins a file; otherwise its parts are added to those of the file that was begun. */
  begins(name: string, parts: Place[], goesOn: boolean): boolean {
    const begun = this.#begun;
    const isNew = begun?.name !== name;
    if (begun !== undefined && !isNew) {
      begun.parts.push(...parts);
      if (begun.parts.length > MOST_PARTS) throw malformed(`has a file of more than ${MOST_PARTS} parts`);
    } else this.#begun = { name, parts };
    if (!goesOn) this.#begun = undefined;
    return isNew;
  }
}

/** The records of a directory without `.` and `..`. No record crosses a sector's end; zeroes fill the rest of each (§6.8.1.1). */
function* recordsOf(bytes: Buffer, blockBytes: number): Generator<DirectoryRecord> {
  for (let at = 0; at < bytes.length; ) {
    const length = bytes[at]!;
    if (length === 0) {
      at = (Math.floor(at / SECTOR_BYTES) + 1) * SECTOR_BYTES;
      continue;
    }
    if (at + length > bytes.length) throw malformed("has a record that crosses its directory's end");
    const record = parseRecord(bytes.subarray(at, at + length), blockBytes);
    const self = record.name.length === 1 && record.name[0]! <= 1;
    if (!self && !record.associated) yield record;
    at += length;
  }
}

interface Reading extends Pick<Volume, "blockBytes" | "names"> {
  budget: { bytes: number };
}

async function entryOf(
  image: Image,
  record: DirectoryRecord,
  { blockBytes, names, budget }: Reading,
): Promise<[Entry | undefined, string]> {
  const { place, directory, interleaved } = record;
  if (names.by !== "rock-ridge") {
    const entry: Entry | undefined = directory
      ? { is: "directory", place }
      : interleaved
        ? undefined
        : { is: "file", parts: [place], compressed: false };
    return [entry, nameOf(record.name, names)];
  }
  const said = rockRidge(await fieldsOf(image, record.systemUse.subarray(names.skip), blockBytes, budget));
  const name = said.name ?? nameOf(record.name, names);
  if (said.movedTo !== undefined) return [await movedDirectory(image, said.movedTo * blockBytes, blockBytes), name];
  if (said.link !== undefined) return [{ is: "link", to: said.link }, name];
  if (directory) return [{ is: "directory", place }, name];
  if (said.special || interleaved) return [undefined, name];
  return [{ is: "file", parts: [place], compressed: said.compressed }, name];
}

/** How long it is stands in its own first record. */
async function movedDirectory(image: Image, at: number, blockBytes: number): Promise<Entry> {
  const [length] = await bytesAt(image, at, 1);
  const { place } = parseRecord(await bytesAt(image, at, length!), blockBytes);
  return { is: "directory", place };
}

/** A name without its version, `;1`, and without the dot of an empty suffix. */
function nameOf(bytes: Buffer, { by }: NameRule): string {
  const text =
    by === "joliet"
      ? Buffer.from(bytes.subarray(0, bytes.length & ~1))
          .swap16()
          .toString("utf16le")
      : bytes.toString("latin1");
  const name = text.replace(/;\d+$/, "");
  return by === "joliet" ? name : name.replace(/\.$/, "");
}
