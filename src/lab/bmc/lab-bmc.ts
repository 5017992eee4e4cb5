/**
 * Management controllers of the rack's machines: Slipway's own Redfish service over QEMU. `lab-bmc.ts` is one machine as that service needs it,
 * `serve.ts` gives each an address with TLS, `papers.ts` writes down what a user needs to have hosts of them. It must not know of netboot.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, Fault } from "@slipway/base";
import type { BootOverride, BootTarget, ManagedMachine, PowerState, ResetType } from "../../bmc-service/machine.ts";
import { fetchTo } from "../../netboot/images/fetch-image.ts";
import type { BootDevice } from "../boot-order.ts";
import type { Firmware } from "../machine.ts";
import type { QemuMachine } from "../qemu-machine.ts";

/** What the system has to shut down in. After that the machine is on as before, and the order has failed. */
const SOFT_OFF_MS = 5 * 60_000;
const LARGEST_CD = 16 * 2 ** 30;
const USUAL: BootOverride = { enabled: "Disabled", target: "None", mode: "UEFI" };

const DEVICES: Readonly<Record<BootTarget, BootDevice | undefined>> = {
  None: undefined,
  Pxe: "network",
  UefiHttp: "network",
  Hdd: "disk",
  Cd: "cd",
};

/** How a firmware boots from its card: one way each. */
const BY_NETWORK: Readonly<Record<Firmware, BootTarget>> = {
  bios: "Pxe",
  uefi: "Pxe",
  "uefi-secure": "Pxe",
  "uefi-http": "UefiHttp",
  arm64: "Pxe",
};

/** A machine of the rack behind a management controller. Boot device and CD are kept while it is off; a single boot is over with the next start, whoever caused it. */
export class LabBmc implements ManagedMachine {
  readonly manufacturer = "QEMU";
  readonly processors = 1;
  /**
   * A boot URL is written where a real controller hands it to the firmware: among the firmware's variables, as the boot option that comes next. No DHCP server knows of it.
   * It needs the machine to be switched on: until then it is kept, whatever resets the machine.
   */
  readonly takesBootUri: boolean;
  readonly bootModes: readonly BootOverride["mode"][];
  readonly bootTargets: readonly BootTarget[];
  readonly #machine: QemuMachine;
  readonly #clock: Pick<Clock, "after">;
  /** The image in the drive, or on its way there. */
  readonly #cdFile: string;
  #boot: BootOverride;
  #media: string | undefined;
  #through: PowerState | undefined;

  /** `folder`: the machine's own. */
  constructor(machine: QemuMachine, { folder, clock }: { folder: string; clock: Pick<Clock, "after"> }) {
    this.#machine = machine;
    this.#clock = clock;
    this.#cdFile = join(folder, "cd.iso");
    const { firmware } = machine.spec;
    this.bootModes = [firmware === "bios" ? "Legacy" : "UEFI"];
    this.bootTargets = [BY_NETWORK[firmware], "Hdd", "Cd"];
    this.takesBootUri = BY_NETWORK[firmware] === "UefiHttp";
    this.#boot = this.#usual();
    machine.onStart(() => {
      // Of what was set while it ran, a reset takes up all but a URL.
      if (machine.nextUrl !== undefined) return;
      if (this.#boot.enabled !== "Once") return machine.bootNext(urlOf(this.#boot));
      this.#boot = this.#usual();
      // A machine that ends right now begins with the usual order.
      machine.bootFirst(undefined).catch(() => {});
    });
  }

  get id(): string {
    return this.#machine.spec.uuid;
  }

  get uuid(): string {
    return this.#machine.spec.uuid;
  }

  get name(): string {
    return this.#machine.spec.name;
  }

  get model(): string {
    return this.#machine.spec.firmware;
  }

  get serial(): string {
    return this.#machine.spec.name;
  }

  get macs() {
    return [this.#machine.spec.mac];
  }

  get memoryMiB(): number {
    return this.#machine.spec.memoryMiB;
  }

  power(): PowerState {
    if (!this.#machine.on) return "Off";
    return this.#through ?? "On";
  }

  async reset(type: ResetType): Promise<void> {
    const machine = this.#machine;
    switch (type) {
      case "On":
        return await machine.powerOn();
      case "ForceOff":
        return await machine.powerOff();
      case "GracefulShutdown":
        return await this.#shutDown();
      case "ForceRestart":
        if (machine.on && machine.nextUrl === undefined) return await machine.reset();
        await machine.powerOff();
        return await machine.powerOn();
      case "GracefulRestart":
        await this.#shutDown();
        return await machine.powerOn();
    }
  }

  boot(): BootOverride {
    return { ...this.#boot };
  }

  async setBoot(override: BootOverride): Promise<void> {
    this.#boot = override;
    this.#machine.bootNext(urlOf(override));
    await this.#machine.bootFirst(override.enabled === "Disabled" ? undefined : DEVICES[override.target]);
  }

  media(): string | undefined {
    return this.#media;
  }

  async setMedia(url: string | null): Promise<void> {
    this.#media = undefined;
    await this.#machine.insert(undefined);
    await rm(this.#cdFile, { force: true });
    if (url === null) return;
    await fetchTo(fetch, url, { to: this.#cdFile, mostBytes: LARGEST_CD });
    await this.#machine.insert(this.#cdFile);
    this.#media = url;
  }

  #usual(): BootOverride {
    return { ...USUAL, mode: this.bootModes[0]! };
  }

  /** Resolves when the system has ended. Rejects with a `Fault` when it has not in time; the machine is on then. */
  async #shutDown(): Promise<void> {
    const machine = this.#machine;
    if (!machine.on) return;
    const late = Promise.withResolvers<"late">();
    const timer = this.#clock.after(SOFT_OFF_MS, () => late.resolve("late"));
    this.#through = "PoweringOff";
    try {
      await machine.pressPower();
      const end = await Promise.race([machine.off(), late.promise]);
      if (end === "late")
        throw new Fault("Timeout", this.name, `its system has not ended in ${SOFT_OFF_MS / 60_000} minutes`);
    } finally {
      timer.cancel();
      this.#through = undefined;
    }
  }
}

function urlOf({ enabled, target, httpBootUri }: BootOverride): string | undefined {
  return enabled === "Disabled" || target !== "UefiHttp" ? undefined : httpBootUri;
}
