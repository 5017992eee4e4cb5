import { ALPHANUMERIC, type Clock, type Random, text } from "@slipway/base";
import type { Firmware, Hardware, Powered, Progress } from "../hardware.ts";
import {
  DEFAULT_PROJECT,
  DEFAULT_TOKEN,
  type LatitudeSimOptions,
  REAL_TIMINGS,
  type SimProject,
  type Timings,
} from "./options.ts";

export type Status = "on" | "off" | "unknown" | "disk_erasing" | "deploying" | "failed_deployment" | "rescue_mode";

/** A server as the simulated cloud keeps it. */
export interface SimServer {
  id: string;
  label: string;
  hostname: string;
  plan: string;
  site: string;
  billing: string;
  operatingSystem: string;
  /** URL of the boot script; empty without iPXE. */
  ipxe: string;
  /** Id of its user data object. */
  userData: string | undefined;
  sshKeys: readonly string[];
  status: Status;
  locked: boolean;
  /** Given back; visible while its disks are erased. */
  leaving: boolean;
  createdAt: number;
  hardware: Hardware;
  /** What it runs by now: what the network gave it, or what is installed on its disk; undefined: it has no power. Outlives the process. */
  runs: "network" | "disk" | undefined;
  /** The power action that is under way: the status shows it only when it is done. */
  acting: "power_off" | "boot" | undefined;
  powered: Powered | undefined;
  /** What the machine itself said last. */
  progress: Progress | undefined;
}

export interface SimUserData {
  id: string;
  description: string;
  /** Base64. */
  content: string;
  createdAt: number;
  updatedAt: number;
}

export interface SimNetwork {
  id: string;
  vid: number;
  description: string;
  site: string;
  createdAt: number;
}

export interface SimAssignment {
  id: string;
  network: string;
  server: string;
  createdAt: number;
}

/** A server that was ordered, whatever became of it. */
export interface Purchase {
  id: string;
  hostname: string;
  plan: string;
  site: string;
  at: number;
}

/** All state of the simulated cloud. */
export class World {
  readonly clock: Clock;
  readonly firmware: Firmware;
  readonly timings: Timings;
  readonly faults: NonNullable<LatitudeSimOptions["faults"]>;
  readonly project: SimProject;
  readonly maxPageSize: number;
  readonly servers = new Map<string, SimServer>();
  readonly userData = new Map<string, SimUserData>();
  readonly networks = new Map<string, SimNetwork>();
  readonly assignments = new Map<string, SimAssignment>();
  readonly purchases: Purchase[] = [];
  /** Per `SITE/plan`; absent: plenty. */
  readonly stock: Map<string, number>;
  /** To be called after every change of what a snapshot holds. */
  readonly changed: () => void;
  token: string;
  /** How many servers were ever racked. */
  racked = 0;
  nextVid = 2000;
  readonly #random: Random;

  constructor(options: LatitudeSimOptions) {
    this.clock = options.clock;
    this.firmware = options.firmware;
    this.timings = { ...REAL_TIMINGS, ...options.timings };
    this.faults = options.faults ?? {};
    this.project = options.project ?? DEFAULT_PROJECT;
    this.maxPageSize = options.maxPageSize ?? 100;
    this.stock = new Map(Object.entries(options.stock ?? {}));
    this.changed = options.onChange ?? (() => {});
    this.token = options.token ?? DEFAULT_TOKEN;
    this.#random = options.random;
  }

  /** An id as the API makes them: `sv_` and thirteen characters. */
  newId(prefix: string): string {
    return `${prefix}_${text(this.#random, 13, ALPHANUMERIC)}`;
  }

  between([least, most]: readonly [number, number]): number {
    return least + this.#random.int(most - least + 1);
  }

  newVid(): number {
    return this.nextVid++;
  }

  /** A machine from the shelf, with two network cards. */
  rack(id: string, hostname: string, plan: string): Hardware {
    const number = ++this.racked;
    const hex = number.toString(16).padStart(6, "0").match(/../g)!.join(":");
    const [a, b, c] = [(number >> 16) & 0x7f, (number >> 8) & 0xff, number & 0xff];
    return {
      id,
      hostname,
      plan,
      serial: `LSH${String(number).padStart(7, "0")}`,
      nics: [
        { name: "eth0", mac: `02:1a:00:${hex}` },
        { name: "eth1", mac: `02:1a:01:${hex}` },
      ],
      publicIp: `45.${a}.${b}.${c}`,
      privateIp: `10.${a}.${b}.${c}`,
      firmware: "uefi",
      diskGiB: 480,
      reachable,
    };
  }
}

/** The public network stays, whatever virtual networks are added. */
export const reachable = (): boolean => true;
