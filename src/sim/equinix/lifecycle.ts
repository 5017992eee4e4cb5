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
    const { timings, random, faults } = this.#cloud;
    const [least, most] = timings.provisioningMs;
    const provisioningMs = least + random.int(most - least + 1);
    const fails = faults.failsToProvision?.({
      hostname: device.hostname,
      plan: device.plan.slug,
      metro: device.metro,
    });
    this.#later(device, timings.queuedMs, () => {
      this.#enter(device, "provisioning", "Device is being provisioned");
      this.#later(device, provisioningMs, () => {
        if (fails) this.fail(device, "Provisioning failed");
        else this.#bootFromNetwork(device);
      });
    });
  }

  reinstall(device: SimDevice, scriptUrl: string | undefined): void {
    this.#require(device, "reinstall", ["active", "inactive", "failed"]);
    if (scriptUrl) device.scriptUrl = scriptUrl;
    device.reinstallPending = true;
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
    this.#cut(device);
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
    this.#cut(device);
    this.#enter(device, "failed", why);
  }

  revoke(device: SimDevice): void {
    const { clock, timings } = this.#cloud;
    if (device.revocation !== undefined) return;
    device.terminatesAt = clock.now() + timings.spotNoticeMs;
    this.#cloud.record(device, "instance.marked_for_termination", "Device is marked for termination");
    device.revocation = clock.after(timings.spotNoticeMs, () => this.#takeBack(device));
  }

  /** Ends everything that is to come, without an effect on the devices. */
  close(): void {
    for (const device of this.#cloud.devices.values()) {
      this.#cut(device);
      device.timer?.cancel();
      device.revocation?.cancel();
    }
  }

  #takeBack(device: SimDevice): void {
    if (device.state === "deprovisioning" || device.state === "deleted") return;
    const { firmware, timings } = this.#cloud;
    this.#cut(device);
    firmware.wipe(device.hardware);
    device.revocation?.cancel();
    this.#enter(device, "deprovisioning", "Device is being deprovisioned");
    this.#later(device, timings.deprovisionMs, () => this.#vanish(device));
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

  #restart(device: SimDevice): void {
    this.#enter(device, "powering_on", "Device is powering on");
    this.#later(device, this.#cloud.timings.powerMs, () => {
      this.#enter(device, "active", "Device is on");
      if (device.alwaysPxe) this.#bootFromNetwork(device);
      else this.#boot(device, (hear) => this.#cloud.firmware.fromDisk(device.hardware, hear));
    });
  }

  #bootFromNetwork(device: SimDevice): void {
    const { firmware, timings } = this.#cloud;
    if (device.state !== "active") {
      this.#later(device, timings.bootTimeoutMs, () => this.fail(device, "Device did not boot in time"));
    }
    const boot = { scriptUrl: device.scriptUrl, userData: device.userData };
    this.#boot(device, (hear) => firmware.fromNetwork(device.hardware, boot, hear));
    // What the provider installs by itself is handed over at once.
    if (device.operatingSystem !== "custom_ipxe") this.#handOver(device);
  }

  /** Listens to this boot, until another begins or the power is cut. */
  #boot(device: SimDevice, start: (hear: (now: Progress) => void) => Powered): void {
    if (device.dead) return;
    const boot = {};
    device.boot = boot;
    const powered = start((now) => {
      if (device.boot === boot) this.#hear(device, now);
    });
    // What it reported at once may already have ended it.
    if (device.boot === boot) device.powered = powered;
    else powered.off();
  }

  #hear(device: SimDevice, { stage, message }: Progress): void {
    device.stage = stage;
    this.#cloud.record(device, `machine.${stage}`, message);
    if (stage === "off") {
      device.boot = undefined;
      device.powered = undefined;
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
    device.timer = this.#cloud.clock.after(ms, fn);
  }
}
