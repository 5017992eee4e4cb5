/**
 * Images as the agent can write them. The agent unpacks raw, gz, zst and xz while it writes; qcow2 is fetched and converted here, once, into a folder of
 * this one's own. Needs a disk and `qemu-img`; knows no host and no order: who gives an order offers the file to its host.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import { declaredFiles } from "../files/disk.ts";
import type { FileSource } from "../files/source.ts";
import { type Beginning, type Checksum, type Fetch, fetchHead, fetchTo, shown } from "./fetch-image.ts";
import { formatOf, HEAD_BYTES, type ImageFormat, qcow2Obstacle } from "./format.ts";
import { type Convert, qemuImg } from "./qemu-img.ts";

export interface ImagesOptions {
  /** Made when it is needed. Whoever may write to it says what machines run. */
  folder: string;
  clock: Pick<Clock, "now">;
  fetch?: Fetch;
  convert?: Convert;
  /** Fetched or unfolded, of one image: 256 GiB unless told otherwise. */
  mostBytes?: number;
  /** Of all converted images: 100 GiB unless told otherwise. Beyond, those leave that nobody asked for within a day. */
  cacheBytes?: number;
}

/** What to give to the agent: the URL that was named, or a file of ours, to be offered under the name `image`. */
export type ReadyImage = { format: Exclude<ImageFormat, "qcow2">; checksum?: Checksum } & (
  | { is: "remote"; url: string }
  | { is: "local"; files: FileSource }
);

const GIB = 1024 ** 3;
const DAY_MS = 86_400_000;

export class Images {
  readonly #options: Required<ImagesOptions>;
  readonly #underWay = new Map<string, Promise<ReadyImage>>();
  readonly #closing = new AbortController();
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: ImagesOptions) {
    this.#options = { fetch, convert: qemuImg(), mostBytes: 256 * GIB, cacheBytes: 100 * GIB, ...options };
  }

  /**
   * The image behind an `http(s)` URL, ready to be written. A qcow2 image is one conversion at a time away; who asks for the same meanwhile
   * waits for the same. Rejects with a `Fault` that says what to do: a checksum that is not the file's, an image that depends on another file,
   * `qemu-img` missing, a server that does not answer.
   */
  async imageFor(url: string, checksum?: Checksum): Promise<ReadyImage> {
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
      throw new Fault("Invalid", "image URL", "is not one of http or https", {
        remedy: "put the image on a web server",
      });
    const beginning = await fetchHead(this.#options.fetch, url, this.#closing.signal);
    const format = formatOf(beginning.head);
    if (format !== "qcow2") return { is: "remote", url, format, ...(checksum && { checksum }) };
    const obstacle = qcow2Obstacle(beginning.head, this.#options.mostBytes);
    if (obstacle !== undefined) throw new Fault("Invalid", shown(url), obstacle);

    const key = keyOf(url, beginning, checksum);
    let ready = this.#underWay.get(key);
    if (ready === undefined) {
      ready = this.#tail.then(() => this.#converted(key, url, checksum)).finally(() => this.#underWay.delete(key));
      this.#tail = ready.catch(() => {});
      this.#underWay.set(key, ready);
    }
    return ready;
  }

  /** Ends what is under way. Resolves when nothing is. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException("the image service ends", "AbortError"));
    await this.#tail;
  }

  async #converted(key: string, url: string, checksum: Checksum | undefined): Promise<ReadyImage> {
    const { folder, fetch, convert, mostBytes, clock } = this.#options;
    const { signal } = this.#closing;
    const raw = join(folder, `${key}.raw`);
    const known = await readFile(`${raw}.sha256`, "utf8").catch(() => undefined);
    if (known === undefined) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await this.#makeRoom();
      const [fetched, part] = [join(folder, `${key}.qcow2.part`), `${raw}.part`];
      try {
        await rm(fetched, { force: true });
        await fetchTo(fetch, url, { to: fetched, mostBytes, signal, ...(checksum && { checksum }) });
        await this.#checkAgain(fetched, url);
        await convert(fetched, part, signal);
        // The checksum last: an image without one is not ready.
        await rename(part, raw);
        await writeFile(`${raw}.sha256`, await sha256Of(raw, signal));
      } finally {
        await Promise.all([fetched, part].map((path) => rm(path, { force: true })));
      }
    }
    const now = new Date(clock.now());
    await utimes(`${raw}.sha256`, now, now);
    const value = known ?? (await readFile(`${raw}.sha256`, "utf8"));
    return { is: "local", format: "raw", checksum: { type: "sha256", value }, files: declaredFiles({ image: raw }) };
  }

  /** What was fetched need not begin as it did before. */
  async #checkAgain(path: string, url: string): Promise<void> {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      const head = buffer.subarray(0, bytesRead);
      const obstacle =
        formatOf(head) === "qcow2" ? qcow2Obstacle(head, this.#options.mostBytes) : "it has changed meanwhile";
      if (obstacle !== undefined) throw new Fault("Invalid", shown(url), obstacle);
    } finally {
      await file.close();
    }
  }

  async #makeRoom(): Promise<void> {
    const { folder, cacheBytes, clock } = this.#options;
    const images: { path: string; usedAt: number; bytes: number }[] = [];
    for (const name of await readdir(folder)) {
      if (!name.endsWith(".raw")) continue;
      const path = join(folder, name);
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

/** The same content, the same key: by its checksum, else by what the server says of it. */
function keyOf(url: string, beginning: Beginning, checksum: Checksum | undefined): string {
  const what =
    checksum === undefined ? `${url}\n${beginning.version}` : `${checksum.type}:${checksum.value.toLowerCase()}`;
  return createHash("sha256").update(what).digest("hex").slice(0, 32);
}

async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path, { signal, highWaterMark: 1024 * 1024 })) hash.update(part as Buffer);
  return hash.digest("hex");
}
