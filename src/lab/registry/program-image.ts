/** An image that is one program: made of its file as it is asked for, so that nothing is stored twice. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { tarHeader, tarTail } from "@slipway/base";

const FOLDER = "usr/local/bin";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** What is served under a digest. */
export interface Blob {
  mediaType: string;
  size: number;
  open(): Readable;
}

export interface ProgramImage {
  /** Of its manifest. */
  digest: string;
  blobs: ReadonlyMap<string, Blob>;
}

/** The image of a program (OCI image specification 1.1): it lies in `/usr/local/bin`, under its file's name. The layer is not packed. */
export async function programImage(file: string, architecture = "amd64"): Promise<ProgramImage> {
  const { size } = await stat(file);
  const name = `${FOLDER}/${basename(file)}`;
  const [head, tail] = [tarHeader({ name, size, mode: 0o755 }, 0), tarTail(size)];
  const layer: Blob = {
    mediaType: "application/vnd.oci.image.layer.v1.tar",
    size: head.length + size + tail.length,
    open: () => Readable.from(archive(file, head, tail)),
  };
  const hash = createHash("sha256");
  for await (const part of layer.open()) hash.update(part as Uint8Array);
  const diffId = `sha256:${hash.digest("hex")}`;
  const [configDigest, config] = document("application/vnd.oci.image.config.v1+json", {
    os: "linux",
    architecture,
    config: {
      Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
      Entrypoint: [`/${name}`],
      WorkingDir: "/",
    },
    rootfs: { type: "layers", diff_ids: [diffId] },
  });
  const [digest, manifest] = document(MANIFEST, {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: { mediaType: config.mediaType, digest: configDigest, size: config.size },
    layers: [{ mediaType: layer.mediaType, digest: diffId, size: layer.size }],
  });
  return {
    digest,
    blobs: new Map([
      [digest, manifest],
      [configDigest, config],
      [diffId, layer],
    ]),
  };
}

async function* archive(file: string, head: Uint8Array, tail: Uint8Array): AsyncGenerator<Uint8Array> {
  yield head;
  yield* createReadStream(file, { highWaterMark: 1024 ** 2 });
  yield tail;
}

function document(mediaType: string, content: object): [digest: string, blob: Blob] {
  const bytes = Buffer.from(JSON.stringify(content));
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  return [digest, { mediaType, size: bytes.length, open: () => Readable.from([bytes]) }];
}
