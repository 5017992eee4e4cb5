import type { Clock, Random } from "@slipway/base";
import type { Firmware } from "../hardware.ts";

/** How long things take, in ms. A pair is a range that each server draws from. */
export interface Timings {
  /** From the order, or the end of an erasure, to the first boot. */
  deployingMs: readonly [number, number];
  erasingMs: number;
  powerMs: number;
  /** Until an assigned virtual network reads `connected`. */
  connectingMs: number;
}

/** About what the real service takes. */
export const REAL_TIMINGS: Timings = {
  deployingMs: [180_000, 480_000],
  erasingMs: 60_000,
  powerMs: 10_000,
  connectingMs: 5_000,
};

/** For benchmarks of the API's clients: the cloud itself costs no time. */
export const INSTANT_TIMINGS: Timings = { deployingMs: [0, 0], erasingMs: 0, powerMs: 0, connectingMs: 0 };

export interface LatitudeSimOptions {
  clock: Clock;
  random: Random;
  firmware: Firmware;
  /** The key that the API accepts. */
  token?: string;
  project?: SimProject;
  timings?: Partial<Timings>;
  /** Servers for sale per `SITE/plan-slug`; places that are not named have plenty. */
  stock?: Readonly<Record<string, number>>;
  /** A `snapshot` to go on from. What it holds (key, stock) goes before the options of the same name. */
  restore?: unknown;
  /** Where the snapshot came from, named in the remedy when it can't be used. */
  restoredFrom?: string;
  /** Called after each change of what a snapshot holds. */
  onChange?: () => void;
  /** Requests per window and key; unset: unlimited. */
  rateLimit?: { requests: number; windowMs: number };
  /** Larger page sizes are cut to this. */
  maxPageSize?: number;
  faults?: {
    /** Decides per deployment whether it fails. */
    failsToDeploy?: (server: { hostname: string; plan: string; site: string }) => boolean;
    /** The deploy configuration does not show the user data, as the document would allow. */
    hidesUserData?: boolean;
  };
}

export interface SimProject {
  id: string;
  slug: string;
  name: string;
}

export const DEFAULT_TOKEN = "simulated-latitude-key";
export const DEFAULT_PROJECT: SimProject = {
  id: "proj_simulated00001",
  slug: "simulated-iron",
  name: "Simulated Iron",
};
