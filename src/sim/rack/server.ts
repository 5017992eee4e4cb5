import type { Clock, Mac, Random, Timer } from "@slipway/base";
import type { FirmwareSetting } from "../../inventory/bmc/bmc.ts";
import { BOOT_VALUE } from "../../netboot/hosts/asked-boots.ts";
import type { InstallerStart } from "../../netboot/http/installers.ts";
import type { Disk } from "../../netboot/protocol/messages.ts";
import type { Firmware } from "../hardware.ts";
import { runAgent } from "./server-agent.ts";
import { INSTALLED, ServerGuest } from "./server-guest.ts";
import { runInstaller } from "./server-installer.ts";
import {
  type AgentMachine,
  type BootNetwork,
  type Content,
  type ServerFaults,
  type ServerTimings,
  type SimDisk,
  SOUND,
  USUAL_TIMINGS,
} from "./server-parts.ts";

export interface ServerOptions {
  name: string;
  mac: Mac;
  /** Further cards. */
  macs?: readonly Mac[];
  /** On the provisioning network. */
  address: string;
  disks?: readonly Pick<Disk, "name" | "bytes">[];
  clock: Clock;
  random: Random;
  network: BootNetwork;
  faults?: ServerFaults;
  timings?: ServerTimings;
  /** Runs what users' scripts start. Unset: such a script ends at once. */
  firmware?: Firmware;
}

/** What a server boots from. */
export type SimDevice = "network" | "disk" | "media";

/** What runs on a server: its firmware, Slipway's agent, an installer, or the system on a disk. */
export type Running = { is: "firmware" } | { is: "agent" } | { is: "installer" } | { is: "system"; image: string };

const AGENT_CD = new RegExp(`/once/${BOOT_VALUE}/agent-\\w+\\.iso$`);

/** Where cloud-init in the system on a disk finds its data: its settings name the address, or its user data include those at that address. */
function seedUrlOn({ data }: Content): string | undefined {
  const address = /seedfrom: \\*"(https?:[^"\\\s]+)|^#include\n(https?:\S+\/)user-data$/m;
  return Object.values(data)
    .flatMap((text) => address.exec(text)?.slice(1) ?? [])
    .find((url) => url !== undefined);
}

/** Whether a kernel is a system in memory, and no installer: it asks for its data as cloud-init does. */
const isLive = (commandLine: readonly string[]): boolean =>
  !commandLine.includes("autoinstall") && commandLine.some((word) => word.startsWith("ds=nocloud;s="));

/** A firmware that found nothing to start tries again. */
const RETRY_MS = 10_000;

/**
 * A simulated server: power, firmware with a boot order, disks that hold what was written to them, and, once it was started from the
 * network, an agent that speaks the real protocol. SIMULATION: nothing here touches a real machine.
 */
export class SimServer implements AgentMachine {
  readonly name: string;
  readonly mac: Mac;
  readonly macs: readonly Mac[];
  readonly address: string;
  readonly disks: readonly SimDisk[];
  readonly random: Random;
  readonly clock: Clock;
  readonly network: BootNetwork;
  faults: ServerFaults;
  readonly timings: ServerTimings;
  /** Undefined: it is off. */
  running: Running | undefined;
  /** The device of the next boot alone. */
  bootOnce: SimDevice | undefined;
  /** What the next boot from the network fetches, where its BMC says so. */
  bootUri: string | undefined;
  /** The device of every boot. */
  bootFirst: SimDevice = "network";
  /** What is in its virtual drive. */
  media: string | undefined;
  /** As its BMC shows them. */
  firmwareSettings: readonly FirmwareSetting[] = [];
  /** How often it was switched on. */
  starts = 0;
  readonly #guest: ServerGuest | undefined;
  #power: AbortController | undefined;
  #timer: Timer | undefined;

  constructor({
    name,
    mac,
    macs = [],
    address,
    disks,
    clock,
    random,
    network,
    faults = SOUND,
    timings = USUAL_TIMINGS,
    firmware,
  }: ServerOptions) {
    this.name = name;
    this.mac = mac;
    this.macs = [mac, ...macs];
    this.address = address;
    this.disks = (disks ?? [{ name: "/dev/nvme0n1", bytes: 480e9 }]).map((disk) => ({
      facts: {
        byId: [`${name}-${disk.name.slice(5)}`],
        rotational: false,
        readOnly: false,
        logicalBlock: 512,
        ...disk,
      },
      content: undefined,
    }));
    this.clock = clock;
    this.random = random;
    this.network = network;
    this.faults = faults;
    this.timings = timings;
    this.#guest = firmware && new ServerGuest(firmware, this);
  }

