import type { OwnBoot } from "../dhcp/boot.ts";
import type { Client } from "../dhcp/client.ts";
import type { BootAction } from "../hosts/host.ts";

/** No file has this name; it says in logs and on screens what it is for. */
const NOTHING = "boot-from-disk";

/**
 * What DHCP answers in place of the usual. Firmware that is to go on to its disk is sent for a file that does not exist: it gives up
 * the network at once, whereas a loader that ends well is to many a success after which nothing else is tried. `base` as for
 * `BootCatalog.bootFiles`.
 */
export function ownBootOf(action: BootAction, base: string, { loader }: Pick<Client, "loader">): OwnBoot | undefined {
  if (action !== "disk") return undefined;
  return { file: loader === "HTTPClient" ? `${base}/${NOTHING}` : NOTHING };
}
