/**
 * STAND-IN for a release of Harvester: files of the names that a release has, made of what `make agent` has put together. Its kernel is the agent's; its
 * initramfs the agent's first part with the stand-in's program; its live system the agent's rest; its "ISO" an archive of what the disk starts from.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { Fault } from "@slipway/base";
import { shippedFolder } from "@slipway/base/shipped";
import { type Entry, packCpio } from "../../netboot/agent/cpio.ts";
import { declaredFiles } from "../../netboot/files/disk.ts";
import type { FileSource } from "../../netboot/files/source.ts";

const programFolder = (): string => shippedFolder(join(import.meta.dirname, "program"));
/** The release whose rules the stand-in goes by. */
export const STAND_IN_VERSION = "v1.8.1";
/** The machines that the stand-in starts on. */
const MACHINE = "x86_64";

/** Names of a release's files, as the boot scripts ask for them (`bootstrap/harvester/version.ts`). */
export function releaseNames(version: string, architecture = "amd64") {
  const part = (name: string): string => `harvester-${version}-${name}`;
  return {
    iso: part(`${architecture}.iso`),
    kernel: part(`vmlinuz-${architecture}`),
    initrd: part(`initrd-${architecture}`),
    rootfs: part(`rootfs-${architecture}.squashfs`),
  };
}

/**
 * The stand-in's release out of the agent's `assets`; what has to be made for it is written into `folder`, which exists. `deskUrl`: where its
 * installer asks. Rejects with a `Fault` where the assets are not there.
 */
export async function standInRelease(assets: string, folder: string, deskUrl: string): Promise<FileSource> {
  const at = (name: string): string => join(assets, name);
  const [kernel, first, rest] = ["vmlinuz", "initrd", "rest"].map((name) => at(`agent/${MACHINE}/${name}`));
  const read = (file: string): Promise<Buffer> =>
    readFile(file).catch((cause: unknown) => {
      throw new Fault("MissingInput", file, "the stand-in is made of what `make agent` puts together", {
        remedy: "make agent",
        cause,
      });
    });
  const initrd = Buffer.concat([await read(first!), await programArchive(deskUrl)]);
  const image = packCpio(
    new Map<string, Entry>([
      ["EFI/BOOT/BOOTX64.EFI", file(await read(at("boot/shimx64.efi")))],
      ["EFI/BOOT/grubx64.efi", file(await read(at("boot/grubx64.efi")))],
      ["vmlinuz", file(await read(kernel!))],
      ["initrd", file(initrd)],
      ["rest", file(await read(rest!))],
    ]),
  );
  const made = { initrd: join(folder, "stand-in.initrd"), iso: join(folder, "stand-in.iso") };
  await writeFile(made.initrd, initrd);
  await writeFile(made.iso, image);
  const names = releaseNames(STAND_IN_VERSION);
  return declaredFiles({
    [names.kernel]: kernel!,
    [names.initrd]: made.initrd,
    [names.rootfs]: rest!,
    [names.iso]: made.iso,
  });
}

/** What goes behind the agent's first part: the kernel unpacks one archive after the other, and later files take the place of earlier ones. */
async function programArchive(deskUrl: string): Promise<Buffer> {
  const entries = new Map<string, Entry>([["stand-in/desk", file(Buffer.from(`${deskUrl}\n`))]]);
  const folder = programFolder();
  for (const name of await readdir(folder)) {
    const content = await readFile(join(folder, name));
    const executable = content.subarray(0, 2).toString() === "#!";
    entries.set(name === "init" ? "init" : `stand-in/${name}`, { is: "file", content, executable });
  }
  return zstdCompressSync(packCpio(entries), { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
}

function file(content: Buffer): Entry {
  return { is: "file", content, executable: false };
}
