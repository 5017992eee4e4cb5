/** The provisioning network of simulated servers: netboot's own hosts, capabilities and agent protocol, without sockets. SIMULATION. */
import {
  type Clock,
  Fault,
  type HttpHandler,
  type Log,
  type Mac,
  plain,
  quietLog,
  type Random,
  uuid,
} from "@slipway/base";
import type { Machines } from "../../inventory/hosts/machines.ts";
import { agentHandler } from "../../netboot/agent/handler.ts";
import { mediaUrl } from "../../netboot/boot/agent-media.ts";
import { askedUrl } from "../../netboot/boot/asked-files.ts";
import { AskedBoots, BOOT_VALUE } from "../../netboot/hosts/asked-boots.ts";
import { openHostStore } from "../../netboot/hosts/host-store.ts";
import { Hosts, type HostsOptions } from "../../netboot/hosts/hosts.ts";
import type { Presences } from "../../netboot/hosts/presence.ts";
import type { TrustSetting } from "../../netboot/hosts/trust.ts";
import { Capabilities } from "../../netboot/http/boot-capability.ts";
import { Installers } from "../../netboot/http/installers.ts";
import { PrivateFiles } from "../../netboot/http/private-files.ts";
import { Images } from "../../netboot/images/images.ts";
import { HostLogs } from "../../netboot/logs/host-logs.ts";
import { giveOrder } from "../../netboot/service/give-order.ts";
import type { Netboot } from "../../netboot/service/service.ts";
import { opened } from "./server-key.ts";
import type { BootNetwork, NetworkBoot, SimImage } from "./server-parts.ts";

const BOOT_MS = 60 * 60_000;
const SHOWN = new RegExp(BOOT_VALUE);
const URL = "http://netboot.invalid";

export interface ProvisioningOptions {
  clock: Clock;
  random: Random;
  /** Where hosts are kept, and images: a folder that outlives what is made of it. */
  hostsFile?: string;
  /** Where images are converted. */
  imagesFolder?: string;
  /** Default: `approved`. */
  trust?: TrustSetting;
  /** Whether a cluster says of each host what it knows. Default: it does. */
  hasCluster?: boolean;
  /** Authorities of TPMs. Unset: none is asked for. */
  makers?: HostsOptions["makers"];
  log?: Log;
}

/** Netboot for simulated servers, as one process has it: another begins where it ended. */
export class Provisioning {
  readonly hosts: Hosts;
  readonly machines: Machines;
  readonly #capabilities: Capabilities;
  readonly #asked: AskedBoots;
  readonly #files: PrivateFiles;
  readonly #images: Images;
  readonly #installers: Installers;
  readonly #agents: HttpHandler;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #aside: <T>(work: Promise<T>) => Promise<T>;

