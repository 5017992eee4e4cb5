import { test } from "node:test";
import { runSeeds } from "./fault-seed.ts";
import { remoteUnderFaults } from "./plunder-remote-seed.ts";

/** Of each of the five turns. `make sim` plays more. */
const COUNT = 4;
const first = 1 + (Number(process.env.TURN ?? "0") % 5) * COUNT;

test(`N33 N34 N38 N42 under faults of seeds ${first} to ${first + COUNT - 1} PlunderMachines get a machine each of a netboot outside of the cluster, deletion in any order ends, and every machine is wiped and free`, async () => {
  await runSeeds(first, COUNT, { life: remoteUnderFaults, of: "remote" });
});
