/** The simulated clouds, made in one way for the laptop, for tests and for `slipway sim`. */
import type { Clock, Random } from "@slipway/base";
import { createEquinixSim, type EquinixSim } from "../sim/equinix/equinix-sim.ts";
import { REAL_TIMINGS as EQUINIX_TIMINGS, type EquinixSimOptions } from "../sim/equinix/options.ts";
import type { Firmware } from "../sim/hardware.ts";
import { createLatitudeSim, type LatitudeSim } from "../sim/latitude/latitude-sim.ts";
import { REAL_TIMINGS as LATITUDE_TIMINGS, type LatitudeSimOptions } from "../sim/latitude/options.ts";
import { quicker } from "../sim/pace.ts";
import type { SavedState } from "../sim/saved.ts";

export interface CloudOptions {
  clock: Clock;
  random: Random;
  firmware: Firmware;
  /** How many times faster than real metal. */
  speed: number;
  /** Where its state is kept between runs. Default: nowhere. */
  saved?: SavedState | undefined;
}

export interface Cloud<Sim> {
  sim: Sim;
  /** Where the real one is. */
  origin: string;
  /** Of the API below its origin. */
  path: string;
  /** Ends its machines and writes what is not yet saved. */
  close(): Promise<void>;
}

/** A simulated Equinix Metal. `own`: what is asked of it beside. Throws a `Fault` for a saved state that can't be read. */
export async function equinixCloud(options: CloudOptions, own: Partial<EquinixSimOptions>): Promise<Cloud<EquinixSim>> {
  const { clock, random, firmware, speed, saved } = options;
  const sim: EquinixSim = createEquinixSim({
    ...{ clock, random, firmware },
    timings: quicker(EQUINIX_TIMINGS, speed),
    restore: await saved?.load(),
    onChange: () => saved?.changed(() => sim.snapshot()),
    ...own,
  });
  return { sim, origin: "https://api.equinix.com", path: "/metal/v1", close: () => ended(sim, saved) };
}

/** A simulated Latitude.sh, in the same way. */
export async function latitudeCloud(
  options: CloudOptions,
  own: Partial<LatitudeSimOptions>,
): Promise<Cloud<LatitudeSim>> {
  const { clock, random, firmware, speed, saved } = options;
  const sim: LatitudeSim = createLatitudeSim({
    ...{ clock, random, firmware },
    timings: quicker(LATITUDE_TIMINGS, speed),
    restore: await saved?.load(),
    onChange: () => saved?.changed(() => sim.snapshot()),
    ...own,
  });
  return { sim, origin: "https://api.latitude.sh", path: "", close: () => ended(sim, saved) };
}

async function ended(sim: { close(): void }, saved: SavedState | undefined): Promise<void> {
  sim.close();
  await saved?.flush();
}
