import type { EquinixSim } from "../../src/sim/equinix/equinix-sim.ts";
import type { LatitudeSim } from "../../src/sim/latitude/latitude-sim.ts";

/** A machine as its cloud has it. */
export interface CloudMachine {
  id: string;
  hostname: string;
  /** In service or on its way there; false: on its way out. */
  wanted: boolean;
}

/** What tests do to a cloud and read from it, whichever it is: the same tests run on every provider (H32). */
export interface TestCloud {
  readonly name: "equinix" | "latitude" | "inventory";
  /** The MachineProvider that `pool` names; undefined: none. */
  readonly providerRef?: { name: string };
  /** The Secret of the account, and its key that `rotateKey` makes useless. */
  readonly secret: { namespace: string; name: string; key: string };
  machines(): CloudMachine[];
  /** How many orders were ever accepted. */
  bought(): number;
  fail(id: string): void;
  kill(id: string): void;
  rotateKey(key: string): void;
  /** How many machines are for sale in the first and the second metro of the tests; undefined: plenty. */
  setCapacity(first: number | undefined, second?: number | undefined): Promise<void>;
}

const NAMESPACE = "harvester-system";

/** The tests' plan and metros, in the words of manifests. */
export const PLAN = "c3.small.x86";
export const METROS = ["SG", "NY"] as const;

/** How Latitude calls them. */
export const LATITUDE_MAPPING = {
  planMapping: { [PLAN]: "c2-small-x86", "m3.large.x86": "c3-large-x86" },
  metroMapping: { SG: "SGP", NY: "NYC" },
};

/** The simulated Equinix Metal as tests use it. */
export function equinixCloud(sim: EquinixSim): TestCloud {
  return {
    name: "equinix",
    secret: { namespace: NAMESPACE, name: "equinix-addon", key: "METAL_AUTH_TOKEN" },
    machines: () =>
      sim.devices().map(({ id, hostname, state }) => ({ id, hostname, wanted: state !== "deprovisioning" })),
    bought: () => sim.boughtEver().length,
    fail: (id) => sim.fail(id, "disk error"),
    kill: (id) => sim.kill(id),
    rotateKey: (key) => sim.rotateKey(key),
    async setCapacity(first, second) {
      sim.setCapacity("sg", PLAN, first);
      sim.setCapacity("ny", PLAN, second);
    },
  };
}

/** The simulated Latitude as tests use it. */
export function latitudeCloud(sim: LatitudeSim): TestCloud {
  return {
    name: "latitude",
    providerRef: { name: "latitude" },
    secret: { namespace: NAMESPACE, name: "latitude", key: "METAL_AUTH_TOKEN" },
    machines: () => sim.servers().map(({ id, hostname, leaving }) => ({ id, hostname, wanted: !leaving })),
    bought: () => sim.boughtEver().length,
    fail: (id) => sim.fail(id),
    kill: (id) => sim.kill(id),
    rotateKey: (key) => sim.rotateKey(key),
    async setCapacity(first, second) {
      sim.setStock("SGP", "c2-small-x86", first);
      sim.setStock("NYC", "c2-small-x86", second);
    },
  };
}
