/**
 * Images as the agent can write them. The agent unpacks raw, gz, zst and xz while it writes; qcow2 is fetched and converted here, once, into a folder of
 * this one's own. Needs a disk and `qemu-img`; knows no host and no order: who gives an order offers the file to its host.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, Fault, privateFolder } from "@slipway/base";
import { fetchByEnvironment } from "@slipway/base/proxy";
import { declaredFiles } from "../files/disk.ts";
import type { FileSource } from "../files/source.ts";
import { type Checksum, compare, digestOf } from "./checksum.ts";
import { type Beginning, type Fetch, fetchHead, fetchTo, shown } from "./fetch-image.ts";
import { formatOf, HEAD_BYTES, type ImageFormat, qcow2Obstacle } from "./format.ts";
import { type Convert, qemuImg } from "./qemu-img.ts";

export interface ImagesOptions {
  /** Made when it is needed. Whoever may write to it says what machines run. */
  folder: string;
  clock: Pick<Clock, "now">;
  /** Default: by the environment's proxy, where one is set. */
  fetch?: Fetch;
  convert?: Convert;
  /** Fetched or unfolded, of one image: Default: 256 GiB. */
  mostBytes?: number;
  /** Of all converted images: Default: 100 GiB. Beyond it, images that were not requested for a day are deleted. */
  cacheBytes?: number;
}

/** What to give to the agent: the URL that was named, or a file of ours, to be offered under the name `image`. */
export type ReadyImage = { format: Exclude<ImageFormat, "qcow2">; checksum?: Checksum } & (
  | { is: "remote"; url: string }
  | { is: "local"; files: FileSource }
);

const GIB = 1024 ** 3;
const DAY_MS = 86_400_000;

