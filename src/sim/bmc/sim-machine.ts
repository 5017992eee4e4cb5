import { type Clock, Fault, type Mac, type Timer } from "@slipway/base";
import type { BootOverride, BootTarget, ManagedMachine, PowerState, ResetType } from "../../bmc-service/machine.ts";

export interface SimMachineOptions {
  clock: Clock;
  id: string;
  name: string;
  uuid: string;
  macs: readonly Mac[];
  bootTargets?: readonly BootTarget[];
  /** How long it takes, in ms. `softOffMs`: until the operating system has shut down. */
  timings?: Partial<SimTimings>;
  /** Called whenever it has power again, with what it boots from: what runs on it begins here. */
  onStart?: (start: Start) => void;
  /** Called whenever it has lost its power. */
  onOff?: () => void;
}

export interface SimTimings {
  onMs: number;
  offMs: number;
  softOffMs: number;
  mediaMs: number;
}

const TIMINGS: SimTimings = { onMs: 3_000, offMs: 1_000, softOffMs: 20_000, mediaMs: 2_000 };

/** What the machine started from. */
export interface Start {
  from: BootTarget;
  mode: BootOverride["mode"];
  httpBootUri?: string;
  media?: string;
}

/** SIMULATION: a machine that is switched on and off in any clock's time, and remembers what it started from. */
export class SimMachine implements ManagedMachine {
  readonly id: string;
  readonly name: string;
  readonly uuid: string;
  readonly macs: readonly Mac[];
  readonly manufacturer = "Slipway";
  readonly model = "Simulated";
  readonly serial: string;
  readonly memoryMiB = 4096;
  readonly processors = 2;
  readonly bootTargets: readonly BootTarget[];
  readonly bootModes = ["UEFI", "Legacy"] as const;
  readonly timings: SimTimings;
  /** Every start so far, oldest first. */
  readonly starts: Start[] = [];
  readonly #clock: Clock;
  readonly #onStart: (start: Start) => void;
  readonly #onOff: () => void;
  #power: PowerState = "Off";
  #boot: BootOverride = { enabled: "Disabled", target: "None", mode: "UEFI" };
  #media: string | undefined;
  #turning: { timer: Timer; end: (error?: Fault) => void } | undefined;

  constructor({ clock, id, name, uuid, macs, bootTargets, timings, onStart, onOff }: SimMachineOptions) {
    this.#clock = clock;
    this.#onStart = onStart ?? ((): void => {});
    this.#onOff = onOff ?? ((): void => {});
    this.id = id;
    this.name = name;
    this.uuid = uuid;
    this.macs = macs;
    this.serial = `SIM-${id.slice(0, 8)}`;
    this.bootTargets = bootTargets ?? ["Pxe", "Hdd", "Cd", "UefiHttp"];
    this.timings = { ...TIMINGS, ...timings };
  }

  power(): PowerState {
    return this.#power;
  }

  async reset(type: ResetType): Promise<void> {
    switch (type) {
      case "On":
        return this.#power === "On" ? undefined : await this.#turn("PoweringOn", "On", this.timings.onMs);
      case "ForceOff":
        return this.#power === "Off" ? undefined : await this.#turn("PoweringOff", "Off", this.timings.offMs);
      case "GracefulShutdown":
        return this.#power === "Off" ? undefined : await this.#turn("PoweringOff", "Off", this.timings.softOffMs);
      case "ForceRestart":
      case "GracefulRestart":
        await this.#turn("PoweringOff", "Off", type === "ForceRestart" ? this.timings.offMs : this.timings.softOffMs);
        return await this.#turn("PoweringOn", "On", this.timings.onMs);
    }
  }

  boot(): BootOverride {
    return { ...this.#boot };
  }

  async setBoot(override: BootOverride): Promise<void> {
    this.#boot = override;
  }

  media(): string | undefined {
    return this.#media;
  }

  async setMedia(url: string | null): Promise<void> {
    await this.#clock.sleep(this.timings.mediaMs);
    this.#media = url ?? undefined;
  }

  /** Ends what is under way. */
  close(): void {
    this.#interrupt();
  }

  /** A later order takes the place of the one under way. */
  #turn(through: PowerState, to: PowerState, ms: number): Promise<void> {
    this.#interrupt();
    this.#power = through;
    return new Promise((resolve, reject) => {
      const end = (error?: Fault): void => (error === undefined ? resolve() : reject(error));
      const timer = this.#clock.after(ms, () => {
        this.#turning = undefined;
        this.#power = to;
        if (to === "On") this.#start();
        else this.#onOff();
        end();
      });
      this.#turning = { timer, end };
    });
  }

  #interrupt(): void {
    this.#turning?.timer.cancel();
    this.#turning?.end(new Fault("Conflict", this.name, "another order came before this one was done"));
    this.#turning = undefined;
  }

  #start(): void {
    const { enabled, target, mode, httpBootUri } = this.#boot;
    const start: Start = {
      from: enabled === "Disabled" ? "None" : target,
      mode,
      ...(httpBootUri !== undefined && { httpBootUri }),
      ...(this.#media !== undefined && { media: this.#media }),
    };
    this.starts.push(start);
    if (enabled === "Once") this.#boot = { enabled: "Disabled", target: "None", mode };
    this.#onStart(start);
  }
}
