import { basename } from "node:path";
import { Fault } from "@slipway/base";
import { declaredFiles } from "../../netboot/files/disk.ts";
import type { FileSource } from "../../netboot/files/source.ts";
import { isoFiles } from "../../netboot/iso/files.ts";
import { releaseNames } from "./release.ts";

/** Where a release's ISO has what it publishes beside it (harvester-installer, `scripts/package-harvester-os`, and the ISO's own GRUB menu). */
const INSIDE = { kernel: "boot/kernel", initrd: "boot/initrd", rootfs: "rootfs.squashfs" } as const;
const NOBODY = { address: "" };

export interface IsoRelease {
  files: FileSource;
  /** Its name among the files. */
  iso: string;
  version: string;
}

/**
 * A release out of its ISO alone: kernel, initramfs and live system are served out of the image under the names of the files that are published beside it. Nothing
 * is unpacked. Rejects with a `Fault` for a file that is not named as releases are, is not there, or has not these parts.
 */
export async function isoRelease(file: string): Promise<IsoRelease> {
  const [, version, architecture] = /^harvester-(.+)-(amd64)\.iso$/.exec(basename(file)) ?? [];
  if (version === undefined || architecture === undefined)
    throw new Fault("BadRequest", "--iso", `${basename(file)} is not named harvester-<version>-amd64.iso`, {
      remedy: "give it the name that the release has",
    });
  const names = releaseNames(version, architecture);
  const disk = declaredFiles({ [names.iso]: file });
  const image = isoFiles(async () => await disk.open(names.iso, NOBODY));
  const within: Readonly<Record<string, string>> = {
    [names.kernel]: INSIDE.kernel,
    [names.initrd]: INSIDE.initrd,
    [names.rootfs]: INSIDE.rootfs,
  };
  for (const path of Object.values(INSIDE)) {
    const part = await image.open(path, NOBODY);
    if (part === undefined) throw new Fault("Invalid", file, `there is no ${path} in it: it is no ISO of Harvester`);
    await part.close();
  }
  const files: FileSource = {
    async open(name, asker) {
      const path = within[name];
      return path === undefined ? await disk.open(name, asker) : await image.open(path, asker);
    },
  };
  return { files, iso: names.iso, version };
}
