import type { Mac } from "@slipway/base";

/** Who asks for something to boot, as far as the request shows. */
export interface BootingMachine {
  /** As its presence shows (`hosts/presence.ts`); in a foreign network behind routers, as claimed. */
  mac: Mac;
  address: string;
  architecture: "x86_64" | "aarch64";
  firmware: "bios" | "uefi";
}

/** Where the agent's kernel finds everything: what its command line is made of. */
export interface AgentBoot {
  /** Kernel and initramfs as the loader fetches them. */
  kernel: string;
  /** The same kernel packed by gzip, where that is shorter: for loaders that unpack it and whose firmware checks no signatures. It may be missing. */
  packedKernel?: string;
  initrd: string;
  /** What the agent's program reads, in order: `slipway.url=… slipway.pin=… slipway.boot=…` and the user's own. */
  commandLine: readonly string[];
}
