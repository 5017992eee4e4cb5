import { type Http, type HttpRequest, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createEquinixDriver } from "../../machines/drivers/equinix/driver.ts";
import type { Machine, MachineDriver, Order } from "../../machines/machine.ts";
import type { Firmware, NetBoot, PowerOn, Progress } from "../hardware.ts";
import { createEquinixSim, type EquinixSim } from "./equinix-sim.ts";
import { DEFAULT_PROJECT, DEFAULT_TOKEN, type EquinixSimOptions } from "./options.ts";

const STAGE_MS = 10_000;

/** For the tests of this folder: a simulated cloud in virtual time with firmware that boots whatever it is given, and a driver on it. */
export interface Rig {
  clock: VirtualClock;
  sim: EquinixSim;
  firmware: TrivialFirmware;
  driver: MachineDriver;
  http: Http;
  /** What the driver sent, in order. */
  sent: HttpRequest[];
  /** Lets time pass until the machine is in a phase. */
  until(id: string, phase: Machine["phase"], forMs?: number): Promise<Machine>;
}

/** A rig with one seeded cloud. `wrap` stands between driver and cloud, to lose or change answers. */
export function rig(
  options: Partial<EquinixSimOptions> & { wrap?: (http: Http, clock: VirtualClock) => Http } = {},
): Rig {
  const clock = new VirtualClock();
  const firmware = new TrivialFirmware(clock);
  const { wrap, ...rest } = options;
  const sim = createEquinixSim({ clock, random: seededRandom(7), firmware, ...rest });
  const sent: HttpRequest[] = [];
  const direct: Http = (request) => {
    sent.push(request);
    return sim.handle({ ...request, remote: "192.0.2.1" });
  };
  const http = wrap === undefined ? direct : wrap(direct, clock);
  const account = { endpoint: "https://metal.test/metal/v1", token: DEFAULT_TOKEN, project: DEFAULT_PROJECT.id };
  const driver = createEquinixDriver({ ...account, planMapping: {}, metroMapping: {} }, { http, clock, log: quietLog });
  const until: Rig["until"] = async (id, phase, forMs = 3_600_000) => {
    const end = clock.now() + forMs;
    for (;;) {
      const machine = await driver.read(id);
      if (machine?.phase === phase) return machine;
      if (clock.now() >= end) throw new Error(`${id} is ${machine?.providerState ?? "gone"}, not ${phase}`);
      await clock.run(1_000);
    }
  };
  return { clock, sim, firmware, driver, http, sent, until };
}

/** Boots reach one stage every ten seconds, up to `last`. */
export class TrivialFirmware implements Firmware {
  readonly boots: { hostname: string; from: "network" | "disk"; boot: NetBoot | undefined }[] = [];
  readonly wiped: string[] = [];
  last: Progress["stage"] = "joined";
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  readonly fromNetwork: PowerOn = (hardware, boot, progress) => {
    this.boots.push({ hostname: hardware.hostname, from: "network", boot });
    return this.#run(["dhcp", "script", "kernel", "installing", "installed", "joined"], progress);
  };

  readonly fromDisk: Firmware["fromDisk"] = (hardware, progress) => {
    this.boots.push({ hostname: hardware.hostname, from: "disk", boot: undefined });
    return this.#run(["joined"], progress);
  };

  wipe(hardware: { hostname: string }): void {
    this.wiped.push(hardware.hostname);
  }

  #run(stages: Progress["stage"][], progress: (now: Progress) => void): { off(): void } {
    const upTo = stages.slice(0, stages.indexOf(this.last) + 1);
    const timers = upTo.map((stage, i) =>
      this.#clock.after((i + 1) * STAGE_MS, () => progress({ stage, message: `reached ${stage}` })),
    );
    return {
      off: () => {
        for (const timer of timers) timer.cancel();
      },
    };
  }
}

/** An order that the simulated cloud accepts, with some changes. */
export function order(changes: Partial<Order> = {}): Order {
  return {
    claim: "claim-1",
    claimant: { apiVersion: "v1", kind: "Claimant", name: "a" },
    hostname: "pool-abcdefgh",
    placement: { plan: "c3.small.x86", metro: "sg" },
    operatingSystem: "custom_ipxe",
    boot: { scriptUrl: "https://boot.test/script", userData: "#cloud-config\n" },
    tags: [],
    ...changes,
  };
}
