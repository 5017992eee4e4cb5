/**
 * SIMULATION of the Latitude.sh API: servers, user data, virtual networks, stock and locks, stateful, in any clock's time.
 *
 * Promises answers of the form that the API's OpenAPI document gives. Needs a `Firmware` that does what the machines do.
 * Must not know who calls. All work is done when an answer is given, except timers of the given clock; `close` ends those.
 */
import type { HttpHandler } from "@slipway/base";
import { Lifecycle } from "./lifecycle.ts";
import type { LatitudeSimOptions, SimProject } from "./options.ts";
import { catalogRoutes, networkRoutes, userDataRoutes } from "./other-routes.ts";
import { restore } from "./restore.ts";
import { router } from "./router.ts";
import { serverRoutes } from "./server-routes.ts";
import { snapshotOf } from "./snapshot.ts";
import { type Purchase, type SimNetwork, type SimServer, type SimUserData, World } from "./world.ts";

export interface LatitudeSim {
  handle: HttpHandler;
  readonly project: SimProject;
  /** The key that is accepted now. */
  readonly token: string;
  /** What exists now, servers whose disks are being erased included. */
  servers(): readonly SimServer[];
  server(id: string): SimServer | undefined;
  userData(): readonly SimUserData[];
  /** Every order that was ever accepted, oldest first. */
  boughtEver(): readonly Purchase[];
  /** Calls of the API so far, by the document's operationId; `throttled` and `unknown` besides. */
  counters(): Readonly<Record<string, number>>;
  /** The machine loses its power for good; the API does not notice. */
  kill(id: string): void;
  /** The API reports the deployment as failed. */
  fail(id: string): void;
  lock(id: string, locked: boolean): void;
  /** How many servers of a plan are for sale at a site; undefined: plenty. */
  setStock(site: string, plan: string, servers: number | undefined): void;
  /** A virtual network made by the account's owner; its number is the service's choice. */
  addNetwork(site: string, description?: string): SimNetwork;
  rotateKey(token: string): void;
  /** All that outlives the process, as JSON: the option `restore` of another simulation goes on from it. Holds the key and user data. */
  snapshot(): object;
  /** Ends all that is to come. */
  close(): void;
}

/** Throws a `Fault` (`Invalid`) for a snapshot that it can't go on from. */
export function createLatitudeSim(options: LatitudeSimOptions): LatitudeSim {
  const world = new World(options);
  const lifecycle = new Lifecycle(world);
  if (options.restore !== undefined) {
    restore(world, options.restore, options.restoredFrom);
    for (const server of world.servers.values()) lifecycle.resume(server);
  }
  const counts = new Map<string, number>();
  const routes = [...serverRoutes(lifecycle), ...userDataRoutes, ...networkRoutes, ...catalogRoutes];

  const named = (id: string): SimServer => {
    const server = world.servers.get(id);
    if (server === undefined) throw new RangeError(`no simulated server ${id}`);
    return server;
  };

  /** A verb for scenarios: its effect is kept in snapshots. */
  const change = (done: () => void): void => {
    done();
    world.changed();
  };

  return {
    handle: router(world, routes, counts, options.rateLimit),
    project: world.project,
    get token() {
      return world.token;
    },
    servers: () => [...world.servers.values()],
    server: (id) => world.servers.get(id),
    userData: () => [...world.userData.values()],
    boughtEver: () => world.purchases,
    counters: () => Object.fromEntries(counts),
    kill: (id) => change(() => lifecycle.kill(named(id))),
    fail: (id) => change(() => lifecycle.fail(named(id))),
    lock(id, locked) {
      named(id).locked = locked;
      world.changed();
    },
    setStock(site, plan, servers) {
      if (servers === undefined) world.stock.delete(`${site}/${plan}`);
      else world.stock.set(`${site}/${plan}`, servers);
      world.changed();
    },
    addNetwork(site, description = "") {
      const network = { id: world.newId("vlan"), vid: world.newVid(), description, site, createdAt: world.clock.now() };
      world.networks.set(network.id, network);
      world.changed();
      return network;
    },
    rotateKey(token) {
      world.token = token;
      world.changed();
    },
    snapshot: () => snapshotOf(world),
    close: () => lifecycle.close(),
  };
}
