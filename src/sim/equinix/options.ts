import type { Clock, Random } from "@slipway/base";
import type { Firmware } from "../hardware.ts";

/** How long things take, in ms. A pair is a range that each machine draws from. */
export interface Timings {
  queuedMs: number;
  provisioningMs: readonly [number, number];
  deprovisionMs: number;
  reinstallMs: number;
  /** After a reinstall action the device still reads as it was for this long. */
  reinstallLagMs: number;
  powerMs: number;
  /** A machine that has not fetched its boot script by then is `failed`. */
  bootTimeoutMs: number;
  spotNoticeMs: number;
}

/** About what the real service took. */
export const REAL_TIMINGS: Timings = {
  queuedMs: 20_000,
  provisioningMs: [120_000, 240_000],
  deprovisionMs: 60_000,
  reinstallMs: 90_000,
  reinstallLagMs: 2_000,
  powerMs: 10_000,
  bootTimeoutMs: 30 * 60_000,
  spotNoticeMs: 120_000,
};

/** For benchmarks of the API's clients: the cloud itself costs no time. */
export const INSTANT_TIMINGS: Timings = {
  queuedMs: 0,
  provisioningMs: [0, 0],
  deprovisionMs: 0,
  reinstallMs: 0,
  reinstallLagMs: 0,
  powerMs: 0,
  bootTimeoutMs: 30 * 60_000,
  spotNoticeMs: 120_000,
};

export interface SimProject {
  id: string;
  name: string;
}

export interface EquinixSimOptions {
  clock: Clock;
  random: Random;
  firmware: Firmware;
  /** The key that the API accepts. */
  token?: string;
  projects?: readonly SimProject[];
  timings?: Partial<Timings>;
  /** Machines for sale per `metro/plan`; places that are not named have plenty. */
  capacity?: Readonly<Record<string, number>>;
  /** Reserved machines. Ids are made up when absent. */
  reservations?: readonly { id?: string; plan: string; metro: string }[];
  /** Spot price per hour and `metro/plan`. */
  spotPrices?: Readonly<Record<string, number>>;
  /** A `snapshot` to go on from. What it holds (keys, capacity, prices, reservations) goes before the options of the same name. */
  restore?: unknown;
  /** Where the snapshot came from, named in the remedy when it can't be used. */
  restoredFrom?: string;
  /** Called after each change of what a snapshot holds. */
  onChange?: () => void;
  /** Requests per window and key; unset: unlimited. */
  rateLimit?: { requests: number; windowMs: number };
  faults?: {
    /** Lists may miss a device for up to this long after its order, at most 30 000. */
    staleListsMs?: number;
    /** Decides per ordered device whether its hardware fails to provision. */
    failsToProvision?: (device: { hostname: string; plan: string; metro: string }) => boolean;
    /** Refuses to delete what is still queued or provisioning, as the real service did at times. */
    refuseDeleteWhileProvisioning?: boolean;
  };
}

export const DEFAULT_TOKEN = "simulated-metal-key";
export const DEFAULT_PROJECT: SimProject = { id: "5afe0000-0000-4000-8000-000000000001", name: "simulated" };
export const DEFAULT_SPOT_PRICE = 0.2;
