/**
 * SIMULATION of the Equinix Metal API: devices, ports, VLANs, capacity, spot market and metadata, stateful, in any clock's time.
 *
 * Promises answers of the form that the API's OpenAPI document gives, and takes what the original operator's client sent besides
 * (flags in the body, prices as text, tags null). Needs a `Firmware` that does what the machines do. Must not know who calls.
 * All work is done when an answer is given, except timers of the given clock; `close` ends those.
 */
import type { HttpHandler } from "../../base/http.ts";
import { catalogRoutes } from "./catalog-routes.ts";
import { Cloud, type Purchase } from "./cloud.ts";
import type { SimDevice } from "./device.ts";
import { deviceRoutes } from "./device-routes.ts";
import { Lifecycle } from "./lifecycle.ts";
import { metadataService } from "./metadata.ts";
import type { EquinixSimOptions, SimProject } from "./options.ts";
import { portRoutes } from "./port-routes.ts";
import { projectRoutes } from "./project-routes.ts";
import { router } from "./router.ts";

export interface EquinixSim {
  /** The API, under `/metal/v1` or at the root. */
  handle: HttpHandler;
  /** The metadata service; who asks is told by `remote`, a machine's address. */
  metadata: HttpHandler;
  readonly projects: readonly SimProject[];
  /** The key that is accepted now. */
  readonly token: string;
  /** What exists now, being deprovisioned included. */
  devices(): readonly SimDevice[];
  device(id: string): SimDevice | undefined;
  /** Every order that was ever accepted, oldest first. */
  boughtEver(): readonly Purchase[];
  /** Calls of the API so far, by the document's operationId; `throttled` and `unknown` besides. */
  counters(): Readonly<Record<string, number>>;
  /** The machine loses its power for good; the API does not notice. */
  kill(id: string): void;
  /** The API reports the device as failed. */
  fail(id: string, why?: string): void;
  /** The provider wants a spot machine back: notice now, end after the notice. */
  revokeSpot(id: string): void;
  /** How many machines of a plan are for sale in a metro; undefined: plenty. */
  setCapacity(metro: string, plan: string, machines: number | undefined): void;
  setSpotPrice(metro: string, plan: string, perHour: number): void;
  rotateKey(token: string): void;
  /** Ends all that is to come. */
  close(): void;
}

export function createEquinixSim(options: EquinixSimOptions): EquinixSim {
  const cloud = new Cloud(options);
  const lifecycle = new Lifecycle(cloud);
  const counts = new Map<string, number>();
  const routes = [...deviceRoutes(lifecycle), ...portRoutes, ...projectRoutes, ...catalogRoutes];

  const named = (id: string): SimDevice => {
    const device = cloud.devices.get(id);
    if (device === undefined) throw new RangeError(`no simulated device ${id}`);
    return device;
  };

  return {
    handle: router(cloud, routes, counts, options.rateLimit),
    metadata: metadataService(cloud),
    projects: [...cloud.projects.values()],
    get token() {
      return cloud.token;
    },
    devices: () => [...cloud.devices.values()],
    device: (id) => cloud.devices.get(id),
    boughtEver: () => [...cloud.purchases.values()],
    counters: () => Object.fromEntries(counts),
    kill: (id) => lifecycle.kill(named(id)),
    fail: (id, why = "Hardware failure") => lifecycle.fail(named(id), why),
    revokeSpot: (id) => lifecycle.revoke(named(id)),
    setCapacity(metro, plan, machines) {
      if (machines === undefined) cloud.capacity.delete(`${metro}/${plan}`);
      else cloud.capacity.set(`${metro}/${plan}`, machines);
    },
    setSpotPrice(metro, plan, perHour) {
      cloud.spotPrices.set(`${metro}/${plan}`, perHour);
    },
    rotateKey(token) {
      cloud.token = token;
    },
    close: () => lifecycle.close(),
  };
}
