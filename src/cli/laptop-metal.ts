import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Http } from "../base/http.ts";
import { serveHttp } from "../base/http-server.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Client } from "../kube/client.ts";
import { createEquinixSim, type EquinixSim } from "../sim/equinix/equinix-sim.ts";
import { REAL_TIMINGS as EQUINIX_TIMINGS } from "../sim/equinix/options.ts";
import { createFirmware } from "../sim/firmware/firmware.ts";
import { METAL_TIMINGS } from "../sim/firmware/timings.ts";
import { createLatitudeSim, type LatitudeSim } from "../sim/latitude/latitude-sim.ts";
import { REAL_TIMINGS as LATITUDE_TIMINGS } from "../sim/latitude/options.ts";
import { quicker } from "../sim/pace.ts";
import { savedState } from "../sim/saved.ts";
import { seedSite } from "../sim/site/seed.ts";
import { createHarvesterSite } from "../sim/site/site.ts";

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

export interface MetalOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  /** The network of the machines: real sockets. */
  http: Http;
  speed: number;
  vip: string;
  joinToken: string;
  /** Where the clouds' state is kept; undefined: nowhere. */
  dir: string | undefined;
}

/** The simulated providers on sockets of their own, and the Harvester cluster that their machines join. */
export interface SimulatedMetal {
  equinix: { url: string; sim: EquinixSim };
  latitude: { url: string; sim: LatitudeSim };
  close(): Promise<void>;
}

/** Harvester release of the simulated cluster. */
const SITE_VERSION = "v1.8.1";
/** The managers that the cluster consists of before any pool; with three, no pool machine is promoted to one. */
const FOUNDERS = [1, 2, 3].map((number) => ({
  hostname: `harvester-manager-${number}`,
  machineId: `00000000-0000-4000-8000-00000000000${number}`,
  role: "management" as const,
  founder: true,
  labels: {},
  nics: [],
  addresses: [{ type: "InternalIP" as const, address: `10.20.30.4${number}` }],
  version: SITE_VERSION,
}));
const SAVE_MS = 200;

export async function startMetal(options: MetalOptions): Promise<SimulatedMetal> {
  const { client, clock, random, log, http, speed, vip, joinToken, dir } = options;
  await seedSite(client, { vip, version: SITE_VERSION, vipMode: "static" });
  const site = createHarvesterSite({ client, clock, joinToken, vip });
  await site.start();
  for (const founder of FOUNDERS) await site.join({ ...founder, token: joinToken, serverUrl: `https://${vip}` });
  const firmware = createFirmware({ http, clock, random, log, site, timings: quicker(METAL_TIMINGS, speed) });
  const equinixFile =
    dir === undefined ? undefined : savedState(join(dir, "equinix.json"), { clock, debounceMs: SAVE_MS });
  const latitudeFile =
    dir === undefined ? undefined : savedState(join(dir, "latitude.json"), { clock, debounceMs: SAVE_MS });
  const equinix: EquinixSim = createEquinixSim({
    clock,
    random,
    firmware,
    token: EXAMPLE_KEYS.equinix.token,
    projects: [EXAMPLE_KEYS.equinix.project],
    timings: quicker(EQUINIX_TIMINGS, speed),
    restore: await equinixFile?.load(),
    onChange: () => equinixFile?.changed(() => equinix.snapshot()),
  });
  const latitude: LatitudeSim = createLatitudeSim({
    clock,
    random,
    firmware,
    token: EXAMPLE_KEYS.latitude.token,
    project: EXAMPLE_KEYS.latitude.project,
    timings: quicker(LATITUDE_TIMINGS, speed),
    restore: await latitudeFile?.load(),
    onChange: () => latitudeFile?.changed(() => latitude.snapshot()),
  });
  await seedNetworks(equinix);
  const equinixSocket = await serveHttp(equinix.handle, {});
  const latitudeSocket = await serveHttp(latitude.handle, {});
  return {
    equinix: { url: `${equinixSocket.url}/metal/v1`, sim: equinix },
    latitude: { url: latitudeSocket.url, sim: latitude },
    async close() {
      await equinixSocket.close();
      await latitudeSocket.close();
      await equinixFile?.flush();
      await latitudeFile?.flush();
      equinix.close();
      latitude.close();
      site.close();
    },
  };
}

/** VLANs that the examples name. They must exist at the provider before a machine is put on them. */
const EXAMPLE_VLANS = { metro: "sg", vxlans: [1000, 1001] };

/** Creates the examples' VLANs through the simulated API; those that exist already are refused, which is as well. */
export async function seedNetworks(equinix: EquinixSim): Promise<void> {
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
