import type { Timer } from "@slipway/base";
import type { Powered, Progress } from "../hardware.ts";
import { unprocessable } from "./refused.ts";
import type { SimServer, World } from "./world.ts";

/** What happens to a server over time. Every server has at most one step ahead of it. */
export class Lifecycle {
  readonly #world: World;
  readonly #ahead = new Map<string, Timer>();

  constructor(world: World) {
    this.#world = world;
  }

  /** From the order to the first boot. */
  deploy(server: SimServer): void {
    const { timings, faults } = this.#world;
    server.status = "deploying";
    const fails = faults.failsToDeploy?.(server) === true;
    this.#later(server, this.#world.between(timings.deployingMs), () => {
      if (fails) server.status = "failed_deployment";
      else this.#bootFromNetwork(server);
    });
  }

  /** Goes on with a server of an earlier process: its step begins anew, and what it ran runs again, a turn later. */
  resume(server: SimServer): void {
    if (server.leaving) this.#vanish(server);
    else if (server.status === "disk_erasing") this.#erase(server);
    else if (server.status === "deploying") this.deploy(server);
    else if (server.acting !== undefined) this.#act(server, server.acting);
    else if (server.runs === "disk") this.#later(server, 0, () => this.#bootFromDisk(server));
    else if (server.runs === "network") this.#later(server, 0, () => this.#bootFromNetwork(server));
  }

  reinstall(server: SimServer): void {
    if (server.status === "deploying" || server.status === "disk_erasing") {
      throw unprocessable("SERVER_BEING_PROVISIONED", "Server is being provisioned");
    }
    if (server.status === "rescue_mode") {
      throw unprocessable("SERVER_IN_RESCUE_MODE", "Server is in rescue mode and cannot be reinstalled");
    }
    this.#cut(server);
    server.status = "disk_erasing";
    this.#erase(server);
  }

  #erase(server: SimServer): void {
    this.#later(server, this.#world.timings.erasingMs, () => {
      this.#world.firmware.wipe(server.hardware);
      this.deploy(server);
    });
  }

  power(server: SimServer, action: "power_on" | "power_off" | "reboot"): void {
    if (server.status !== "on" && server.status !== "off") {
      throw unprocessable("ACTION_UNAVAILABLE", `No power action while the status is ${server.status}`);
    }
    if (action === "power_on" && server.status === "on" && server.powered !== undefined) return;
    this.#cut(server);
    this.#act(server, action === "power_off" ? "power_off" : "boot");
  }

  #act(server: SimServer, action: "power_off" | "boot"): void {
    this.#later(server, this.#world.timings.powerMs, () => {
      server.acting = undefined;
      if (action === "power_off") server.status = "off";
      else this.#bootFromDisk(server);
    });
    server.acting = action;
  }

  /** Takes the server back: its disks are erased while it is still listed, then it is for sale again. */
  release(server: SimServer): void {
    if (server.leaving) return;
    this.#cut(server);
    server.leaving = true;
    server.status = "disk_erasing";
    this.#unassign(server);
    this.#vanish(server);
  }

  #unassign(server: SimServer): void {
    for (const one of this.#world.assignments.values()) {
      if (one.server === server.id) this.#world.assignments.delete(one.id);
    }
  }

  #vanish(server: SimServer): void {
    this.#later(server, this.#world.timings.erasingMs, () => {
      this.#world.firmware.wipe(server.hardware);
      // It may have been assigned again while it was leaving.
      this.#unassign(server);
      this.#world.servers.delete(server.id);
      const place = `${server.site}/${server.plan}`;
      const left = this.#world.stock.get(place);
      if (left !== undefined) this.#world.stock.set(place, left + 1);
    });
  }

  /** The machine dies; the provider does not notice. */
  kill(server: SimServer): void {
    this.#cut(server);
  }

  fail(server: SimServer): void {
    if (server.leaving) return;
    this.#cut(server);
    this.#stop(server);
    server.status = "failed_deployment";
  }

  /** Ends all that is to come, and cuts the power of every machine. */
  close(): void {
    for (const server of this.#world.servers.values()) this.#unplug(server);
    for (const timer of this.#ahead.values()) timer.cancel();
    this.#ahead.clear();
  }

  #bootFromNetwork(server: SimServer): void {
    server.status = "on";
    if (server.ipxe === "") {
      this.#bootFromDisk(server);
      return;
    }
    const content = this.#world.userData.get(server.userData ?? "")?.content ?? "";
    const boot = { scriptUrl: server.ipxe, userData: Buffer.from(content, "base64").toString("utf8") };
    this.#boot(server, "network", (hear) => this.#world.firmware.fromNetwork(server.hardware, boot, hear));
  }

  #bootFromDisk(server: SimServer): void {
    server.status = "on";
    this.#boot(server, "disk", (hear) => this.#world.firmware.fromDisk(server.hardware, hear));
  }

  #boot(server: SimServer, from: "network" | "disk", start: (hear: (now: Progress) => void) => Powered): void {
    server.runs = from;
    server.powered = start((now) => {
      server.progress = now;
      if (now.stage === "installed" || now.stage === "joined") server.runs = "disk";
      if (now.stage === "off") server.runs = undefined;
      this.#world.changed();
    });
  }

  #cut(server: SimServer): void {
    this.#unplug(server);
    server.runs = undefined;
  }

  /** As when this process ends: the machine stops, and what it ran is still known. */
  #unplug(server: SimServer): void {
    server.powered?.off();
    server.powered = undefined;
  }

  #later(server: SimServer, ms: number, fn: () => void): void {
    this.#stop(server);
    const timer = this.#world.clock.after(ms, () => {
      this.#ahead.delete(server.id);
      fn();
      this.#world.changed();
    });
    this.#ahead.set(server.id, timer);
  }

  #stop(server: SimServer): void {
    this.#ahead.get(server.id)?.cancel();
    this.#ahead.delete(server.id);
    server.acting = undefined;
  }
}
