/** Histories that are drawn from seeds, each kind by its name. */
import { coreOverShards, coreUnderFaults } from "./cluster-api-life.ts";
import { planeUnderFaults } from "./control-plane-life.ts";
import { lifeOfDeaths } from "./deaths-seed.ts";
import { lifeUnderFaults } from "./fault-seed.ts";
import { hostClaimsOverShards } from "./host-claim-seed.ts";
import { ownPoolOverShards, ownPoolUnderFaults } from "./own-seed.ts";
import { lifeWithFaults, packetOverShards } from "./packet-life.ts";
import { remoteOverShards, remoteUnderFaults } from "./plunder-remote-seed.ts";
import { plunderOverShards, plunderUnderFaults } from "./plunder-seed.ts";
import { rackUnderFaults } from "./rack-seed.ts";
import { poolsOverShards } from "./shard-seed.ts";
import { sipOverShards, sipUnderFaults } from "./sip-seed.ts";
import { rivalsOverShards, tenantsOverShards, tenantsUnderFaults } from "./tenant-seed.ts";
import { vinosOverShards, vinosUnderFaults } from "./vino-seed.ts";

export interface Lives {
  life(seed: number): Promise<unknown>;
  /** What is known once all seeds have passed. */
  shows: string;
  /** How many of them a round of a night has: about ten seconds of work, and more for `shards`, which has many kinds in it. */
  perRound: number;
}

const OVER_SHARDS = [
  poolsOverShards,
  ownPoolOverShards,
  coreOverShards,
  packetOverShards,
  vinosOverShards,
  plunderOverShards,
  remoteOverShards,
  sipOverShards,
  tenantsOverShards,
  rivalsOverShards,
  hostClaimsOverShards,
];

/** One of them, by the seed. */
async function overShards(seed: number): Promise<void> {
  await OVER_SHARDS[seed % OVER_SHARDS.length]!(seed);
}

/** All kinds. */
export const LIVES: Readonly<Record<string, Lives>> = {
  pool: { life: lifeUnderFaults, shows: "every life converged, nothing was bought twice or left over", perRound: 2 },
  shards: {
    life: overShards,
    shows:
      "pools, own hosts, HostClaims, clusters of the core, of Packet and of plunder, Vinos, SIPClusters and tenants whose work replicas share converged while those came and went, nothing was bought, wiped or given twice",
    perRound: 3,
  },
  rack: {
    life: rackUnderFaults,
    shows: "every host got what was asked for last, none was offered unwiped or running",
    perRound: 6,
  },
  deaths: {
    life: lifeOfDeaths,
    shows: "every host lived on though each process died after a few effects",
    perRound: 20,
  },
  own: {
    life: ownPoolUnderFaults,
    shows: "every pool on own hosts converged, nobody had two hosts, none was offered unwiped",
    perRound: 2,
  },
  tenants: {
    life: tenantsUnderFaults,
    shows: "every tenant converged with its own objects, nothing of any was left over",
    perRound: 3,
  },
  sip: {
    life: sipUnderFaults,
    shows: "no host was in two SIPClusters, none claimed beyond what was asked for, none kept",
    perRound: 6,
  },
  vinos: {
    life: vinosUnderFaults,
    shows:
      "no address, MAC or machine of Vinos was given twice, every node had what was asked for, nothing was left over",
    perRound: 12,
  },
  plunder: {
    life: plunderUnderFaults,
    shows: "every PlunderMachine got one host, deletion in any order ended, no host or address was left over",
    perRound: 3,
  },
  remote: {
    life: remoteUnderFaults,
    shows:
      "every PlunderMachine got one machine of a netboot elsewhere, deletion in any order ended, every machine was wiped",
    perRound: 3,
  },
  packet: {
    life: lifeWithFaults,
    shows: "clusters of Packet machines were deleted in any order, nothing was bought twice or left",
    perRound: 16,
  },
  planes: {
    life: planeUnderFaults,
    shows: "every control plane and worker converged, no token, tenant or Secret was left over",
    perRound: 4,
  },
  core: {
    life: coreUnderFaults,
    shows: "every cluster of the light core converged, no host was kept, nothing was left",
    perRound: 2,
  },
};

/** Those of the names in a text, separated by spaces or commas; unset: all. Throws for a name that is none. */
export function livesNamed(only: string = Object.keys(LIVES).join(" ")): [name: string, lives: Lives][] {
  return only.split(/[ ,]+/).map((name) => {
    const lives = LIVES[name];
    if (lives === undefined) throw new Error(`ONLY=${name}: there is ${Object.keys(LIVES).join(", ")}`);
    return [name, lives];
  });
}