  get isOn(): boolean {
    return this.#power !== undefined;
  }

  /** Switches it on; nothing if it is. */
  on(): void {
    if (this.#power !== undefined) return;
    this.#power = new AbortController();
    this.starts++;
    this.#start();
  }

  /** Cuts its power: whatever it was doing ends. */
  off(): void {
    this.#power?.abort();
    this.#power = undefined;
    this.#timer?.cancel();
    this.#guest?.off();
    this.running = undefined;
  }

  /** Its disk was written by what a user's script had started, which now starts it again. */
  installed(): void {
    this.disks[0]!.content = { image: INSTALLED, data: {} };
    this.restart();
  }

  /** Starts again, as a system does that was asked to. */
  restart(): void {
    this.off();
    this.on();
  }

  #start(): void {
    this.running = { is: "firmware" };
    const signal = this.#power!.signal;
    const device = this.bootOnce ?? this.bootFirst;
    const uri = this.bootUri;
    this.bootOnce = undefined;
    this.bootUri = undefined;
    this.#after(this.timings.firmware, () => {
      if (device === "media") this.#fromMedia(signal);
      else if (device === "disk") this.#fromDisk();
      else this.#fromNetwork(signal, uri);
    });
  }

  #fromNetwork(signal: AbortSignal, uri?: string): void {
    this.network.boot(this.mac, uri).then(
      (boot) => {
        if (signal.aborted) return;
        if (boot.is === "agent") this.#after(this.timings.agent, () => this.#agent(boot.capability, signal));
        else if (boot.is === "installer") this.#after(this.timings.agent, () => this.#install(boot.start, signal));
        else if (boot.is === "disk") this.#fromDisk();
        else this.#again();
      },
      () => {
        if (!signal.aborted) this.#again();
      },
    );
  }

  #agent(capability: string, signal: AbortSignal): void {
    this.running = { is: "agent" };
    void runAgent(this, capability, signal).then((end) => {
      if (signal.aborted) return;
      if (end === "reboot") this.restart();
      else this.off();
    });
  }

  #install(start: InstallerStart, signal: AbortSignal): void {
    this.running = { is: "installer" };
    if (start.is === "script" && this.#guest !== undefined) {
      this.#guest.fromScript(start.url, start.settings);
      return;
    }
    if (start.is === "kernel" && this.#guest !== undefined && isLive(start.commandLine)) {
      this.running = { is: "system", image: start.kernel };
      this.#guest.fromKernel(start.kernel, start.commandLine.join(" "));
      return;
    }
    runInstaller(this, start, signal).then(
      (end) => {
        if (signal.aborted) return;
        if (end === "reboot") this.restart();
        else if (end === "again") this.#again();
      },
      () => {},
    );
  }

  /** The CD that starts the agent goes on by the network; every other image is a system. */
  #fromMedia(signal: AbortSignal): void {
    if (this.media !== undefined && AGENT_CD.test(this.media)) this.#fromNetwork(signal, this.media);
    else this.#run(this.media);
  }

  #fromDisk(): void {
    const content = this.disks.find((disk) => disk.content !== undefined)?.content;
    this.#run(content?.image, content && seedUrlOn(content));
  }

  #run(image: string | undefined, seedUrl?: string): void {
    if (image === undefined) this.#again();
    else
      this.#after(this.timings.system, () => {
        this.running = { is: "system", image };
        if (image === INSTALLED) this.#guest?.fromDisk();
        else if (seedUrl !== undefined) this.#guest?.fromSeed(seedUrl);
      });
  }

  /** Nothing could be started: the network is asked once more. */
  #again(): void {
    this.#after(RETRY_MS, () => this.#fromNetwork(this.#power!.signal));
  }

  #after(ms: number, then: () => void): void {
    const signal = this.#power!.signal;
    this.#timer = this.clock.after(ms + this.random.int(ms / 4 + 1), () => {
      if (!signal.aborted) then();
    });
  }
}
