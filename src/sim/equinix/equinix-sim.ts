/**
 * SIMULATION of the Equinix Metal API: devices, ports, VLANs, capacity, spot market and metadata, stateful, in any clock's time.
 *
 * Promises answers of the form that the API's OpenAPI document gives, and takes what the original operator's client sent besides
 * (flags in the body, prices as text, tags null). Needs a `Firmware` that does what the machines do. Must not know who calls.
 * All work is done when an answer is given, except timers of the given clock; `close` ends those.
 */
import type { HttpHandler } from "@slipway/base";
import { Cloud, type Purchase } from "./cloud.ts";
import type { SimDevice } from "./device.ts";
import { Lifecycle } from "./lifecycle.ts";
import { metadataService } from "./metadata.ts";
import type { EquinixSimOptions, SimProject } from "./options.ts";
import { restore } from "./restore.ts";
import { router } from "./router.ts";
import { routesOf } from "./routes.ts";
import { snapshotOf } from "./snapshot.ts";

export interface EquinixSim {
  /** The API, under `/metal/v1` or at the root. */
  handle: HttpHandler;
  /** The metadata service; the asker is identified by `remote`, a machine's address. */
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
  /** All that outlives the process, as JSON: the option `restore` of another simulation goes on from it. Holds the key and user data. */
  snapshot(): object;
  /** Ends all that is to come. */
  close(): void;
}

/** Throws a `Fault` (`Invalid`) for a snapshot that it can't go on from. */
export function createEquinixSim(options: EquinixSimOptions): EquinixSim {
  const cloud = new Cloud(options);
  const lifecycle = new Lifecycle(cloud);
  if (options.restore !== undefined) {
    restore(cloud, options.restore, options.restoredFrom);
    for (const device of cloud.devices.values()) lifecycle.resume(device);
  }
  const counts = new Map<string, number>();
  const routes = routesOf(lifecycle);

  const named = (id: string): SimDevice => {
    const device = cloud.devices.get(id);
    if (device === undefined) throw new RangeError(`no simulated device ${id}`);
    return device;
  };

  /** A verb for scenarios: its effect is kept in snapshots. */
  const change = (done: () => void): void => {
    done();
    cloud.changed();
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
    kill: (id) => change(() => lifecycle.kill(named(id))),
    fail: (id, why = "Hardware failure") => change(() => lifecycle.fail(named(id), why)),
    revokeSpot: (id) => change(() => lifecycle.revoke(named(id))),
    setCapacity(metro, plan, machines) {
      if (machines === undefined) cloud.capacity.delete(`${metro}/${plan}`);
      else cloud.capacity.set(`${metro}/${plan}`, machines);
      cloud.changed();
    },
    setSpotPrice(metro, plan, perHour) {
      cloud.spotPrices.set(`${metro}/${plan}`, perHour);
      cloud.changed();
    },
    rotateKey(token) {
      cloud.token = token;
      cloud.changed();
    },
    snapshot: () => snapshotOf(cloud),
    close: () => lifecycle.close(),
  };
}
