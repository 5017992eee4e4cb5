import type { Mac } from "@slipway/base";
import type { OwnBoot } from "../dhcp/boot.ts";
import type { Client } from "../dhcp/client.ts";
import type { Hosts } from "../hosts/hosts.ts";

/** No file has this name; it says in logs and on screens what it is for. */
const NOTHING = "boot-from-disk";

/** Machines that are remembered; of more, the oldest are tried once more by GRUB. */
const MOST = 10_000;

/**
 * How firmware gets to the disk of a machine that is not to boot from the network. There are two ways:
 *
 * - It is sent for a file that does not exist, gives up the network card and goes on as its own boot order says. That is never wrong,
 *   but slow where the order has more of the network first: a minute for each protocol that nobody answers.
 * - It gets GRUB as usual, which starts what is on the disk at once, if it lies at the usual place. Where it does not, GRUB can't hand
 *   back to the firmware (a loader that ends counts as a success, after which nothing else is tried), so the machine starts again.
 *
 * A machine that has reported to Slipway, whose disks Slipway writes, goes the second way, and the first one once that has failed; any
 * other goes the first way.
 */
export class DiskBoots {
  readonly #hosts: Pick<Hosts, "bootOf" | "get">;
  readonly #withoutLoader = new Set<Mac>();

  constructor(hosts: Pick<Hosts, "bootOf" | "get">) {
    this.#hosts = hosts;
  }

  /** What DHCP answers in place of the usual, if anything. `base` as for `BootCatalog.bootFiles`. */
  ownBoot({ mac, loader }: Pick<Client, "mac" | "loader">, base: string): OwnBoot | undefined {
    if (mac === undefined) return undefined;
    if (this.#hosts.bootOf(mac) !== "disk") {
      this.#withoutLoader.delete(mac);
      return undefined;
    }
    if (this.#hosts.get(mac)?.inventoryAt !== undefined && !this.#withoutLoader.has(mac)) return undefined;
    return { file: loader === "HTTPClient" ? `${base}/${NOTHING}` : NOTHING };
  }

  /** GRUB found nothing to start. True: the machine is to start again; false: it did already, without effect. */
  nothingFound(mac: Mac): boolean {
    if (this.#withoutLoader.has(mac)) return false;
    this.#withoutLoader.add(mac);
    if (this.#withoutLoader.size > MOST) this.#withoutLoader.delete(this.#withoutLoader.values().next().value!);
    return true;
  }
}
