import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@slipway/base";
import type { BootFiles } from "../dhcp/boot.ts";
import { declaredFiles, folderFiles } from "../files/disk.ts";
import { type FileSource, firstOf } from "../files/source.ts";

export interface BootCatalogOptions {
  /** What `make agent` has put together: `boot/` with loaders, `agent/` with kernels and initramfs. */
  assets: string;
  /** The user's own loaders. They go before those of `boot/`; everything in this folder is served. */
  own?: string;
  /** What UEFI machines load. `grub` (default): shim and GRUB, which Secure Boot lets pass. */
  uefi?: "grub" | "ipxe";
}

export interface BootCatalog {
  /** Loaders, kernels, the initramfs and the parts of the agent that it fetches. */
  files: FileSource;
  /** What DHCP answers. `base`: where machines reach the HTTP service, `http://192.0.2.1:8080`. */
  bootFiles(base: string): BootFiles;
  /** Shim and GRUB, by the platforms that have both. */
  signed: SignedLoaders;
  /** What is not there, in words for the user. */
  missing: readonly MissingFile[];
}

export type SignedLoaders = Partial<Record<"x64" | "arm64", { shim: string; grub: string }>>;

export interface MissingFile {
  /** `boot/shimx64.efi`. */
  file: string;
  /** What does not work without it. */
  effect: string;
  remedy: string;
}

interface Machines {
  platform: "bios" | "x64" | "arm64";
  are: string;
  /** Files that load one another, the first by name of DHCP's answer. The usual chain first. */
  chains: readonly [readonly [string, ...string[]], ...(readonly [string, ...string[]])[]];
}

const MACHINES: readonly Machines[] = [
  { platform: "bios", are: "BIOS machines", chains: [["undionly.kpxe"]] },
  { platform: "x64", are: "UEFI machines", chains: [["shimx64.efi", "grubx64.efi"], ["snponly.efi"], ["ipxe.efi"]] },
  { platform: "arm64", are: "ARM64 machines", chains: [["shimaa64.efi", "grubaa64.efi"], ["ipxe-arm64.efi"]] },
];

const AGENTS: readonly string[] = ["x86_64", "aarch64"];
const PARTS: readonly string[] = ["vmlinuz", "initrd", "rest", "keys"];
/** A kernel once more, and the kernel that it is. Nothing is missing without it. */
const [PACKED, PLAIN] = ["agent/aarch64/vmlinuz.gz", "agent/aarch64/vmlinuz"];

/** Looks once at what there is. Throws a `Fault` (`MissingInput`) when the user's own folder is none. */
export async function bootCatalog({ assets, own, uefi = "grub" }: BootCatalogOptions): Promise<BootCatalog> {
  if (own !== undefined && !(await stat(own).catch(() => undefined))?.isDirectory())
    throw new Fault("MissingInput", own, "is no folder", { remedy: "name the folder that has your boot files" });

  const loaders = MACHINES.flatMap(({ chains }) => chains.flat());
  const kernels = AGENTS.flatMap((arch) => PARTS.map((part) => `agent/${arch}/${part}`));
  const paths = Object.fromEntries([
    ...loaders.map((name) => [name, join(assets, "boot", name)] as const),
    ...[...kernels, PACKED].map((name) => [name, join(assets, name)] as const),
  ]);
  const shipped = await existing(paths);
  const owned = own === undefined ? {} : await existing(pathsBelow(own, Object.keys(paths)));
  // Of the user's own kernel ours is no packed one.
  if (PLAIN in owned) delete shipped[PACKED];
  const has = (name: string): boolean => name in owned || name in shipped;

  const chosen = MACHINES.map((machines) => choose(machines, uefi, has));
  return {
    files: firstOf(...(own === undefined ? [] : [folderFiles(own)]), declaredFiles(shipped)),
    bootFiles: (base) => ({
      files: Object.fromEntries(
        chosen.flatMap(({ platform, first }) => (first === undefined ? [] : [[platform, first]])),
      ),
      urls: Object.fromEntries(
        chosen.flatMap(({ platform, first }) => (first === undefined ? [] : [[platform, `${base}/${first}`]])),
      ),
      script: `${base}/boot.ipxe`,
    }),
    signed: Object.fromEntries(
      MACHINES.flatMap(({ platform, chains: [[shim, grub]] }) =>
        grub !== undefined && has(shim) && has(grub) ? [[platform, { shim, grub }]] : [],
      ),
    ),
    missing: [
      ...chosen.flatMap(({ missing }) => missing),
      ...kernels
        .filter((name) => !has(name))
        .map((file) => ({ file, effect: withoutPart(file), remedy: "run `make agent`" })),
    ],
  };
}

/** `file`: `agent/x86_64/rest`. */
function withoutPart(file: string): string {
  const [, machine, part] = file.split("/");
  return part === "keys"
    ? `the agent on ${machine} machines makes no key, and is given no secrets`
    : `the agent can't be started on ${machine} machines`;
}

function choose(
  { platform, are, chains }: Machines,
  uefi: "grub" | "ipxe",
  has: (name: string) => boolean,
): { platform: string; first: string | undefined; missing: readonly MissingFile[] } {
  const order = uefi === "grub" ? chains : chains.toSorted((a, b) => a.length - b.length);
  const usable = order.find((chain) => chain.every(has));
  const effect = usable === undefined ? `${are} get nothing to boot` : `${are} get ${usable[0]} instead`;
  const missing = usable === order[0] ? [] : order[0]!.filter((name) => !has(name));
  const remedy = "run `make agent`, or give a folder that has it with --boot-files";
  return { platform, first: usable?.[0], missing: missing.map((name) => ({ file: `boot/${name}`, effect, remedy })) };
}

function pathsBelow(folder: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, join(folder, name)]));
}

/** Those whose path is a regular file. */
async function existing(paths: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const found = await Promise.all(
    Object.entries(paths).map(async ([name, path]) => {
      const is = await stat(path).catch(() => undefined);
      return is?.isFile() ? [[name, path] as const] : [];
    }),
  );
  return Object.fromEntries(found.flat());
}
