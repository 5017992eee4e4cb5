/**
 * What boot servers hand out. A source maps the names that are declared to bytes, and has nothing else: no listing, no
 * working directory. TFTP and HTTP serve from it; neither knows where the bytes lie.
 */
export interface FileSource {
  /**
   * The file of that name, or undefined when there is none. `name` has passed `fileName`. Letters of either case find
   * the same file, since firmware spells names as it likes; an exact match goes first. Rejects when a declared file can't be read.
   */
  open(name: string, asker: Asker): Promise<OpenFile | undefined>;
}

/** Who asks: a source may answer each machine differently. */
export interface Asker {
  /** The address as the transport saw it. */
  address: string;
}

/** A file that is being read; the opener closes it. */
export interface OpenFile {
  /** Bytes, as they were when it was opened. */
  readonly size: number;
  /** Differs between contents, the same for the same content: what an ETag is made of. */
  readonly version: string;
  /** It is read from front to end, each byte once: it has no parts that could be asked for. */
  readonly sequential?: true;
  /** The bytes from `offset` on: `length` of them, fewer only when the file has become shorter since. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** The same into the caller's memory: how many bytes it has filled. A number at once where they need not be waited for. */
  fill?(into: Uint8Array, offset: number): number | Promise<number>;
  close(): Promise<void>;
}

/** The first source that has the name answers. */
export function firstOf(...sources: readonly FileSource[]): FileSource {
  return {
    async open(name, asker) {
      for (const source of sources) {
        const file = await source.open(name, asker);
        if (file !== undefined) return file;
      }
      return undefined;
    },
  };
}
