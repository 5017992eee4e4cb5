import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Fault } from "@slipway/base";
import { run } from "../image/run.ts";
import { firmwareEntries } from "./firmware.ts";
import { agentVersion } from "./key.ts";
import { driversOf } from "./modules.ts";
import { type Architecture, TARGETS } from "./packages.ts";
import { packParts } from "./parts.ts";
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
    const { first: initrd, ...others } = packParts({ first: first!, rest: rest!, keys: root.keys });
    const [vmlinuz] = globSync(join(kernelFolder, "boot/vmlinuz-*"));
    if (vmlinuz === undefined) throw new Fault("NotFound", "vmlinuz", "the kernel's package has none");
    const kernelFile = readFileSync(vmlinuz);
    const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
    const sizes = { kernel: kernelFile, initramfs: initrd, ...others };
    say(
      Object.entries(sizes)
        .map(([name, { length }]) => `${name} ${megabytes(length)}`)
        .join(", "),
    );
    return new Map([
      [`agent/${machine}/vmlinuz`, kernelFile],
      // It does not unpack itself, and is three times as long as packed: boot loaders are slow.
      ...(machine === "aarch64" ? [[`agent/${machine}/vmlinuz.gz`, gzipSync(kernelFile, { level: 9 })] as const] : []),
      [`agent/${machine}/keys`, others.keys],
      [`agent/${machine}/rest`, others.rest],
      [`agent/${machine}/initrd`, initrd],
      ...Object.entries(loaders).map(
        ([name, [, path]]) => [`boot/${name}`, readFileSync(join(bootFolder, path))] as const,
      ),
    ]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