  constructor(
    {
      clock,
      random,
      hostsFile = ":memory:",
      imagesFolder = "/nonexistent",
      trust = "approved",
      hasCluster = true,
      makers,
      log = quietLog,
    }: ProvisioningOptions,
    { places, aside }: Pick<ProvisioningNetwork, "places" | "aside">,
  ) {
    this.#aside = aside;
    this.#clock = clock;
    this.#random = random;
    this.hosts = new Hosts({ store: openHostStore(hostsFile), clock, random, trust, hasCluster, makers });
    const asked = new AskedBoots(clock, random);
    this.#asked = asked;
    this.#capabilities = new Capabilities(new Uint8Array(32), clock);
    const presences: Presences = {
      of(address) {
        const mac = places.get(address);
        if (mac === undefined) return { is: "refused", address, because: "it has no lease" };
        return { is: "proven", mac, address };
      },
    };
    const { hosts } = this;
    this.#files = new PrivateFiles({ hosts, capabilities: this.#capabilities, presences, clock });
    this.#images = new Images({ folder: imagesFolder, clock });
    this.#installers = new Installers({ hosts, capabilities: this.#capabilities, presences, clock, url: URL });
    this.#agents = agentHandler({ hosts, capabilities: this.#capabilities, asked, presences, clock, random, log });
    const ports = { hosts, files: this.#files, images: this.#images, url: URL };
    this.machines = {
      isServing: () => true,
      get: (nameOrMac) => hosts.get(nameOrMac),
      onChange: (listener) => hosts.onChange(listener),
      standing: (name) => hosts.standing(name),
      setBoot: (name, boot) => hosts.setBoot(name, boot),
      install: (name, id, make) => this.#installers.give(name, id, make),
      endInstall: (name, id, result) => void hosts.installs.end(name, id, result),
      askBoot: (mac) => askedUrl(`${URL}/shimx64.efi`, asked.ask(mac)),
      askMedia: (mac) => mediaUrl(URL, asked.ask(mac), "x64"),
      endAskedBoot: (mac) => asked.end(mac),
      forget: (name) => void hosts.forget(name),
      order: (name, wanted, id) => this.#aside(giveOrder(name, wanted, ports, id)),
    };
  }

  /** Answers a firmware, as the boot scripts do. */
  boot(mac: Mac, address: string, uri = ""): NetworkBoot {
    const value = SHOWN.exec(uri)?.[0];
    if (value !== undefined) this.#asked.shown(mac, value, address);
    this.hosts.seen({ mac, address, architecture: "x86_64", firmware: "uefi" });
    let boot = this.hosts.bootOf(mac);
    if (boot === "installer") {
      const start = this.#installers.startOf(mac, "ipxe");
      if (start !== undefined) return { is: "installer", start };
      boot = this.hosts.bootOf(mac);
    }
    if (boot === "disk") return { is: "disk" };
    if (boot !== "agent") return { is: "nothing" };
    const until = this.#clock.now() + BOOT_MS;
    const capability = this.#capabilities.grant({ mac, address, to: "agent", until });
    this.#asked.granted(mac, address, capability);
    return { is: "agent", capability };
  }

  agents: HttpHandler = (request) => this.#agents(request);

  /** What is offered to the machine at this address alone, and encrypted to its agent's key. */
  async file(url: string, address: string): Promise<string> {
    const name = url
      .slice(URL.length + 1)
      .split("/")
      .map(decodeURIComponent)
      .join("/");
    const file = await this.#files.open(name, { address });
    if (file === undefined) throw new Fault("NotFound", url, "no such file is offered");
    try {
      return await opened(await file.read(0, file.size));
    } finally {
      await file.close();
    }
  }

  /** As the system that is led has it. */
  asNetboot(): Netboot {
    const { hosts, machines } = this;
    return {
      ...{
        hosts,
        logs: new HostLogs({ hosts }),
        files: this.#files,
        installers: this.#installers,
        url: URL,
        agentUrl: URL,
        missing: [],
      },
      askBoot: machines.askBoot,
      askMedia: machines.askMedia,
      endAskedBoot: machines.endAskedBoot,
      order: (name, wanted, id = uuid(this.#random)) => machines.order(name, wanted, id),
      close: () => this.close(),
    };
  }

  /** The files of installers, and where they report. */
  installers: HttpHandler = (request) => this.#installers.handler(request);

  async close(): Promise<void> {
    this.#files.close();
    this.#installers.close();
    this.hosts.close();
    await this.#images.close();
  }
}

/** The network that servers see, whichever process serves it; none at times. */
export class ProvisioningNetwork implements BootNetwork {
  serving: Provisioning | undefined;
  /** Whether the process that serves lives. */
  isAlive: () => boolean = () => true;
  readonly #addresses = new Map<Mac, string>();
  readonly #asides = new Set<Promise<void>>();
  /** Cards by address. */
  readonly places = new Map<string, Mac>();

  /** What lies on other web servers, by its address. */
  readonly pages = new Map<string, string>();
  /** Images on them of which more is known than their address. */
  readonly images = new Map<string, SimImage>();

  /** A card's place in the network. */
  plug(mac: Mac, address: string): void {
    this.#addresses.set(mac, address);
    this.places.set(address, mac);
  }

  async boot(mac: Mac, uri?: string): Promise<NetworkBoot> {
    return this.#current().boot(mac, this.#addresses.get(mac)!, uri);
  }

  agents: HttpHandler = (request) => this.#current().agents(request);

  file = (url: string, address: string): Promise<string> => this.aside(this.#current().file(url, address));

  image = (url: string): SimImage | undefined => this.images.get(url);

  /** Work that threads may have a part in, which virtual time must not leave behind. */
  aside = async <T>(work: Promise<T>): Promise<T> => {
    const end = work.then(
      () => {},
      () => {},
    );
    this.#asides.add(end);
    try {
      return await work;
    } finally {
      this.#asides.delete(end);
    }
  };

  /** The end of some of that work; undefined: there is none. */
  outside(): Promise<void> | undefined {
    const [first] = this.#asides;
    return first;
  }

  web: HttpHandler = async (request) => {
    if (request.url.startsWith(`${URL}/`)) return this.#current().installers(request);
    const page = this.pages.get(request.url);
    return plain(page === undefined ? 404 : 200, page ?? "");
  };

  #current(): Provisioning {
    if (this.serving === undefined || !this.isAlive()) throw new Fault("Unavailable", "netboot", "nobody answers");
    return this.serving;
  }
}
