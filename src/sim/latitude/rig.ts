import { type Http, type HttpAnswer, type HttpRequest, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createLatitudeDriver } from "../../machines/drivers/latitude/driver.ts";
import type { Machine, MachineDriver, Order } from "../../machines/machine.ts";
import type { ProviderAccount } from "../../machines/provider.ts";
import type { Firmware, NetBoot, PowerOn, Progress } from "../hardware.ts";
import { createLatitudeSim, type LatitudeSim } from "./latitude-sim.ts";
import { DEFAULT_PROJECT, DEFAULT_TOKEN, type LatitudeSimOptions } from "./options.ts";

export interface Exchange {
  request: HttpRequest;
  answer: HttpAnswer;
}

/** For the tests of this folder: a simulated cloud in virtual time with firmware that joins at once, and a driver on it. */
export interface Rig {
  clock: VirtualClock;
  sim: LatitudeSim;
  firmware: TrivialFirmware;
  driver: MachineDriver;
  /** What was sent and answered, in order. */
  sent: Exchange[];
  /** Another operator process: a driver that remembers nothing. */
  restarted(): MachineDriver;
  /** Lets time pass until the machine is in a phase. */
  until(id: string, phase: Machine["phase"]): Promise<Machine>;
}

export interface RigOptions extends Partial<LatitudeSimOptions> {
  wrap?: (http: Http) => Http;
  account?: Partial<ProviderAccount>;
}

/** A rig with one seeded cloud. `wrap` stands between driver and cloud, to lose or change answers. */
export function rig({ wrap, account, ...options }: RigOptions = {}): Rig {
  const clock = new VirtualClock();
  const firmware = new TrivialFirmware();
  const sim = createLatitudeSim({ clock, random: seededRandom(7), firmware, ...options });
  const sent: Exchange[] = [];
  const direct: Http = async (request) => {
    const answer = await sim.handle({ ...request, remote: "192.0.2.1" });
    sent.push({ request, answer });
    return answer;
  };
  const http = wrap?.(direct) ?? direct;
  const whole = {
    endpoint: "https://latitude.test",
    token: DEFAULT_TOKEN,
    project: DEFAULT_PROJECT.id,
    planMapping: {},
    metroMapping: {},
  };
  const restarted = () => createLatitudeDriver({ ...whole, ...account }, { http, clock, log: quietLog });
  const driver = restarted();
  const until: Rig["until"] = async (id, phase) => {
    for (let seconds = 0; seconds < 3_600; seconds += 5) {
      const machine = await driver.read(id);
      if (machine?.phase === phase) return machine;
      await clock.run(5_000);
    }
    throw new Error(`${id} never was ${phase}`);
  };
  return { clock, sim, firmware, driver, sent, restarted, until };
}

/** Machines that boot whatever they are given, at once, and note it. */
export class TrivialFirmware implements Firmware {
  readonly boots: { hostname: string; from: "network" | "disk"; boot: NetBoot | undefined }[] = [];
  readonly wiped: string[] = [];
  off = 0;

  readonly fromNetwork: PowerOn = (hardware, boot, progress) => this.#start(hardware.hostname, boot, progress);
  readonly fromDisk: Firmware["fromDisk"] = (hardware, progress) => this.#start(hardware.hostname, undefined, progress);

  wipe(hardware: { hostname: string }): void {
    this.wiped.push(hardware.hostname);
  }

  #start(hostname: string, boot: NetBoot | undefined, progress: (now: Progress) => void): { off(): void } {
    this.boots.push({ hostname, from: boot === undefined ? "disk" : "network", boot });
    progress({ stage: "joined", message: "joined" });
    return { off: () => void this.off++ };
  }
}

/** An order that the simulated cloud accepts, with some changes. */
export function order(changes: Partial<Order> = {}): Order {
  return {
    claim: "0b0f9a4e-6a52-4a3e-8f0c-000000000001",
    claimant: { apiVersion: "v1", kind: "Claimant", name: "a" },
    hostname: "pool-abcdefgh",
    placement: { plan: "c3.small.x86", metro: "dal" },
    operatingSystem: "custom_ipxe",
    boot: { scriptUrl: "https://boot.test/script", userData: "#cloud-config\n" },
    tags: [],
    ...changes,
  };
}
