import { leftOvers } from "../../sim/site/left-overs.ts";
import { type SeedOptions, seedSite } from "../../sim/site/seed.ts";
import { createHarvesterSite, type Site } from "../../sim/site/site.ts";
import type { Counterpart, CounterpartPorts } from "../counterpart.ts";

/** Harvester release of the simulated cluster. */
const VERSION = "v1.8.1";

/** The managers that the cluster consists of before any pool; with three, no pool machine is promoted to one. */
const FOUNDERS = [1, 2, 3].map((number) => ({
  hostname: `harvester-manager-${number}`,
  machineId: `00000000-0000-4000-8000-00000000000${number}`,
  role: "management" as const,
  founder: true,
  labels: {},
  nics: [],
  addresses: [{ type: "InternalIP" as const, address: `10.20.30.4${number}` }],
  version: VERSION,
}));

/** A Harvester cluster with these contents, begun. */
export async function startSite(
  { client, clock, joinToken, vip }: CounterpartPorts,
  seed: Partial<SeedOptions> = {},
): Promise<Site> {
  await seedSite(client, { vip, version: VERSION, vipMode: "static", ...seed });
  const site = createHarvesterSite({ client, clock, joinToken, vip });
  await site.start();
  return site;
}

/** The Harvester cluster: what is in it before any pool, and its life. */
export const counterpart: Counterpart = {
  title: "Harvester",
  async start(ports) {
    const { joinToken, vip } = ports;
    const site = await startSite(ports);
    for (const founder of FOUNDERS) await site.join({ ...founder, token: joinToken, serverUrl: `https://${vip}` });
    return site;
  },
  leftOvers,
};
