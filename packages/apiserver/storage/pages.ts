/**
 * What is whole in the pages of an SQLite file and its write-ahead log, read without SQLite, which gives up at the first page that is
 * damaged. By https://www.sqlite.org/fileformat2.html; every length is checked, since any of it may be nonsense.
 */

/** A row's columns; blobs and numbers that are not whole are left out as null. */
export type Columns = readonly (string | number | null)[];

const WAL_HEADER = 32;
const FRAME_HEADER = 24;
const FILE_HEADER = 100;
/** B-tree pages with rows: leaf and interior page of an index (WITHOUT ROWID), leaf of a table. */
const INDEX_LEAF = 0x0a;
const INDEX_INTERIOR = 0x02;
const TABLE_LEAF = 0x0d;
/** Far above what the API takes for one object. */
const LONGEST_ROW = 64 * 2 ** 20;

/** The rows of all tables. `wal`: empty when there is none. */
export function* rowsOf(file: Buffer, wal: Buffer): Generator<Columns> {
  const pageSize = pageSizeOf(file, wal);
  if (pageSize === undefined) return;
  const pages = pagesOf(file, wal, pageSize);
  const free = freePages(pages);
  for (const [number, page] of pages) if (!free.has(number)) yield* rowsOn(page, number === 1 ? FILE_HEADER : 0, pages);
}

function pageSizeOf(file: Buffer, wal: Buffer): number | undefined {
  const said = [
    file.length >= FILE_HEADER ? file.readUInt16BE(16) : 0,
    wal.length >= WAL_HEADER ? wal.readUInt32BE(8) : 0,
  ];
  // 4096 is what SQLite makes.
  return [...said, 4096].find((size) => size >= 512 && size <= 32_768 && (size & (size - 1)) === 0);
}

/** The newest image of each page: of the file, overlaid by the log's frames up to the last one that ends a commit. */
function pagesOf(file: Buffer, wal: Buffer, size: number): Map<number, Buffer> {
  const pages = new Map<number, Buffer>();
  for (let at = 0; at + size <= file.length; at += size) pages.set(at / size + 1, file.subarray(at, at + size));
  let commit = new Map<number, Buffer>();
  for (let at = WAL_HEADER; at + FRAME_HEADER + size <= wal.length; at += FRAME_HEADER + size) {
    // Frames of an earlier round of the log have other salts.
    if (wal.compare(wal, 16, 24, at + 8, at + 16) !== 0) continue;
    commit.set(wal.readUInt32BE(at), wal.subarray(at + FRAME_HEADER, at + FRAME_HEADER + size));
    if (wal.readUInt32BE(at + 4) === 0) continue;
    for (const [number, page] of commit) pages.set(number, page);
    commit = new Map();
  }
  return pages;
}

/** Pages in the free list hold rows that were deleted. */
function freePages(pages: ReadonlyMap<number, Buffer>): Set<number> {
  const free = new Set<number>();
  let trunk = pages.get(1)?.readUInt32BE(32) ?? 0;
  for (let page = pages.get(trunk); page !== undefined && !free.has(trunk); page = pages.get(trunk)) {
    free.add(trunk);
    const count = Math.min(page.readUInt32BE(4), page.length / 4 - 2);
    for (let i = 0; i < count; i++) free.add(page.readUInt32BE(8 + 4 * i));
    trunk = page.readUInt32BE(0);
  }
  return free;
}

function* rowsOn(page: Buffer, header: number, pages: ReadonlyMap<number, Buffer>): Generator<Columns> {
  const type = page[header];
  if (type !== INDEX_LEAF && type !== INDEX_INTERIOR && type !== TABLE_LEAF) return;
  const pointers = header + (type === INDEX_INTERIOR ? 12 : 8);
  const cells = Math.min(page.readUInt16BE(header + 3), Math.floor((page.length - pointers) / 2));
  const cellsOn: CellPage = { page, type };
  for (let i = 0; i < cells; i++) {
    const row = rowAt(cellsOn, page.readUInt16BE(pointers + 2 * i), pages);
    if (row !== undefined) yield row;
  }
}

/** A page with cells, and of which type it says that it is. */
interface CellPage {
  page: Buffer;
  type: number;
}

function rowAt(on: CellPage, cell: number, pages: ReadonlyMap<number, Buffer>): Columns | undefined {
  const { page, type } = on;
  let at = cell + (type === INDEX_INTERIOR ? 4 : 0);
  const length = varint(page, at);
  if (length === undefined || length.value > LONGEST_ROW) return undefined;
  at = length.next;
  if (type === TABLE_LEAF) {
    const id = varint(page, at);
    if (id === undefined) return undefined;
    at = id.next;
  }
  const payload = payloadAt(on, at, length.value, pages);
  return payload === undefined ? undefined : columnsOf(payload);
}

/** A payload that is too long for its page goes on in a chain of others. */
function payloadAt(
  { page, type }: CellPage,
  at: number,
  length: number,
  pages: ReadonlyMap<number, Buffer>,
): Buffer | undefined {
  const size = page.length;
  const most = type === TABLE_LEAF ? size - 35 : Math.floor(((size - 12) * 64) / 255) - 23;
  const least = Math.floor(((size - 12) * 32) / 255) - 23;
  if (length <= most) return at + length <= size ? page.subarray(at, at + length) : undefined;
  const even = least + ((length - least) % (size - 4));
  const local = even <= most ? even : least;
  if (at + local + 4 > size) return undefined;
  const parts = [page.subarray(at, at + local)];
  let left = length - local;
  for (let next = page.readUInt32BE(at + local); left > 0; ) {
    const more = pages.get(next);
    if (more === undefined) return undefined;
    parts.push(more.subarray(4, 4 + Math.min(left, size - 4)));
    left -= size - 4;
    next = more.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

function columnsOf(payload: Buffer): Columns | undefined {
  const header = varint(payload, 0);
  if (header === undefined || header.value > payload.length) return undefined;
  const columns: (string | number | null)[] = [];
  let body = header.value;
  for (let at = header.next; at < header.value; ) {
    const type = varint(payload, at);
    if (type === undefined) return undefined;
    at = type.next;
    const length = lengthOf(type.value);
    if (body + length > payload.length) return undefined;
    columns.push(columnOf(type.value, payload.subarray(body, body + length)));
    body += length;
  }
  return columns;
}

function lengthOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][type]!;
}

function columnOf(type: number, bytes: Buffer): string | number | null {
  if (type >= 13 && type % 2 === 1) return bytes.toString("utf8");
  if (type >= 1 && type <= 5) return bytes.readIntBE(0, bytes.length);
  if (type === 6) return Number(bytes.readBigInt64BE(0));
  return type === 8 ? 0 : type === 9 ? 1 : null;
}

/** Up to nine bytes, seven bits each, the most significant first. */
function varint(bytes: Buffer, at: number): { value: number; next: number } | undefined {
  let value = 0;
  for (let i = 0; i < 8; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) return undefined;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, next: at + i + 1 };
  }
  return undefined;
}
