/** For tests: a simulated BMC in virtual time, and our side of it. */
import { Fault, type Http, type HttpHandler, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createSimBmc, type LieName } from "../../sim/bmc/sim-bmc.ts";
import { SimMachine, type SimTimings } from "../../sim/bmc/sim-machine.ts";
import { simNetwork } from "../../sim/network.ts";
import type { Bmc, BmcCredentials } from "./bmc.ts";
import { Bmcs } from "./bmcs.ts";
import type { BmcHttp, BmcTarget } from "./target.ts";

export const ORIGIN = "https://bmc.example";
export const CREDENTIALS: BmcCredentials = { username: "admin", password: "correct horse" };
const HOUR_MS = 3_600_000;

export interface BmcWorldOptions {
  lies?: readonly LieName[];
  /** Machines behind the BMC. Default: 1. */
  machines?: number;
  timings?: Partial<SimTimings>;
  mostSessions?: number;
  places?: number;
}

export interface BmcWorld {
  clock: VirtualClock;
  sim: ReturnType<typeof createSimBmc>;
  machines: readonly SimMachine[];
  machine: SimMachine;
  bmcs: Bmcs;
  open(target?: Partial<BmcTarget>): Bmc;
  /** Lets time pass until the work is done; resolves or rejects as it does. */
  run<T>(work: Promise<T>): Promise<T>;
  /** The same; resolves with what it rejected with. */
  fails(work: Promise<unknown>): Promise<unknown>;
  serve(origin: string, handler: HttpHandler): void;
}

/** UUID of the n-th machine, from 1. */
export function machineId(n: number): string {
  return `51b00000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

/** A simulated BMC with its machines, and what asks it. */
export function bmcWorld({ lies = [], machines: count = 1, timings = {}, ...options }: BmcWorldOptions = {}): BmcWorld {
  const clock = new VirtualClock();
  const machines = Array.from({ length: count }, (_, i) => {
    const [id, mac] = [machineId(i + 1), `52:54:00:00:00:0${i + 1}`];
    return new SimMachine({ clock, id, name: `machine-${i + 1}`, uuid: id, macs: [mac], timings });
  });
  const { mostSessions, places } = options;
  const sim = createSimBmc({
    clock,
    random: seededRandom(1),
    machines,
    credentials: CREDENTIALS,
    ...(mostSessions !== undefined && { mostSessions }),
  });
  sim.lie(...lies);
  const network = simNetwork();
  network.serve(ORIGIN, sim.handle);
  /** As over sockets: what is closed sends nothing any more. */
  const http = (): BmcHttp => {
    let isOpen = true;
    const send: Http = async (request) => {
      if (!isOpen) throw new Fault("Unavailable", "http", "the client is closed");
      return await network.http(request);
    };
    return Object.assign(send, {
      close: async () => {
        isOpen = false;
      },
    });
  };
  const bmcs = new Bmcs({ clock, http, ...(places !== undefined && { places }) });
  const run = running(clock);
  return {
    ...{ clock, sim, machines, machine: machines[0]!, bmcs, run },
    open: (target = {}) =>
      bmcs.open({ address: ORIGIN.replace("https", "redfish"), credentials: CREDENTIALS, ...target }),
    fails: (work) =>
      run(
        work.then(
          () => new Error("it did not fail"),
          (error: unknown) => error,
        ),
      ),
    serve: (origin, handler) => void network.serve(origin, handler),
  };
}

/** Lets time pass until the work is done; resolves or rejects as it does. */
export function running(clock: VirtualClock): BmcWorld["run"] {
  return async (work) => {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    work.then(end, end);
    await clock.run(HOUR_MS, () => isOver);
    if (!isOver) throw new Error("it is not over after an hour");
    return await work;
  };
}
