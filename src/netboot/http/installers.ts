import { type Clock, Fault, type HttpAnswer, type HttpHandler, type Mac, plain } from "@slipway/base";
import { type GivenInstall, type Host, openInstall } from "../hosts/host.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { cardOf, type Presences } from "../hosts/presence.ts";
import type { Capabilities } from "./boot-capability.ts";

/** What the loader starts: a kernel, or a script of the user's own for iPXE. */
export type InstallerStart =
  | { is: "kernel"; kernel: string; initrd: string; commandLine: readonly string[] }
  /** `settings`: set in iPXE before the script is fetched, which may refer to them. */
  | { is: "script"; url: string; settings: Readonly<Record<string, string>> };

/** What a machine is given to install itself. */
export interface InstallOffer {
  start: InstallerStart;
  /** By name. They may hold secrets. */
  files: Readonly<Record<string, string>>;
  /** Whether it reports its end. */
  reports: boolean;
  /** The address that it gives itself, where it asks for no lease. */
  address?: string;
}

/** Where one installation finds its files and reports its end. Who knows them may do both, from where the machine is. */
export interface InstallUrls {
  /** With its final slash. */
  folder: string;
  succeeded: string;
  failed: string;
}

export interface InstallersPorts {
  hosts: Hosts;
  capabilities: Capabilities;
  presences: Presences;
  clock: Pick<Clock, "now">;
  /** Where machines reach this server: `http://10.20.0.1:8080`. */
  url: string;
}

export const INSTALL_PATH = "/install/";

/** An address is good for no longer, whatever becomes of its installation. */
const GOOD_FOR_MS = 86_400_000;
const MOST_MESSAGE = 256;
const WENT_ON = "it was given its script, and started anew";
const AGAIN = "the machine started from the network again, before its installer had reported an end";

interface Offered extends InstallOffer {
  id: string;
}

interface Visit {
  host: Host;
  install: GivenInstall;
  offered: Offered;
}

/**
 * Installers of single machines: what starts them, the files that they fetch, and where they report their end. Everything below
 * `/install/CAPABILITY/ID/` is for the machine that was given the installation ID, until that has ended; each file once. It is held in
 * memory: after a restart who gave the installation gives the same again, and the addresses that the machine has are good as before.
 */
export class Installers {
  readonly #ports: InstallersPorts;
  /** The last offer to each host. */
  readonly #offers = new Map<string, Offered>();
  readonly #stop: () => void;

