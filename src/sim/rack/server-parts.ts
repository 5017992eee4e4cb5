/** What a simulated server is made of. SIMULATION. */
import type { Clock, HttpHandler, Mac, Random } from "@slipway/base";
import type { InstallerStart } from "../../netboot/http/installers.ts";
import type { Disk } from "../../netboot/protocol/messages.ts";

/** What lies on a disk: nothing, or what was written. */
export interface Content {
  /** The image, by its address. */
  image: string;
  /** First-boot data, by file name. */
  data: Readonly<Record<string, string>>;
}

export interface SimDisk {
  readonly facts: Disk;
  content: Content | undefined;
}

/** How a machine is answered when its firmware asks the network. `agent`: with the capability that its agent registers by. */
export type NetworkBoot =
  | { is: "agent"; capability: string }
  | { is: "installer"; start: InstallerStart }
  | { is: "disk" }
  | { is: "nothing" };

/** The network that servers are started from. */
export interface BootNetwork {
  /** What a machine's firmware gets to boot. `uri`: the address that its BMC has set for HTTP boot. Rejects while nobody serves. */
  boot(mac: Mac, uri?: string): Promise<NetworkBoot>;
  /** The server's side of the agent's protocol. */
  agents: HttpHandler;
  /** A file that is offered to the machine at this address alone, as its agent reads it; rejects where there is none. */
  file(url: string, address: string): Promise<string>;
  /** Everything else that a machine reaches; rejects where nobody answers. */
  web: HttpHandler;
  /** What is known of an image at this address; undefined: it is whatever is ordered, and fits everywhere. */
  image?(url: string): SimImage | undefined;
}

/** An image as a web server has it. */
export interface SimImage {
  bytes?: number;
  /** Its checksum, of whatever kind is ordered. */
  checksum?: string;
}

/** What goes wrong in a server. Each is asked when it would happen. */
export interface ServerFaults {
  /** The power goes while the agent carries an order out. */
  powerCut(order: string): boolean;
  /** The order ends with this message, and `ok: false`. */
  failure(order: string): string | undefined;
  /** Nothing is reported of it, whatever came of it. */
  mute(order: string): boolean;
  /** The proof of a wipe leaves this disk out. */
  silentAbout(disk: string): boolean;
}

/** Nothing goes wrong. */
export const SOUND: ServerFaults = {
  powerCut: () => false,
  failure: () => undefined,
  mute: () => false,
  silentAbout: () => false,
};

/** How long things take, in ms. */
export interface ServerTimings {
  /** From power-on until the firmware asks for something to start. */
  firmware: number;
  /** From there until the agent registers. */
  agent: number;
  /** From there until the system on the disk runs. */
  system: number;
  wipe: number;
  write: number;
}

export const USUAL_TIMINGS: ServerTimings = {
  firmware: 40_000,
  agent: 20_000,
  system: 30_000,
  wipe: 5_000,
  write: 20_000,
};
/** Everything at once, so that what is left is Slipway's own work. */
export const NO_SERVER_TIMINGS: ServerTimings = { firmware: 0, agent: 0, system: 0, wipe: 0, write: 0 };

/** A server as the agent on it sees it. */
export interface AgentMachine {
  readonly name: string;
  readonly mac: Mac;
  readonly macs: readonly Mac[];
  readonly address: string;
  readonly disks: readonly SimDisk[];
  readonly clock: Clock;
  readonly random: Random;
  readonly network: BootNetwork;
  readonly faults: ServerFaults;
  readonly timings: ServerTimings;
  /** Cuts its power, and switches it on again. */
  restart(): void;
}
