import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import { Fault } from "@slipway/base";
import { packedAlike } from "./tar.ts";

/** What a manifest says of a blob (OCI image specification 1.1, descriptor). */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
  platform?: { os: "linux"; architecture: string };
}

export interface Layer {
  descriptor: Descriptor;
  /** Digest of the uncompressed archive. */
  diffId: string;
}

/** An OCI image layout under construction: a folder of blobs by digest. The same contents give the same digests. */
export class ImageLayout {
  readonly folder: string;

  /** Starts an empty one; what was in the folder goes. */
  constructor(folder: string) {
    this.folder = folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, "blobs/sha256"), { recursive: true });
    writeFileSync(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  }

  /** Everything below `root` as a layer: owned by root, readable by all, without times, in the order of names; packed with gzip unless told not to be. */
  async layer(root: string, { packed: isPacked = true }: { packed?: boolean } = {}): Promise<Layer> {
    const tar = spawn("tar", [...packedAlike, "-C", root, "-cf", "-", "."], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(tar, "exit") as Promise<[number | null]>;
    const unpacked = new Digest();
    const packed = new Digest();
    const fresh = join(this.folder, "layer");
    const packer = isPacked ? createGzip({ level: constants.Z_BEST_COMPRESSION }) : new PassThrough();
    await pipeline(tar.stdout, unpacked, packer, packed, createWriteStream(fresh));
    const [code] = await ended;
    if (code !== 0) throw new Fault("Internal", "tar", `ended with ${code}`);
    const { digest, size } = packed;
    renameSync(fresh, this.#path(digest));
    return {
      descriptor: { mediaType: `application/vnd.oci.image.layer.v1.tar${isPacked ? "+gzip" : ""}`, digest, size },
      diffId: unpacked.digest,
    };
  }

  /** A blob of JSON, such as a configuration or a manifest. */
  json(mediaType: string, content: object): Descriptor {
    const text = JSON.stringify(content);
    const digest = `sha256:${createHash("sha256").update(text).digest("hex")}`;
    writeFileSync(this.#path(digest), text);
    return { mediaType, digest, size: Buffer.byteLength(text) };
  }

  /** Names what the layout is about. */
  finish(manifests: readonly Descriptor[]): void {
    const index = { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests };
    writeFileSync(join(this.folder, "index.json"), JSON.stringify(index));
  }

  #path(digest: string): string {
    return join(this.folder, "blobs", digest.replace(":", "/"));
  }
}

/** Passes bytes on and knows their digest and number at the end. */
class Digest extends Transform {
  readonly #hash = createHash("sha256");
  digest = "";
  size = 0;

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, data: Buffer) => void): void {
    this.#hash.update(chunk);
    this.size += chunk.length;
    done(null, chunk);
  }

  override _flush(done: () => void): void {
    this.digest = `sha256:${this.#hash.digest("hex")}`;
    done();
  }
}
