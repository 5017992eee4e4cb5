/**
 * Machines of a netboot outside of this operator (`slipway netboot --plunder-api`), reached by its API. A machine is a claim that the netboot keeps with the
 * deployment, from the request that takes it until its disks are proven to be wiped. What a netboot says is checked, never believed: no answer of its gives
 * a claim another machine, or two claims one.
 */
import { Fault } from "@slipway/base";
import type { MachineDriver } from "../../machine.ts";
import type { DriverFactory } from "../../provider.ts";
import { netbootApi } from "./api.ts";
import { concernsAbout } from "./choose.ts";
import { NetbootTurns } from "./turns.ts";

/** The driver of one netboot. Nothing is asked before the first call. */
export const createPlunderDriver: DriverFactory = ({ endpoint, client }, { http, clock }): MachineDriver => {
  if (endpoint === undefined)
    throw new Fault("Invalid", "plunder", "no netboot is named", { remedy: "name one by Secret plunder" });
  const on = `netboot ${endpoint}`;
  const turns = new NetbootTurns(netbootApi({ endpoint, client, http, clock }), { on, clock });
  const unsupported = async (): Promise<never> => {
    throw new Fault("Unsupported", on, "a netboot neither switches machines nor installs one anew", {
      remedy: "delete the Machine, and let another be made",
    });
  };
  return {
    type: "plunder",
    capabilities: {
      ...{ networkModes: [], spot: false, reservations: false },
      ...{ reinstall: false, locks: false, userData: false },
    },
    check: concernsAbout,
    // Whatever the netboot's boot configurations are: it refuses a name that is none.
    imageOf: () => "onDisk",
    couldServe: async (order) => (await turns.candidates(order)).fitting.length > 0,
    list: (signal) => turns.list(signal),
    find: (claim, signal) => turns.find(claim, signal),
    read: (id, signal) => turns.read(id, signal),
    create: (order, signal) => turns.begin(order, signal),
    configure: unsupported,
    reinstall: unsupported,
    power: unsupported,
    networkSettled: () => true,
    setNetwork: async (machine) => machine,
    release: (id, _, signal) => turns.end(id, signal),
    proofOf: (id, signal) => turns.proofOf(id, signal),
  };
};
