import { join } from "node:path";
import { type Clock, closeAll, type Http, type HttpHandler, type Log, type Random } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import type { Client } from "@slipway/kube";
import type { EquinixSim } from "../sim/equinix/equinix-sim.ts";
import type { EquinixSimOptions } from "../sim/equinix/options.ts";
import { createFirmware, type FirmwareOptions } from "../sim/firmware/firmware.ts";
import { SimControlPlanes } from "../sim/firmware/kubeadm-init.ts";
import { METAL_TIMINGS } from "../sim/firmware/timings.ts";
import type { Firmware } from "../sim/hardware.ts";
import type { LatitudeSim } from "../sim/latitude/latitude-sim.ts";
import type { LatitudeSimOptions } from "../sim/latitude/options.ts";
import { quicker } from "../sim/pace.ts";
import { type SavedState, savedState } from "../sim/saved.ts";
import type { Counterpart } from "../systems/counterpart.ts";
import { anyCluster } from "./any-cluster.ts";
import { equinixCloud, latitudeCloud } from "./clouds.ts";

/** What the examples name: keys and projects of the simulated providers. They open nothing but the simulation. */
export const EXAMPLE_KEYS = {
  equinix: {
    token: "simulated-api-key-of-the-demo",
    project: { id: "5f1c7f0e-9f3a-4d52-8a51-6f2f3f0c9b11", name: "demo" },
  },
  latitude: {
    token: "simulated-latitude-key-of-the-demo",
    project: { id: "proj_simulated", name: "demo", slug: "demo" },
  },
} as const;

/** Puts a server where its clients reach it; `origin` is its public one. */
export type Serve = (origin: string, handler: HttpHandler) => Promise<{ url: string; close(): Promise<void> }>;

export interface MetalOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  /** The network of the machines. */
  http: Http;
  /** How many times faster than real metal. Default: 1. */
  speed?: number;
  vip: string;
  joinToken: string;
  /** The clusters that are simulated for machines to join. */
  counterparts: readonly Counterpart[];
  /** Where the clouds' state is kept. Unset: nowhere. */
  dir?: string | undefined;
  /** Default: on loopback sockets. */
  serve?: Serve;
  /** Whether control planes that simulated machines begin listen at their endpoints. Default: only this process reaches them. */
  controlPlanesOnSockets?: boolean;
  /** What else is asked of the clouds and of the machines' firmware. */
  equinix?: Partial<EquinixSimOptions>;
  latitude?: Partial<LatitudeSimOptions>;
  firmware?: Pick<FirmwareOptions, "hangs" | "installFails" | "timings">;
}

/** The simulated providers, and the clusters that their machines join. */
export interface SimulatedMetal {
  equinix: { url: string; sim: EquinixSim };
  latitude: { url: string; sim: LatitudeSim };
  /** Of every simulated machine. */
  firmware: Firmware;
  /** Control planes that simulated machines have begun. */
  controlPlanes: SimControlPlanes;
  close(): Promise<void>;
}

const SAVE_MS = 200;

/** Starts the clusters, then the clouds. The caller calls `close`. Throws a `Fault` for a saved state that cannot be read. */
export async function startMetal(options: MetalOptions): Promise<SimulatedMetal> {
  const { clock, random, log, http, speed = 1, serve = onLoopback } = options;
  const clusters = await Promise.all(options.counterparts.map((counterpart) => counterpart.start(options)));
  const site = anyCluster(clusters);
  const timings = quicker(METAL_TIMINGS, speed);
  const controlPlanes = new SimControlPlanes(
    { clock, random, log },
    { onSockets: options.controlPlanesOnSockets === true },
  );
  const firmware = createFirmware({ http, clock, random, log, site, timings, controlPlanes, ...options.firmware });
  const beside = { clock, random, firmware, speed };
  const equinix = await equinixCloud(
    { ...beside, saved: saved("equinix", options) },
    { token: EXAMPLE_KEYS.equinix.token, projects: [EXAMPLE_KEYS.equinix.project], ...options.equinix },
  );
  const latitude = await latitudeCloud(
    { ...beside, saved: saved("latitude", options) },
    { ...EXAMPLE_KEYS.latitude, ...options.latitude },
  );
  await seedNetworks(equinix.sim);
  const equinixServed = await serve(equinix.origin, equinix.sim.handle);
  const latitudeServed = await serve(latitude.origin, latitude.sim.handle);
  return {
    equinix: { url: `${equinixServed.url}${equinix.path}`, sim: equinix.sim },
    latitude: { url: `${latitudeServed.url}${latitude.path}`, sim: latitude.sim },
    firmware,
    controlPlanes,
    close: () =>
      closeAll([
        () => controlPlanes.close(),
        ...clusters.map((cluster) => () => cluster.close()),
        () => latitude.close(),
        () => equinix.close(),
        () => latitudeServed.close(),
        () => equinixServed.close(),
      ]),
  };
}

const onLoopback: Serve = (_origin, handler) => serveHttp(handler, {});

/** Where a cloud's state is kept between runs. */
function saved(cloud: string, { dir, clock }: MetalOptions): SavedState | undefined {
  return dir === undefined ? undefined : savedState(join(dir, `${cloud}.json`), { clock, debounceMs: SAVE_MS });
}

/** VLANs that the examples name. They must exist at the provider before a machine is put on them. */
const EXAMPLE_VLANS = { metro: "sg", vxlans: [1000, 1001] };

/** Creates the examples' VLANs through the simulated API; those that exist already are refused, which is as well. */
async function seedNetworks(equinix: EquinixSim): Promise<void> {
  const { token, project } = EXAMPLE_KEYS.equinix;
  for (const vxlan of EXAMPLE_VLANS.vxlans) {
    await equinix.handle({
      method: "POST",
      url: `https://api.equinix.com/metal/v1/projects/${project.id}/virtual-networks`,
      headers: { "x-auth-token": token, "content-type": "application/json" },
      body: JSON.stringify({ vxlan, metro: EXAMPLE_VLANS.metro }),
      remote: "127.0.0.1",
    });
  }
}
