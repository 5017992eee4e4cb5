import { type Clock, Fault } from "@slipway/base";
import type { Asker, FileSource, OpenFile } from "../files/source.ts";
import { openOrder } from "../hosts/host.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { type Presences, speaksFor } from "../hosts/presence.ts";
import type { Capabilities } from "./boot-capability.ts";

export interface PrivateFilesPorts {
  hosts: Hosts;
  capabilities: Capabilities;
  presences: Presences;
  clock: Pick<Clock, "now">;
  /** An address is good for no longer, whatever becomes of its order; a day by default. */
  goodForMs?: number;
}

const DAY_MS = 86_400_000;

/**
 * Files for one machine, while an order of it needs them: its user data, its image. `/private/CAPABILITY/ORDER/NAME` is answered when the
 * capability is the machine's, the order has no result yet and the asker is where the machine's agent registered, which is trusted. Everything else is as
 * if it did not exist. What is offered is held in memory: after a restart the giver of the order offers the same again, and
 * the addresses that the machine has are good as before.
 */
export class PrivateFiles implements FileSource {
  readonly #ports: PrivateFilesPorts;
  /** The last offer to each host. */
  readonly #offers = new Map<string, { order: string; files: FileSource }>();
  readonly #stop: () => void;

  constructor(ports: PrivateFilesPorts) {
    this.#ports = ports;
    this.#stop = ports.hosts.onChange((change) => {
      if (change.is === "gone") this.#offers.delete(change.name);
      else if (openOrder(change.host) === undefined) this.#offers.delete(change.host.name);
    });
  }

  /**
   * Offers files to a host for one order of it, in the place of what it was offered before. Returns what turns a file's name into its path
   * on this server; who has the path has the file, so it goes into the order and nowhere else. Throws a `Fault` (`NotFound`).
   */
  offer(nameOrMac: string, order: string, files: FileSource): (name: string) => string {
    const { hosts, capabilities, clock, goodForMs = DAY_MS } = this.#ports;
    const host = hosts.get(nameOrMac);
    if (host === undefined) throw new Fault("NotFound", nameOrMac.slice(0, 64), "no such host was seen");
    this.#offers.set(host.name, { order, files });
    const until = clock.now() + goodForMs;
    const capability = capabilities.grant({ mac: host.mac, to: `private:${order}`, until });
    return (name) => `/private/${capability}/${order}/${name.split("/").map(encodeURIComponent).join("/")}`;
  }

  async open(name: string, asker: Asker): Promise<OpenFile | undefined> {
    const [, capability, order, file] = /^private\/([\w-]+)\/([\w-]+)\/(.+)$/.exec(name) ?? [];
    if (capability === undefined || order === undefined || file === undefined) return undefined;
    const { hosts, capabilities, presences } = this.#ports;
    const proven = capabilities.check(capability, `private:${order}`);
    const host = proven === undefined ? undefined : hosts.get(proven.mac);
    if (host === undefined || !hosts.isOpen(host.name, order)) return undefined;
    const offer = this.#offers.get(host.name);
    if (offer?.order !== order) return undefined;
    if (hosts.standing(host.name).trust === "discovered") return undefined;
    if (!speaksFor(presences.of(asker.address), host.session)) return undefined;
    return offer.files.open(file, asker);
  }

  /** Offers nothing any more. */
  close(): void {
    this.#stop();
    this.#offers.clear();
  }
}