/** Makes images ready for the agent: qcow2 is converted once and kept, other formats are passed on by their URL. */
export class Images {
  readonly #options: Required<ImagesOptions>;
  readonly #way: ReturnType<typeof fetchByEnvironment>;
  readonly #underWay = new Map<string, Promise<ReadyImage>>();
  readonly #closing = new AbortController();
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: ImagesOptions) {
    this.#way = fetchByEnvironment(process.env);
    this.#options = {
      fetch: this.#way.fetch,
      convert: qemuImg(),
      mostBytes: 256 * GIB,
      cacheBytes: 100 * GIB,
      ...options,
    };
  }

  /**
   * The image behind an `http(s)` URL, ready to be written. A qcow2 image that is not kept is one conversion at a time away; who asks for the
   * same meanwhile waits for the same. Rejects with a `Fault` that says what to do: a checksum that is not the file's, an image that depends on another file,
   * `qemu-img` missing, a server that does not answer.
   */
  async imageFor(url: string, checksum?: Checksum): Promise<ReadyImage> {
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
      throw new Fault("Invalid", "image URL", "is not one of http or https", {
        remedy: "put the image on a web server",
      });
    const { fetch, mostBytes } = this.#options;
    const { signal } = this.#closing;
    const { head, version } = await fetchHead(fetch, url, signal);
    const format = formatOf(head);
    if (format !== "qcow2") return { is: "remote", url, format, ...(checksum && { checksum }) };
    this.#refuseBad(head, shown(url));
    return this.#once(keyOf(url, version, checksum), async (part) => {
      await fetchTo(fetch, url, { to: part, mostBytes, signal, ...(checksum && { checksum }) });
      // What was fetched need not begin as it did before.
      this.#refuseBad((await headOfFile(part)).head, shown(url));
      return part;
    });
  }

  /** The same for a file of this machine. For its owner's own files only: who may name one gets its contents. */
  async imageAt(path: string, checksum?: Checksum): Promise<ReadyImage> {
    const { head, version } = await headOfFile(path);
    const format = formatOf(head);
    if (format !== "qcow2")
      return { is: "local", format, files: declaredFiles({ image: path }), ...(checksum && { checksum }) };
    this.#refuseBad(head, path);
    return this.#once(keyOf(path, version, checksum), async () => {
      if (checksum !== undefined) compare(checksum, await digestOf(path, checksum.type, this.#closing.signal), path);
      return path;
    });
  }

  /** Ends what is under way. Resolves when nothing is. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException("the image service ends", "AbortError"));
    await this.#tail;
    await this.#way.close();
  }

  /** The image of this key: as it is kept, at once, else converted in its turn. */
  async #once(key: string, obtain: (part: string) => Promise<string>): Promise<ReadyImage> {
    const kept = await this.#kept(key);
    if (kept !== undefined) return kept;
    let ready = this.#underWay.get(key);
    if (ready === undefined) {
      ready = this.#tail.then(() => this.#converted(key, obtain)).finally(() => this.#underWay.delete(key));
      this.#tail = ready.catch(() => {});
      this.#underWay.set(key, ready);
    }
    return ready;
  }

  /** The converted image, which is wanted again; undefined: there is none. */
  async #kept(key: string): Promise<ReadyImage | undefined> {
    const raw = join(this.#options.folder, `${key}.raw`);
    const value = await readFile(`${raw}.sha256`, "utf8").catch(() => "");
    // A loss of power leaves an empty one, who wants room the one without the other.
    if (!/^[0-9a-f]{64}$/.test(value) || !existsSync(raw)) return undefined;
    const now = new Date(this.#options.clock.now());
    await utimes(`${raw}.sha256`, now, now);
    return { is: "local", format: "raw", checksum: { type: "sha256", value }, files: declaredFiles({ image: raw }) };
  }

  /** `obtain` resolves with the qcow2 file: `part`, where it wrote it, or one that is there. */
  async #converted(key: string, obtain: (part: string) => Promise<string>): Promise<ReadyImage> {
    const { folder, convert } = this.#options;
    const { signal } = this.#closing;
    const raw = join(folder, `${key}.raw`);
    const [fetched, part] = [join(folder, `${key}.qcow2.part`), `${raw}.part`];
    try {
      privateFolder(folder);
      await this.#clean();
      await this.#makeRoom();
      await convert(await obtain(fetched), part, signal);
      const value = await digestOf(part, "sha256", signal);
      await onDisk(part);
      await rename(part, raw);
      // Last: an image without one is not ready.
      await writeFile(`${raw}.sha256`, value, { mode: 0o600 });
      return (await this.#kept(key))!;
    } catch (cause) {
      if (cause instanceof Fault) throw cause;
      throw new Fault("Unavailable", folder, `the image can't be converted there: ${(cause as Error).message}`, {
        cause,
      });
    } finally {
      await this.#clean();
    }
  }

  #refuseBad(head: Uint8Array, name: string): void {
    const changed = "it has changed meanwhile";
    const obstacle = formatOf(head) === "qcow2" ? qcow2Obstacle(head, this.#options.mostBytes) : changed;
    if (obstacle !== undefined) throw new Fault("Invalid", name, obstacle);
  }

  /** Takes away what was begun, by a process that has ended too: only one image is converted at a time. */
  async #clean(): Promise<void> {
    for (const path of await this.#named(".part")) await rm(path, { force: true });
  }

  async #named(ending: string): Promise<string[]> {
    const { folder } = this.#options;
    const names = await readdir(folder).catch((): string[] => []);
    return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
  }

  async #makeRoom(): Promise<void> {
    const { cacheBytes, clock } = this.#options;
    const images: { path: string; usedAt: number; bytes: number }[] = [];
    for (const path of await this.#named(".raw")) {
      const used = await stat(`${path}.sha256`).catch(() => undefined);
      // Holes take no room.
      images.push({ path, usedAt: used?.mtimeMs ?? 0, bytes: (await stat(path)).blocks * 512 });
    }
    let bytes = images.reduce((sum, image) => sum + image.bytes, 0);
    for (const image of images.sort((a, b) => a.usedAt - b.usedAt)) {
      if (bytes <= cacheBytes || image.usedAt > clock.now() - DAY_MS) return;
      await rm(`${image.path}.sha256`, { force: true });
      await rm(image.path, { force: true });
      bytes -= image.bytes;
    }
  }
}

/** The same content, the same key: by its checksum, else by its place and the version there. */
function keyOf(place: string, version: string, checksum: Checksum | undefined): string {
  const what = checksum === undefined ? `${place}\n${version}` : `${checksum.type}:${checksum.value.toLowerCase()}`;
  return createHash("sha256").update(what).digest("hex").slice(0, 32);
}

/** `qemu-img` leaves its output to the kernel; with its checksum on the disk before it, the image would be taken for whole. */
async function onDisk(path: string): Promise<void> {
  const file = await open(path);
  await file.datasync().finally(() => file.close());
}

async function headOfFile(path: string): Promise<Beginning> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (cause) {
    throw new Fault("MissingInput", path, `the image can't be read: ${(cause as Error).message}`, { cause });
  }
  try {
    const { size, mtimeMs, ino } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return { head: buffer.subarray(0, bytesRead), version: `${ino} ${size} ${mtimeMs}` };
  } finally {
    await file.close();
  }
}
