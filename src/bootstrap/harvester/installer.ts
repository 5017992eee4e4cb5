import { Fault } from "@slipway/base";
import type { Value } from "../../netboot/ipxe/script.ts";
import { harvesterConfig } from "./config.ts";
import type { HarvesterJoin } from "./join.ts";
import { kernelArguments } from "./kernel-arguments.ts";
import { artifactsOf } from "./version.ts";

const CONFIG = "config.yaml";
const ARCHITECTURES = { amd64: "x86_64", arm64: "aarch64" } as const;

/**
 * Harvester's installer for one host: kernel, initrd and arguments, for a loader that has no variables, so the host's cards must be known. Throws `Fault` (`Invalid`) for a join that the installer
 * would refuse, for a card that only iPXE knows, and for a host of another architecture than the ISO's.
 */
export function harvesterInstaller(
  join: HarvesterJoin,
  { architecture, folder }: { architecture: "x86_64" | "aarch64"; folder: string },
): { kernel: string; initrd: string; commandLine: readonly string[]; files: Readonly<Record<string, string>> } {
  const artifacts = artifactsOf(join);
  const made = ARCHITECTURES[artifacts.arch];
  if (made !== architecture)
    throw new Fault("Invalid", "harvester", `the profile is for ${made}, the host is ${architecture}`, {
      remedy: "name a profile for the host's architecture",
    });
  const files = { [CONFIG]: harvesterConfig(join, "bootScript") };
  // The loader names the initrd itself.
  const [, ...words] = kernelArguments(join, artifacts, { configUrl: folder + CONFIG });
  return { kernel: artifacts.kernel, initrd: artifacts.initrd, commandLine: words.map(literal), files };
}

/** The installer reads a word in quotes as the word (`cmdline.go`), and GRUB has no way to pass quotes on. */
function literal(word: Value): string {
  const parts = typeof word === "string" || "setting" in word ? [word] : word;
  const text = parts.map((part) => {
    if (typeof part === "string") return part;
    throw new Fault("Invalid", "kernel arguments", "a card must be known by its address");
  });
  return text.join("").replaceAll('"', "");
}
