import type { Timer } from "../../base/clock.ts";
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

  reinstall(server: SimServer): void {
    if (server.status === "deploying" || server.status === "disk_erasing") {
      throw unprocessable("SERVER_BEING_PROVISIONED", "Server is being provisioned");
    }
    if (server.status === "rescue_mode") {
      throw unprocessable("SERVER_IN_RESCUE_MODE", "Server is in rescue mode and cannot be reinstalled");
    }
    this.#cut(server);
    server.status = "disk_erasing";
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
    if (action === "power_off") {
      this.#later(server, this.#world.timings.powerMs, () => {
        server.status = "off";
      });
    } else this.#later(server, this.#world.timings.powerMs, () => this.#bootFromDisk(server));
  }

  /** Takes the server back: its disks are erased while it is still listed, then it is for sale again. */
  release(server: SimServer): void {
    if (server.leaving) return;
    this.#cut(server);
    server.leaving = true;
    server.status = "disk_erasing";
    for (const one of this.#world.assignments.values()) {
      if (one.server === server.id) this.#world.assignments.delete(one.id);
    }
    this.#later(server, this.#world.timings.erasingMs, () => {
      this.#world.firmware.wipe(server.hardware);
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
    this.#cut(server);
    this.#stop(server);
    server.status = "failed_deployment";
  }

  /** Ends all that is to come, and cuts the power of every machine. */
  close(): void {
    for (const server of this.#world.servers.values()) this.#cut(server);
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
    server.powered = this.#world.firmware.fromNetwork(server.hardware, boot, (now) => {
      server.progress = now;
    });
  }

  #bootFromDisk(server: SimServer): void {
    server.status = "on";
    server.powered = this.#world.firmware.fromDisk(server.hardware, (now) => {
      server.progress = now;
    });
  }

  #cut(server: SimServer): void {
    server.powered?.off();
    server.powered = undefined;
  }

  #later(server: SimServer, ms: number, fn: () => void): void {
    this.#stop(server);
    const timer = this.#world.clock.after(ms, () => {
      this.#ahead.delete(server.id);
      fn();
    });
    this.#ahead.set(server.id, timer);
  }

  #stop(server: SimServer): void {
    this.#ahead.get(server.id)?.cancel();
    this.#ahead.delete(server.id);
  }
}
