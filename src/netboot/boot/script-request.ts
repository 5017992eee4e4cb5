import { isMac, type Mac, parseMac } from "@slipway/base";
import type { BootingMachine } from "./machine.ts";

/** A request for one machine's script, as far as its URL describes it. */
export interface ScriptRequest {
  language: "ipxe" | "grub";
  /** As claimed. */
  mac: Mac;
  architecture: BootingMachine["architecture"];
  firmware: BootingMachine["firmware"];
  /** Hold the answer while there is nothing to do. */
  wait: boolean;
  /** GRUB reports that no disk has a loader at the usual place. */
  nothingOnDisk: boolean;
  /** The loader tries again: it could not start what it was given. */
  isAgain: boolean;
  /** The same request again, without what it reported: path and query. */
  again: string;
}

const MAX_URL = 512;

/** iPXE's `buildarch` and GRUB's `grub_cpu`. An iPXE for BIOS is built for 32 bits on every machine. */
const ARCHITECTURES: ReadonlyMap<string, BootingMachine["architecture"]> = new Map([
  ["i386", "x86_64"],
  ["x86_64", "x86_64"],
  ["arm64", "aarch64"],
]);

/** iPXE's `platform` and GRUB's `grub_platform`. */
const PLATFORMS: ReadonlyMap<string, BootingMachine["firmware"]> = new Map([
  ["pcbios", "bios"],
  ["pc", "bios"],
  ["efi", "uefi"],
]);

/** Reads `http://…/boot/52-54-00-12-34-56.ipxe?arch=x86_64&platform=efi`. Undefined for every other URL. */
export function parseScriptUrl(text: string): ScriptRequest | undefined {
  if (text.length > MAX_URL || !URL.canParse(text)) return undefined;
  const { pathname, searchParams } = new URL(text);
  const path = /^\/boot\/([0-9A-Fa-f:-]{12,17})\.(ipxe|grub)$/.exec(pathname);
  if (path === null || !isMac(path[1]!)) return undefined;
  const [arch, platform] = [searchParams.get("arch") ?? "", searchParams.get("platform") ?? ""];
  const [architecture, firmware] = [ARCHITECTURES.get(arch), PLATFORMS.get(platform)];
  if (architecture === undefined || firmware === undefined) return undefined;
  return {
    language: path[2] as ScriptRequest["language"],
    mac: parseMac(path[1]!),
    architecture,
    firmware,
    wait: searchParams.get("wait") === "1",
    nothingOnDisk: searchParams.get("disk") === "none",
    isAgain: searchParams.get("again") === "1",
    again: `${pathname}?arch=${arch}&platform=${platform}`,
  };
}
