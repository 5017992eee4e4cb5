import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { Fault } from "../../src/base/fault.ts";
import { run } from "../image/run.ts";
import { packCpio } from "./cpio.ts";
import { firmwareEntries } from "./firmware.ts";
import { agentVersion } from "./key.ts";
import { driversOf } from "./modules.ts";
import { type Architecture, TARGETS } from "./packages.ts";
import { rootEntries } from "./root.ts";

export interface Ingredients {
  /** Files of packages. */
  kernel: readonly string[];
  boot: readonly string[];
  programs: readonly string[];
  firmware: readonly string[];
  /** A folder for what is unpacked; made anew, and gone at the end. */
  work: string;
  say(text: string): void;
}

/** The finished files, by their names in the assets folder. The same packages and program give the same bytes. */
export function build(
  architecture: Architecture,
  { kernel, boot, programs, firmware, work, say }: Ingredients,
): Map<string, Buffer> {
  const { machine, boot: loaders } = TARGETS[architecture];
  rmSync(work, { recursive: true, force: true });
  try {
    say("unpacking");
    const place = (name: string, debs: readonly string[]): string => {
      mkdirSync(join(work, name), { recursive: true });
      for (const deb of debs) run("dpkg-deb", ["--extract", deb, join(work, name)]);
      return join(work, name);
    };
    const [kernelFolder, bootFolder] = [place("kernel", kernel), place("boot", boot)];
    const root = rootEntries(architecture, place("programs", programs), agentVersion());
    const drivers = driversOf(architecture, kernelFolder);
    const firmwareFolder = place("firmware", firmware);
    const [first, rest] = (["first", "rest"] as const).map((part) => {
      const blobs = firmwareEntries(drivers[part].firmware, firmwareFolder);
      say(`packing ${drivers[part].count} drivers and ${blobs.size} files of firmware`);
      return new Map([...root[part], ...drivers[part].entries, ...blobs]);
    });
    const packed = compress(packCpio(rest!));
    // What boots fits together: the first part takes this rest and no other.
    first!.set("agent/rest.sha256", { is: "file", content: Buffer.from(sha256(packed)), executable: false });
    const initrd = compress(packCpio(first!));
    const [vmlinuz] = globSync(join(kernelFolder, "boot/vmlinuz-*"));
    if (vmlinuz === undefined) throw new Fault("NotFound", "vmlinuz", "the kernel's package has none");
    const kernelFile = readFileSync(vmlinuz);
    const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
    say(
      `kernel ${megabytes(kernelFile.length)}, initramfs ${megabytes(initrd.length)}, rest ${megabytes(packed.length)}`,
    );
    return new Map([
      [`agent/${machine}/vmlinuz`, kernelFile],
      [`agent/${machine}/rest`, packed],
      [`agent/${machine}/initrd`, initrd],
      ...Object.entries(loaders).map(
        ([name, [, path]]) => [`boot/${name}`, readFileSync(join(bootFolder, path))] as const,
      ),
    ]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function compress(archive: Buffer): Buffer {
  return zstdCompressSync(archive, { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
}

const sha256 = (content: Buffer): string => createHash("sha256").update(content).digest("hex");
