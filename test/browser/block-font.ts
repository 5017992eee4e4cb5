/**
 * A font in which every character is the same block: with it a page is laid out alike on every computer, whatever fonts that has. TrueType, made here.
 */

const EM = 1000;
const ADVANCE = 520;
const [ASCENT, DESCENT] = [800, -200];
const BLOCK = { left: 40, bottom: 0, right: 480, top: 640 };

const u16 = (...values: number[]): Buffer =>
  Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.alloc(2);
      bytes.writeUInt16BE(value & 0xffff);
      return bytes;
    }),
  );
const u32 = (...values: number[]): Buffer => u16(...values.flatMap((value) => [value >>> 16, value]));

/** One contour of four corners. */
function block(): Buffer {
  const { left, bottom, right, top } = BLOCK;
  const [width, height] = [right - left, top - bottom];
  const corners = { x: u16(left, 0, width, 0), y: u16(bottom, height, 0, -height) };
  const onCurve = Buffer.from([1, 1, 1, 1]);
  return Buffer.concat([u16(1, left, bottom, right, top, 3, 0), onCurve, corners.x, corners.y]);
}

/** Glyph 0 is for what has no character, 1 the block, 2 the space. */
function tables(): Record<string, Buffer> {
  const shape = block();
  // Format 13: all characters of a group have one glyph.
  const groups = u32(0x21, 0x9f, 1, 0xa1, 0x10ffff, 1);
  const spaces = u32(0x20, 0x20, 2);
  const more = u32(0xa0, 0xa0, 2);
  const ordered = Buffer.concat([spaces, groups.subarray(0, 12), more, groups.subarray(12)]);
  const cmap = Buffer.concat([u16(0, 1, 3, 10), u32(12), u16(13, 0), u32(16 + ordered.length, 0, 4), ordered]);
  const name = Buffer.from("Blocks", "utf16le").swap16();
  const entry = (id: number): Buffer => u16(3, 1, 0x409, id, name.length, 0);
  return {
    "OS/2": Buffer.concat([
      u16(4, ADVANCE, 400, 5, 0, 500, 500, 0, 0, 500, 500, 0, 0, 50, 300, 0),
      Buffer.alloc(10),
      u32(0, 0, 0, 0),
      Buffer.from("TEST"),
      u16(0x40, 0x20, 0xffff, ASCENT, DESCENT, 0, ASCENT, -DESCENT),
      u32(0, 0),
      u16(500, 640, 0, 0x20, 1),
    ]),
    cmap,
    glyf: shape,
    head: Buffer.concat([
      u32(0x10000, 0x10000, 0, 0x5f0f3cf5),
      u16(0, EM),
      u32(0, 0, 0, 0),
      u16(BLOCK.left, BLOCK.bottom, BLOCK.right, BLOCK.top, 0, 8, 2, 1, 0),
    ]),
    hhea: Buffer.concat([u32(0x10000), u16(ASCENT, DESCENT, 0, ADVANCE, 0, 0, BLOCK.right, 1, 0, 0, 0, 0, 0, 0, 0, 3)]),
    hmtx: u16(ADVANCE, 0, ADVANCE, BLOCK.left, ADVANCE, 0),
    loca: u32(0, 0, shape.length, shape.length),
    maxp: Buffer.concat([u32(0x10000), u16(3, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)]),
    name: Buffer.concat([u16(0, 4, 54), ...[1, 2, 4, 6].map(entry), name]),
    post: u32(0x30000, 0, 0xff9c0032, 1, 0, 0, 0, 0),
  };
}

/** The file. */
export function blockFont(): Buffer {
  const all = Object.entries(tables());
  let offset = 12 + 16 * all.length;
  const directory: Buffer[] = [u32(0x10000), u16(all.length, 128, 3, 16 * all.length - 128)];
  const bodies: Buffer[] = [];
  for (const [tag, bytes] of all) {
    const padded = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
    directory.push(Buffer.from(tag), u32(0, offset, bytes.length));
    bodies.push(padded);
    offset += padded.length;
  }
  return Buffer.concat([...directory, ...bodies]);
}
