import { planeUnderFaults } from "./control-plane-life.ts";
import { lifeOfDeaths } from "./deaths-seed.ts";
import { runSeeds } from "./fault-seed.ts";
import { ownPoolUnderFaults } from "./own-seed.ts";
import { rackUnderFaults } from "./rack-seed.ts";
import { sipUnderFaults } from "./sip-seed.ts";
import { tenantsUnderFaults } from "./tenant-seed.ts";

const from = Number(process.env.FROM ?? 1);
const seeds = Number(process.env.SEEDS ?? 1000);
await runSeeds(from, seeds);
console.log(`${seeds} seeds from ${from}: every life converged, nothing was bought twice or left over`);
await runSeeds(from, seeds, { life: rackUnderFaults });
console.log(`${seeds} seeds from ${from}: every host got what was asked for last, none was offered unwiped or running`);
await runSeeds(from, seeds, { life: lifeOfDeaths });
console.log(`${seeds} seeds from ${from}: every host lived on though each process died after a few effects`);
await runSeeds(from, seeds, { life: ownPoolUnderFaults });
console.log(
  `${seeds} seeds from ${from}: every pool on own hosts converged, nobody had two hosts, none was offered unwiped`,
);
await runSeeds(from, seeds, { life: tenantsUnderFaults });
console.log(`${seeds} seeds from ${from}: every tenant converged with its own objects, nothing of any was left over`);
await runSeeds(from, seeds, { life: sipUnderFaults });
console.log(
  `${seeds} seeds from ${from}: no host was in two SIPClusters, none claimed beyond what was asked for, none kept`,
);
await runSeeds(from, seeds, { life: planeUnderFaults });
console.log(
  `${seeds} seeds from ${from}: every control plane and worker converged, no token, tenant or Secret was left over`,
);
