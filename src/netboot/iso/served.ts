import { below } from "../files/below.ts";
import { declaredFiles } from "../files/disk.ts";
import { type FileSource, firstOf } from "../files/source.ts";
import { isoFiles } from "./files.ts";

const NOBODY = { address: "" };

/**
 * Images of the disk by name: the files inside `debian` are at `iso/debian/…`. Rejects with a `Fault` when one is not there or is no
 * ISO 9660 image; one that is replaced later is served as it is then.
 */
export async function servedImages(images: Readonly<Record<string, string>>): Promise<FileSource> {
  const disk = declaredFiles(images);
  const sources = Object.keys(images).map((name) => isoFiles(() => disk.open(name, NOBODY)));
  // Whatever is looked for, the image is looked at.
  for (const source of sources) await (await source.open("README", NOBODY))?.close();
  return firstOf(...Object.keys(images).map((name, at) => below(`iso/${name}`, sources[at]!)));
}
