/** One life of a pool on own hosts under faults drawn from a seed. The same seed is the same history. */
import { Fault, seededRandom } from "@slipway/base";
import { SET_ASIDE } from "../../src/inventory/claims/set-aside.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { STAGES } from "../../src/sim/firmware/firmware.ts";
import { HarvesterWorld } from "./harvester-world.ts";
import { assertConverged } from "./invariants.ts";
import { livesTo } from "./pool-life.ts";
import { crewOfReplicas, oneOperator, type Staff } from "./staff.ts";
import { HOUR } from "./world.ts";

/** The same, worked on by replicas that share the work, come and go. */
export const ownPoolOverShards = (seed: number): Promise<void> => ownPoolUnderFaults(seed, crewOfReplicas());

/** Plays the history of one seed. Throws when it does not converge or an invariant is broken. */
export async function ownPoolUnderFaults(seed: number, staff: Staff = oneOperator(0.03)): Promise<void> {
  const draw = seededRandom(seed * 7919 + 5);
  const chance = (p: number): boolean => draw.fraction() < p;
  let isMischief = true;
  let hangs = draw.int(3);
  const world = await HarvesterWorld.create({
    seed,
    provider: "inventory",
    servers: { sg: 4, ny: 0 },
    firmware: { hangs: () => hangs > 0 && chance(0.05 / STAGES.length) && hangs-- > 0 },
    transport: staff.transport,
  });
  try {
    world.own.befall = (server) => {
      if (isMischief && chance(0.04)) throw new Fault("Unavailable", `bmc of ${server.name}`, "it is not reached");
    };
    await staff.begin(world);
    await world.pool("rack", {
      count: 2,
      joinTimeout: "40m",
      nodeCleanupWaitInterval: "5m",
      installMode: chance(0.3) ? "TwoPass" : "Auto",
    });
    for (const count of [2, 1 + draw.int(3), draw.int(3)]) {
      const body = { spec: { count } };
      await world.whileTimePasses(world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body }));
      isMischief = true;
      await livesTo(world, count, { mischief, mend, check: () => world.own.check() });
      await world.until("what was given back is free", () => world.cloud.machines().length === count, 2 * HOUR);
      await assertConverged(world, count);
    }
    await world.whileTimePasses(world.client.delete(InstancePool, { name: "rack" }));
    await world.until("nothing is left", async () => (await world.instances()).length === 0, 4 * HOUR);
    await mend();
    await world.own.checkAllFree();
  } finally {
    await world.close();
  }

  async function mischief(): Promise<void> {
    await staff.mischief(draw);
    const servers = [...world.own.rack.servers.values()];
    if (chance(0.02)) servers[draw.int(servers.length)]!.off();
    const machines = world.cloud.machines().filter(({ wanted }) => wanted);
    const victim = machines.length > 0 ? machines[draw.int(machines.length)] : undefined;
    if (victim !== undefined && chance(0.01)) world.cloud.kill(victim.id);
    if (victim !== undefined && chance(0.01)) world.cloud.fail(victim.id);
  }

  /** Nothing happens any more, and a person has looked after the hosts that were set aside. */
  async function mend(): Promise<void> {
    await staff.mend();
    isMischief = false;
    for (const { metadata } of await world.own.hosts()) {
      if (metadata.annotations?.[SET_ASIDE] === undefined) continue;
      const body = { metadata: { annotations: { [SET_ASIDE]: null } } };
      const ref = { namespace: DISCOVERY_NAMESPACE, name: metadata.name };
      await world.whileTimePasses(world.client.patch(BareMetalHost, ref, { type: "merge", body }));
    }
  }
}
