import { fileOf } from "../files/memory.ts";
import type { Asker, FileSource } from "../files/source.ts";
import { grubScript } from "../grub/script.ts";
import { ipxeScript } from "../ipxe/script.ts";
import { firstGrubScript } from "./grub-scripts.ts";
import { firstIpxeScript } from "./ipxe-scripts.ts";

/** What iPXE is sent to. Newer ones look beside themselves for the second name before anything else. */
const IPXE: ReadonlySet<string> = new Set(["boot.ipxe", "autoexec.ipxe"]);

/** Where GRUB looks, below the folder that it was itself loaded from. */
const GRUB: ReadonlySet<string> = new Set(["grub/grub.cfg"]);

/**
 * The scripts that are the same for every machine and lead to its own, for TFTP and HTTP alike. `base` is where whoever asks reaches
 * the HTTP service: `http://192.0.2.1:8080`, without a slash at the end. It must be http: boot loaders know nobody's certificates.
 */
export function firstScripts(base: (asker: Asker) => string): FileSource {
  return {
    async open(name, asker) {
      const folded = name.toLowerCase();
      if (IPXE.has(folded)) return fileOf(Buffer.from(ipxeScript(firstIpxeScript(base(asker)))));
      if (GRUB.has(folded)) return fileOf(Buffer.from(grubScript(firstGrubScript(base(asker)))));
      return undefined;
    },
  };
}