  constructor(ports: InstallersPorts) {
    this.#ports = ports;
    this.#stop = ports.hosts.onChange((change) => {
      if (change.is === "gone") this.#offers.delete(change.name);
      else if (openInstall(change.host) === undefined) this.#offers.delete(change.host.name);
    });
  }

  /**
   * Has a host start an installer from the network, once; with an id that it has already, the same is offered anew and nothing else changes.
   * `make` writes what it is given, with the addresses of this installation in it. Throws a `Fault`: `NotFound`, `Forbidden`, what `make` throws.
   */
  give(nameOrMac: string, id: string, make: (urls: InstallUrls) => InstallOffer): void {
    const { hosts, capabilities, clock, url } = this.#ports;
    const host = hosts.get(nameOrMac);
    if (host === undefined) throw new Fault("NotFound", nameOrMac.slice(0, 64), "no such host was seen");
    const until = clock.now() + GOOD_FOR_MS;
    const capability = capabilities.grant({ mac: host.mac, to: scopeOf(id), until });
    const folder = `${url}${INSTALL_PATH}${capability}/${id}/`;
    const offer = make({ folder, succeeded: `${folder}succeeded`, failed: `${folder}failed` });
    const { reports, address, files } = offer;
    const wanted = { id, reports, hasFiles: Object.keys(files).length > 0, ...(address !== undefined && { address }) };
    const before = this.#offers.get(host.name);
    // Who waits for it is woken by what follows.
    this.#offers.set(host.name, { ...offer, id });
    try {
      hosts.installs.give(host.name, wanted);
    } catch (error) {
      if (before === undefined) this.#offers.delete(host.name);
      else this.#offers.set(host.name, before);
      throw error;
    }
  }

  /** Whether what starts the machine's installer is known. */
  isReady(mac: Mac): boolean {
    const host = this.#ports.hosts.get(mac);
    return host !== undefined && this.#offers.get(host.name)?.id === openInstall(host)?.id;
  }

  /**
   * What starts the installer of the machine whose loader, which speaks `language`, asks now; undefined: nothing yet, or it has ended. A machine that
   * asks again after its installer has fetched something was started anew: its installation has failed where it was to report its end, and else
   * has ended. So has one by a script of the user's own, once the machine asks for the first time in another boot; `isAgain`: its loader only tries again.
   */
  startOf(mac: Mac, language: "ipxe" | "grub", isAgain = false): InstallerStart | undefined {
    const { hosts } = this.#ports;
    const host = hosts.get(mac);
    const install = host && openInstall(host);
    if (host === undefined || install === undefined || hosts.installs.open(host.name, install.id) === undefined)
      return undefined;
    const { id, fetched = {}, reports, hasFiles, servedAt } = install;
    const isAnew = hasFiles ? Object.keys(fetched).length > 0 : servedAt !== undefined && !isAgain;
    if (!reports && isAnew) return void hosts.installs.end(host.name, id, { ok: true, message: WENT_ON });
    const fail = (message: string): undefined => void hosts.installs.end(host.name, id, { ok: false, message });
    if (Object.keys(fetched).length > 0) return fail(AGAIN);
    const offered = this.#offers.get(host.name);
    if (offered?.id !== id) return undefined;
    const { start } = offered;
    const secure = language === "grub" ? secureUrlOf(start) : undefined;
    if (secure !== undefined)
      return fail(`GRUB, which starts UEFI machines, fetches by http alone: ${secure} is https`);
    // A script is given by iPXE, which GRUB starts first.
    if (language === "ipxe" || start.is === "kernel") hosts.installs.served(host.name, id);
    return start;
  }

  /** Answers `/install/…`: 200 with a file, 410 when it was given before, 204 for a report; 404 for everything else. */
  handler: HttpHandler = async ({ method, url, remote, body = "" }) => {
    const [, capability = "", id = "", name = ""] = parse(url) ?? [];
    const host = this.#hostOf(capability, id);
    if (host === undefined) return unknown();
    const isReport = name === "succeeded" || name === "failed";
    const allowed = isReport ? ["POST", "PUT"] : ["GET", "HEAD"];
    if (!allowed.includes(method)) return text(405, "method not allowed\n", { allow: allowed.join(", ") });
    // A repeated report is a lost answer, not news.
    if (isReport && host.install?.id === id && host.install.result !== undefined) return text(204, "");
    const visit = this.#visitOf(host, id);
    if (visit === undefined || !this.#isAt(visit, remote)) return unknown();
    return isReport ? this.#ended(visit, name, oneLine(body, capability)) : this.#file(visit, name, { method, remote });
  };

  #ended({ host, install }: Visit, name: "succeeded" | "failed", said: string): HttpAnswer {
    const ok = name === "succeeded";
    const message = `the installer reports that it has ${ok ? "ended" : "failed"}${said === "" ? "" : `: ${said}`}`;
    this.#ports.hosts.installs.end(host.name, install.id, { ok, message });
    return text(204, "");
  }

  #file({ host, install, offered }: Visit, name: string, from: { method: string; remote: string }): HttpAnswer {
    const { installs } = this.#ports.hosts;
    const file = Object.hasOwn(offered.files, name) ? offered.files[name] : undefined;
    if (file === undefined) return unknown();
    if (from.method === "HEAD") return text(200, "");
    if (installs.fetch(host.name, install.id, name, from.remote)) return text(200, file);
    installs.refuse(host.name, `${name} of its installer was asked for once more, at ${from.remote}`);
    return text(410, "gone\n");
  }

  /** Offers nothing any more. */
  close(): void {
    this.#stop();
    this.#offers.clear();
  }

  #hostOf(capability: string, id: string): Host | undefined {
    const { capabilities, hosts } = this.#ports;
    const proven = capabilities.check(capability, scopeOf(id));
    return proven && hosts.get(proven.mac);
  }

  #visitOf(host: Host, id: string): Visit | undefined {
    const install = this.#ports.hosts.installs.open(host.name, id);
    const offered = this.#offers.get(host.name);
    return install === undefined || offered?.id !== id ? undefined : { host, install, offered };
  }

  /** Whether the machine speaks from this address: a card of its is there, or it is the address that its installer was given. */
  #isAt({ host, install }: Visit, remote: string): boolean {
    const presence = this.#ports.presences.of(remote);
    const card = cardOf(presence);
    const isOurs = (mac: Mac | undefined): boolean => mac !== undefined && host.macs.includes(mac);
    const { address } = presence;
    const at = presence.is === "refused" && address === install.address ? presence.unleased : undefined;
    const isThere = at !== undefined && (at.neighbour === undefined || isOurs(at.neighbour));
    // A foreign DHCP server's clients behind a router show no card; the capability is all there is.
    const isUnshown = presence.is === "foreign" && card === undefined;
    if (isOurs(card) || isThere || isUnshown) return true;
    const { installs } = this.#ports.hosts;
    installs.refuse(host.name, `${address} speaks of its installation, and is not shown to be the machine`);
    return false;
  }
}

/** What a capability for one installation is granted to. */
export function scopeOf(id: string): string {
  return `install:${id}`;
}

function parse(url: string): readonly (string | undefined)[] | undefined {
  const path = URL.parse(url, "http://path.invalid")?.pathname ?? "";
  return /^\/install\/([\w-]{1,512})\/([\w-]{1,64})\/([\w.-]{1,64})$/.exec(path) ?? undefined;
}

/** A URL that the loader itself fetches by https, without what may be secret in it. */
function secureUrlOf(start: InstallerStart): string | undefined {
  if (start.is !== "kernel") return undefined;
  if (start.kernel.startsWith("https:")) return "the kernel";
  return start.initrd.startsWith("https:") ? "the initrd" : undefined;
}

/** What an installer says ends up in events and statuses: one line, bounded, printable, without the capability. */
function oneLine(body: string, capability: string): string {
  return body
    .replaceAll(capability, "[redacted]")
    .slice(0, 4 * MOST_MESSAGE)
    .replace(/[^\x21-\x7e]+/g, " ")
    .trim()
    .slice(0, MOST_MESSAGE);
}

function unknown(): HttpAnswer {
  return text(404, "not found\n");
}

function text(status: number, body: string, headers: Record<string, string> = {}): HttpAnswer {
  return plain(status, body, { "cache-control": "no-store", ...headers });
}
