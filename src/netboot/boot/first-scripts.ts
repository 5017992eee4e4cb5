import { fileOf } from "../files/memory.ts";
import type { Asker, FileSource } from "../files/source.ts";
import { grubScript } from "../grub/script.ts";
import { ipxeScript } from "../ipxe/script.ts";
import { firstGrubScript } from "./grub-scripts.ts";
import { firstIpxeScript } from "./ipxe-scripts.ts";

const SCRIPTS: ReadonlyMap<string, (base: string) => string> = new Map([
  /** What DHCP sends iPXE to. */
  ["boot.ipxe", (base) => ipxeScript(firstIpxeScript(base, { withoutAddress: false }))],
  /** What newer iPXE looks for beside itself before anything else. */
  ["autoexec.ipxe", (base) => ipxeScript(firstIpxeScript(base, { withoutAddress: true }))],
  /** Where GRUB looks, below the folder that it was itself loaded from. */
  ["grub/grub.cfg", (base) => grubScript(firstGrubScript(base))],
]);

/**
 * The scripts that are the same for every machine and lead to its own, for TFTP and HTTP alike. `base` is where the asker reaches
 * the HTTP service: `http://192.0.2.1:8080`, without a slash at the end. It must be http: boot loaders trust no certificate authority.
 */
export function firstScripts(base: (asker: Asker) => string): FileSource {
  return {
    async open(name, asker) {
      const written = SCRIPTS.get(name.toLowerCase());
      return written && fileOf(Buffer.from(written(base(asker))));
    },
  };
}
