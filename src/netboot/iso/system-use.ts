import { bytesAt, type Image, malformed } from "./bytes-at.ts";
import { type Place, parseRecord } from "./directory-record.ts";

/** One field of a record's system use area (SUSP, IEEE P1281 §4): its two letters and what follows its four bytes of header. */
export interface Field {
  name: string;
  data: Buffer;
}

/** How much of continued areas is read for one directory. */
export interface Budget {
  bytes: number;
}

const HEADER_BYTES = 4;

/** A record needs more than its own few bytes only for a long name or a long link. */
const MOST_AREAS = 32;
const MOST_AREA_BYTES = 8192;

/** A record's fields, those in continuation areas (CE) included. Throws a `Fault` when there is no end to them. */
export async function fieldsOf(image: Image, area: Buffer, blockBytes: number, budget: Budget): Promise<Field[]> {
  const fields = split(area);
  let next = continuation(fields);
  for (let areas = 0; next !== undefined; areas++) {
    const [block, offset, length] = [next.readUInt32LE(0), next.readUInt32LE(8), next.readUInt32LE(16)];
    budget.bytes -= length;
    if (areas === MOST_AREAS || length > MOST_AREA_BYTES || budget.bytes < 0)
      throw malformed("has extended attributes without end");
    const more = split(await bytesAt(image, block * blockBytes + offset, length));
    fields.push(...more);
    next = continuation(more);
  }
  return fields;
}

function continuation(fields: readonly Field[]): Buffer | undefined {
  return fields.find(({ name, data }) => name === "CE" && data.length >= 24)?.data;
}

function split(area: Buffer): Field[] {
  const fields: Field[] = [];
  for (let at = 0; at + HEADER_BYTES <= area.length; ) {
    const length = area[at + 2]!;
    if (length < HEADER_BYTES || at + length > area.length) break;
    const name = area.toString("latin1", at, at + 2);
    if (name === "ST") break;
    fields.push({ name, data: area.subarray(at + HEADER_BYTES, at + length) });
    at += length;
  }
  return fields;
}

/**
 * Whether the image has system use fields, which the root's own first record says (SP, SUSP §5.3), and how many bytes of each area
 * belong to something else. Undefined: it has none.
 */
export async function suspSkip(
  image: Image,
  { root, blockBytes }: { root: Place; blockBytes: number },
): Promise<number | undefined> {
  const [length] = await bytesAt(image, root.at, 1);
  if (length === undefined || length <= 33) return undefined;
  const { systemUse } = parseRecord(await bytesAt(image, root.at, length), blockBytes);
  const field = split(systemUse)[0];
  if (field?.name !== "SP" || field.data.length < 3 || field.data.readUInt16BE(0) !== 0xbeef) return undefined;
  return field.data[2];
}
