import { below } from "../files/below.ts";
import { declaredFiles } from "../files/disk.ts";
import { patching } from "../files/patched.ts";
import { type FileSource, firstOf } from "../files/source.ts";
import { isoFiles } from "./files.ts";

/** An image of the disk whose files are served. */
export interface ServedImage {
  file: string;
  /** What stands in its files, and what is read instead: no longer, a shorter one is filled up with blanks. */
  replace: Readonly<Record<string, string>>;
}

const NOBODY = { address: "" };

/**
 * Images of the disk by name: the files inside `debian` are at `iso/debian/…`. Rejects with a `Fault` when one is not there, is no
 * ISO 9660 image, or can't have replaced what it shall; one that is replaced later is served as it is then.
 */
export async function servedImages(images: Readonly<Record<string, ServedImage>>): Promise<FileSource> {
  const disk = declaredFiles(Object.fromEntries(Object.entries(images).map(([name, { file }]) => [name, file])));
  const sources = Object.entries(images).map(([name, { replace }]) => {
    const patches = Object.entries(replace).map(([placeholder, value]) => patching(placeholder, value));
    const source = isoFiles(() => disk.open(name, NOBODY));
    return below(`iso/${name}`, {
      async open(path, asker) {
        const file = await source.open(path, asker);
        return file && patches.reduce((patched, patch) => patch(patched), file);
      },
    });
  });
  const served = firstOf(...sources);
  // Whatever is looked for, the image is looked at.
  for (const name of Object.keys(images)) await (await served.open(`iso/${name}/README`, NOBODY))?.close();
  return served;
}
