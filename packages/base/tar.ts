/** One file of an archive. */
export interface TarEntry {
  /** At most 100 bytes. */
  name: string;
  bytes: Uint8Array;
}

const BLOCK = 512;
const TAR_END = new Uint8Array(2 * BLOCK);
const LONGEST_NAME = 100;

/** A tar archive (POSIX ustar) of regular files that only their owner may read. `mtime`: seconds since 1970. Throws a `RangeError` for a name that is too long. */
export function tarOf(entries: readonly TarEntry[], mtime: number): Uint8Array {
  const parts = entries.flatMap(({ name, bytes }) => [
    tarHeader({ name, size: bytes.length, mode: 0o600 }, mtime),
    bytes,
    new Uint8Array(-bytes.length & (BLOCK - 1)),
  ]);
  return Buffer.concat([...parts, TAR_END]);
}

/** What fills a file's last block, and ends an archive of which it is the last. */
export function tarTail(size: number): Uint8Array {
  return new Uint8Array((-size & (BLOCK - 1)) + TAR_END.length);
}

/** What stands before a file's bytes. Throws a `RangeError` for a name that is too long. */
export function tarHeader(
  { name, size, mode }: { name: string; size: number; mode: number },
  mtime: number,
): Uint8Array {
  if (Buffer.byteLength(name) > LONGEST_NAME) throw new RangeError(`${name}: longer than ${LONGEST_NAME} bytes`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  };
  block.write(name, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(mtime, 136, 12);
  block.fill(" ", 148, 156);
  block.write("0ustar\x0000", 156, "latin1");
  block.write(
    `${block
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
    148,
    "latin1",
  );
  return block;
}
