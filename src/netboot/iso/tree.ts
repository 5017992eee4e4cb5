import { bytesAt, type Image } from "./bytes-at.ts";
import { type Directory, type Entry, readDirectory } from "./directory.ts";
import type { Place } from "./directory-record.ts";
import { readVolume, type Volume } from "./volume.ts";

/** As Linux: a link that leads over more links, or a longer path, leads nowhere. */
const MOST_LINKS = 40;
const MOST_PARTS = 4096;

/** So many names are kept; an image with more is read again now and then. */
const MOST_NAMES = 500_000;

export type IsoFile = Extract<Entry, { is: "file" }>;

interface Known {
  exact: Directory;
  folded: ReadonlyMap<string, Entry>;
}

/**
 * The names of one image. Each directory is read once, when a path first leads through it; a path costs a look-up per part from then
 * on. The image is given to each call, so that nothing has to stay open.
 */
export class IsoTree {
  #volume: Promise<Volume> | undefined;
  readonly #directories = new Map<number, Promise<Known>>();
  #names = 0;

  /** The file that the path leads to, links followed; undefined when there is none. Throws a `Fault` for an image that can't be read safely. */
  async find(image: Image, path: string): Promise<IsoFile | undefined> {
    const { root } = await this.#volumeOf(image);
    const walk = new Walk(root, path);
    for (let name = walk.next(); name !== undefined; name = walk.next()) {
      const entry = await this.#entry(image, walk.place, name);
      if (entry?.is === "file") return walk.isAtEnd ? entry : undefined;
      if (entry?.is === "directory") walk.enter(entry.place);
      else if (entry === undefined || !walk.follow(entry.to)) return undefined;
    }
    return undefined;
  }

  async #entry(image: Image, place: Place, name: string): Promise<Entry | undefined> {
    const { exact, folded } = await this.#directory(image, place);
    return exact.get(name) ?? folded.get(name.toLowerCase());
  }

  #volumeOf(image: Image): Promise<Volume> {
    this.#volume ??= readVolume(image);
    const volume = this.#volume;
    volume.catch(() => {
      if (this.#volume === volume) this.#volume = undefined;
    });
    return volume;
  }

  async #directory(image: Image, place: Place): Promise<Known> {
    const known = this.#directories.get(place.at);
    if (known !== undefined) return known;
    const reading = this.#read(image, place);
    this.#directories.set(place.at, reading);
    // What failed is tried again by the next who asks.
    reading.catch(() => this.#directories.delete(place.at));
    return reading;
  }

  async #read(image: Image, place: Place): Promise<Known> {
    const exact = await readDirectory(image, await this.#volumeOf(image), place);
    const folded = new Map<string, Entry>();
    for (const [name, entry] of exact) if (!folded.has(name.toLowerCase())) folded.set(name.toLowerCase(), entry);
    this.#names += exact.size;
    if (this.#names > MOST_NAMES) {
      this.#directories.clear();
      this.#names = exact.size;
    }
    return { exact, folded };
  }
}

/** How far a path was followed: the directories that lead to where it is, and the names that are left. */
class Walk {
  /** From the root on. */
  readonly #way: Place[];
  /** The next name is the last one. */
  readonly #left: string[];
  #links = 0;

  constructor(root: Place, path: string) {
    this.#way = [root];
    this.#left = path.split("/").reverse();
  }

  get place(): Place {
    return this.#way.at(-1)!;
  }

  get isAtEnd(): boolean {
    return this.#left.length === 0;
  }

  /** The name to look up in `place`; undefined: none is left. `..` of the root is the root. */
  next(): string | undefined {
    let name = this.#left.pop();
    for (; name === "" || name === "." || name === ".."; name = this.#left.pop())
      if (name === ".." && this.#way.length > 1) this.#way.pop();
    return name;
  }

  enter(place: Place): void {
    this.#way.push(place);
  }

  /** Goes on where a link leads; an empty first name is the root. False: there were too many links, or the path gets too long. */
  follow(to: readonly string[]): boolean {
    if (++this.#links > MOST_LINKS || this.#left.length + to.length > MOST_PARTS) return false;
    if (to[0] === "") this.#way.length = 1;
    this.#left.push(...to.toReversed());
    return true;
  }
}

/** Bytes of a file that lies in parts. */
export async function readParts(
  image: Image,
  parts: readonly Place[],
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let start = 0;
  for (const { at, size } of parts) {
    const from = Math.max(offset, start);
    const to = Math.min(offset + length, start + size);
    if (from < to) pieces.push(await bytesAt(image, at + from - start, to - from));
    start += size;
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
