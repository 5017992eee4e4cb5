/**
 * The files inside an ISO 9660 image, with the names of Rock Ridge or Joliet where it has them, served out of the image itself:
 * nothing is unpacked, nothing is held in memory but names. An image is not trusted: whatever it says of itself, reading it ends,
 * and stays inside it.
 */
import { Fault } from "@slipway/base";
import type { FileSource, OpenFile } from "../files/source.ts";
import { IsoTree, readParts } from "./tree.ts";

/** `open` opens the image, anew for every file that is served; an image that has changed is indexed anew. */
export function isoFiles(open: () => Promise<OpenFile | undefined>): FileSource {
  let known: { version: string; tree: IsoTree } | undefined;
  return {
    async open(name) {
      const image = await open();
      if (image === undefined) return undefined;
      let file: OpenFile | undefined;
      try {
        if (known?.version !== image.version) known = { version: image.version, tree: new IsoTree() };
        file = await fileIn(image, known.tree, name);
        return file;
      } finally {
        if (file === undefined) await image.close();
      }
    },
  };
}

async function fileIn(image: OpenFile, tree: IsoTree, name: string): Promise<OpenFile | undefined> {
  const entry = (await tree.find(image, name)) ?? (await tree.find(image, hidden(name)));
  if (entry === undefined) return undefined;
  const { parts } = entry;
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  for (const part of parts)
    if (part.at + part.size > image.size) throw new Fault("Invalid", "ISO image", `ends before its file ${name} does`);
  if (entry.compressed)
    throw new Fault("Invalid", "ISO image", `keeps ${name} compressed (zisofs)`, {
      remedy: "make the image without zisofs",
    });
  return {
    size,
    version: `${image.version}-${parts[0]!.at.toString(16)}-${size.toString(16)}`,
    read: (offset, length) => readParts(image, parts, offset, length),
    close: () => image.close(),
  };
}

/** No name that is asked for begins with a dot (`fileName`); installers look for `treeinfo` as well as for `.treeinfo`. */
function hidden(name: string): string {
  return name.replace(/[^/]*$/, ".$&");
}
