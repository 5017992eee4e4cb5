import type { Timer } from "@slipway/base";
import type { Powered, Progress } from "../hardware.ts";
import type { Cloud } from "./cloud.ts";
import type { DeviceState, SimDevice } from "./device.ts";
import { unprocessable } from "./refused.ts";

/** What happens to a device over time, and what its owner can make happen. Every device has at most one step ahead of it, and a revocation. */
export class Lifecycle {
  readonly #cloud: Cloud;

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  /** Takes a device that was just sold to its first boot. */
  begin(device: SimDevice): void {
    const firstBoot = this.#firstBoot(device);
    if (device.terminatesAt !== undefined && device.revocation === undefined)
      device.revocation = this.#timer(device.terminatesAt - this.#cloud.clock.now(), () => this.#takeBack(device));
    this.#later(device, this.#cloud.timings.queuedMs, () => {
      this.#enter(device, "provisioning", "Device is being provisioned");
      firstBoot();
    });
  }

  /** Goes on with a device of an earlier process: its step begins anew, and what it ran runs again, a turn later. */
  resume(device: SimDevice): void {
    const { clock, timings } = this.#cloud;
    if (device.terminatesAt !== undefined && device.state !== "deprovisioning") {
      device.revocation = this.#timer(device.terminatesAt - clock.now(), () => this.#takeBack(device));
    }
    if (device.reinstallPending) this.#reinstallSoon(device);
    else if (device.runs === "disk") this.#later(device, 0, () => this.#bootFromDisk(device));
    else if (device.runs === "network") this.#later(device, 0, () => this.#bootFromNetwork(device));
    else if (device.state === "queued") this.begin(device);
    else if (device.state === "provisioning") this.#firstBoot(device)();
    else if (device.state === "reinstalling")
      this.#later(device, timings.reinstallMs, () => this.#bootFromNetwork(device));
    else if (device.state === "powering_on") this.#comeOn(device);
    else if (device.state === "powering_off") this.#goOff(device);
    else if (device.state === "deprovisioning") this.#vanishSoon(device);
  }

  reinstall(device: SimDevice, scriptUrl: string | undefined): void {
    this.#require(device, "reinstall", ["active", "inactive", "failed"]);
    if (scriptUrl) device.scriptUrl = scriptUrl;
    device.reinstallPending = true;
    this.#reinstallSoon(device);
  }

  #reinstallSoon(device: SimDevice): void {
    const { timings, firmware } = this.#cloud;
    this.#later(device, timings.reinstallLagMs, () => {
      device.reinstallPending = false;
      this.#cut(device);
      firmware.wipe(device.hardware);
      this.#enter(device, "reinstalling", "Device is being reinstalled");
      this.#later(device, timings.reinstallMs, () => this.#bootFromNetwork(device));
    });
  }

  powerOff(device: SimDevice): void {
    if (device.state === "inactive") throw unprocessable("Device is already powered off");
    this.#require(device, "power off", ["active"]);
    this.#cut(device);
    this.#enter(device, "powering_off", "Device is powering off");
    this.#goOff(device);
  }

  #goOff(device: SimDevice): void {
    this.#later(device, this.#cloud.timings.powerMs, () => this.#enter(device, "inactive", "Device is off"));
  }

  powerOn(device: SimDevice): void {
    if (device.state === "active" && device.powered !== undefined) {
      throw unprocessable("Device is already powered on");
    }
    this.#require(device, "power on", ["inactive", "active"]);
    this.#restart(device);
  }

  reboot(device: SimDevice): void {
    this.#require(device, "reboot", ["active"]);
    this.#restart(device);
  }

  release(device: SimDevice): void {
    if (device.state === "deprovisioning") return;
    if (device.locked) throw unprocessable("Device is locked: unlock it before deleting");
    const early = device.state === "queued" || device.state === "provisioning";
    if (early && this.#cloud.faults.refuseDeleteWhileProvisioning) {
      throw unprocessable(`Cannot delete a device while it is ${device.state}`);
    }
    this.#takeBack(device);
  }

  /** The machine dies, for good; the provider does not notice. */
  kill(device: SimDevice): void {
    device.dead = true;
    this.#cut(device);
  }

  fail(device: SimDevice, why: string): void {
    if (device.state === "deprovisioning") return;
    this.#cut(device);
    // Nothing is ahead of it any more: it would leave this state by itself.
    device.timer?.cancel();
    device.timer = undefined;
    device.reinstallPending = false;
    this.#enter(device, "failed", why);
  }

  revoke(device: SimDevice): void {
    const { clock, timings } = this.#cloud;
    if (device.revocation !== undefined) return;
    device.terminatesAt = clock.now() + timings.spotNoticeMs;
    this.#cloud.record(device, "instance.marked_for_termination", "Device is marked for termination");
    device.revocation = this.#timer(timings.spotNoticeMs, () => this.#takeBack(device));
  }

  /** Ends everything that is to come, without an effect on the devices. */
  close(): void {
    for (const device of this.#cloud.devices.values()) {
      this.#unplug(device);
      device.timer?.cancel();
      device.revocation?.cancel();
    }
  }

  #takeBack(device: SimDevice): void {
    if (device.state === "deprovisioning" || device.state === "deleted") return;
    this.#cut(device);
    this.#cloud.firmware.wipe(device.hardware);
    device.revocation?.cancel();
    device.reinstallPending = false;
    this.#enter(device, "deprovisioning", "Device is being deprovisioned");
    this.#vanishSoon(device);
  }

  #vanishSoon(device: SimDevice): void {
    this.#later(device, this.#cloud.timings.deprovisionMs, () => this.#vanish(device));
  }

  #vanish(device: SimDevice): void {
    const cloud = this.#cloud;
    device.state = "deleted";
    cloud.remove(device);
    cloud.addresses.release(device.slot);
    const reservation = device.reservation && cloud.reservations.get(device.reservation);
    if (reservation) reservation.device = undefined;
    else cloud.addCapacity(device.metro, device.plan.slug, 1);
  }

  /** Takes a device that is being provisioned to its first boot, or lets it fail. */
  #firstBoot(device: SimDevice): () => void {
    const { timings, random, faults } = this.#cloud;
    const [least, most] = timings.provisioningMs;
    const provisioningMs = least + random.int(most - least + 1);
    const { hostname, plan, metro } = device;
    const fails = faults.failsToProvision?.({ hostname, plan: plan.slug, metro });
    return () =>
      this.#later(device, provisioningMs, () => {
        if (fails) this.fail(device, "Provisioning failed");
        else this.#bootFromNetwork(device);
      });
  }

  #restart(device: SimDevice): void {
    this.#cut(device);
    this.#enter(device, "powering_on", "Device is powering on");
    this.#comeOn(device);
  }

  #comeOn(device: SimDevice): void {
    this.#later(device, this.#cloud.timings.powerMs, () => {
      this.#enter(device, "active", "Device is on");
      if (device.alwaysPxe) this.#bootFromNetwork(device);
      else this.#bootFromDisk(device);
    });
  }

  #bootFromNetwork(device: SimDevice): void {
    const { firmware, timings } = this.#cloud;
    if (device.state !== "active") {
      this.#later(device, timings.bootTimeoutMs, () => this.fail(device, "Device did not boot in time"));
    }
    const boot = { scriptUrl: device.scriptUrl, userData: device.userData };
    this.#boot(device, "network", (hear) => firmware.fromNetwork(device.hardware, boot, hear));
    // What the provider installs by itself is handed over at once.
    if (device.operatingSystem !== "custom_ipxe") this.#handOver(device);
  }

  #bootFromDisk(device: SimDevice): void {
    this.#boot(device, "disk", (hear) => this.#cloud.firmware.fromDisk(device.hardware, hear));
  }

  /** Listens to this boot, until another begins or the power is cut. */
  #boot(device: SimDevice, from: "network" | "disk", start: (hear: (now: Progress) => void) => Powered): void {
    if (device.dead) return;
    device.runs = from;
    const boot = {};
    device.boot = boot;
    const powered = start((now) => {
      if (device.boot !== boot) return;
      this.#hear(device, now);
      this.#cloud.changed();
    });
    // What it reported at once may already have ended it.
    if (device.boot === boot) device.powered = powered;
    else powered.off();
  }

  #hear(device: SimDevice, { stage, message }: Progress): void {
    device.stage = stage;
    this.#cloud.record(device, `machine.${stage}`, message);
    if (stage === "installed" || stage === "joined") device.runs = "disk";
    if (stage === "off") {
      device.boot = undefined;
      device.powered = undefined;
      device.runs = undefined;
      if (device.state === "active") this.#enter(device, "inactive", "Device is off");
    } else if (stage !== "dhcp" && stage !== "failed" && stage !== "hung") this.#handOver(device);
  }

  /** The real service calls a machine active as soon as its boot script has been served. */
  #handOver(device: SimDevice): void {
    if (device.state !== "provisioning" && device.state !== "reinstalling") return;
    device.timer?.cancel();
    device.timer = undefined;
    this.#enter(device, "active", "Device is active");
  }

  #cut(device: SimDevice): void {
    this.#unplug(device);
    device.runs = undefined;
  }

  /** As when this process ends: the machine stops, and what it ran is still known. */
  #unplug(device: SimDevice): void {
    device.boot = undefined;
    device.powered?.off();
    device.powered = undefined;
  }

  #enter(device: SimDevice, state: DeviceState, body: string): void {
    device.state = state;
    this.#cloud.record(device, `provisioning.${state}`, body);
  }

  #require(device: SimDevice, action: string, states: readonly DeviceState[]): void {
    if (device.reinstallPending) throw unprocessable("A reinstall is in progress");
    if (!states.includes(device.state)) throw unprocessable(`Cannot ${action} a device while it is ${device.state}`);
  }

  #later(device: SimDevice, ms: number, fn: () => void): void {
    device.timer?.cancel();
    device.timer = this.#timer(ms, fn);
  }

  #timer(ms: number, fn: () => void): Timer {
    return this.#cloud.clock.after(ms, () => {
      fn();
      this.#cloud.changed();
    });
  }
}
