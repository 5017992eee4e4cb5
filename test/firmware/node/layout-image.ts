/** An image of a folder in OCI's image layout, for the lab's registry. */
import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Blob, ProgramImage } from "../../../src/lab/registry/program-image.ts";

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

/** The first image of a layout (OCI image specification 1.1). Throws where the folder is none. */
export function layoutImage(folder: string): ProgramImage {
  const file = (digest: string): string => join(folder, "blobs", digest.replace(":", "/"));
  const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));
  const { manifests } = read(join(folder, "index.json")) as { manifests: Descriptor[] };
  const manifest = manifests[0]!;
  const { config, layers } = read(file(manifest.digest)) as { config: Descriptor; layers: Descriptor[] };
  const blobs = [manifest, config, ...layers].map(({ digest, mediaType, size }): [string, Blob] => [
    digest,
    { mediaType, size, open: () => createReadStream(file(digest)) },
  ]);
  return { digest: manifest.digest, blobs: new Map(blobs) };
}
