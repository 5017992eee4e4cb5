/** A cluster's life with the Packet provider, for deaths at each effect and for faults by seed. */
import assert from "node:assert/strict";
import { seededRandom } from "@slipway/base";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { PacketCluster } from "../../src/kinds/packet/packet-cluster.ts";
import { PacketMachine } from "../../src/kinds/packet/packet-machine.ts";
import type { Death } from "./mortal.ts";
import { PacketWorld, PROJECT } from "./packet-world.ts";
import { crewOfReplicas, oneOperator, type Staff } from "./staff.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

/** Machines of others in the project: more than a page of the API's own choice. */
const FOREIGN = 25;

/** Two machines, one of the control plane, one replaced, all deleted, with `death` on the way. Returns how many effects it took. */
export async function lifeWithDeath(death?: Death): Promise<{ effects: number }> {
  const world = await PacketWorld.create({ seed: 7 });
  try {
    for (let i = 0; i < FOREIGN; i++)
      await world.metal(`/projects/${PROJECT}/devices`, {
        ...{ hostname: `foreign-${i}`, plan: "c3.small.x86", metro: "da", operating_system: "ubuntu_20_04" },
      });
    const first = await world.operator(death === undefined ? {} : { death });
    let restarted = false;
    const until = (what: string, holds: () => Promise<boolean>) =>
      world.until(
        what,
        async () => {
          if (first.mortal.dead && !restarted) {
            restarted = true;
            await world.operator();
          }
          await world.core();
          return await holds();
        },
        4 * HOUR,
        20 * SECOND,
      );
    const ready = async (count: number) =>
      (await world.packetMachines()).filter(({ status }) => status?.ready === true).length === count;

    await world.cluster("a");
    await world.machine("a-1", {}, { controlPlane: true });
    await world.machine("a-2");
    await until("two machines", () => ready(2));
    await world.remove(PacketMachine, "a-2");
    await world.machine("a-3");
    await until("its replacement", async () => (await world.packetMachines()).length === 2 && (await ready(2)));
    assert.equal((await world.addresses()).length, 1);
    for (const name of ["a-1", "a-3"]) await world.remove(PacketMachine, name);
    await world.remove(PacketCluster, "a");
    await until("nothing is left", () => isGone(world));
    assertNothingLeft(world, await world.addresses());
    assert.equal(world.equinix.boughtEver().length, FOREIGN + 3, "no machine is bought twice");
    assert.equal(world.equinix.counters().requestIPReservation, 1, "no address is reserved twice");
    return { effects: first.mortal.effects };
  } finally {
    await world.close();
  }
}

async function isGone(world: PacketWorld): Promise<boolean> {
  return (await world.packetMachines()).length === 0 && (await world.packetCluster()) === undefined;
}

function assertNothingLeft(world: PacketWorld, addresses: readonly object[]): void {
  const own = world.equinix.devices().filter(({ hostname }) => !hostname.startsWith("foreign"));
  assert.deepEqual([own.map(({ hostname }) => hostname), addresses], [[], []]);
}

/** The same, worked on by replicas that share the work, come and go. */
export const packetOverShards = (seed: number): Promise<void> => lifeWithFaults(seed, crewOfReplicas());

/** One life under faults drawn from a seed, its objects deleted in a drawn order. The same seed is the same history. */
export async function lifeWithFaults(seed: number, staff: Staff = oneOperator(0.04)): Promise<void> {
  const draw = seededRandom(seed * 6007 + 3);
  const chance = (p: number): boolean => draw.fraction() < p;
  let broken = draw.int(2);
  const world = await PacketWorld.create({
    seed,
    faults: {
      ...{ lostAnswerAfterEffect: 0.04, lostBeforeEffect: 0.03, throttled: 0.05, serverError: 0.04, reset: 0.03 },
      slow: { rate: 0.2, minMs: 10, maxMs: 8_000 },
    },
    equinix: {
      faults: { staleListsMs: draw.int(30_000), failsToProvision: () => broken-- > 0 && chance(0.5) },
    },
    transport: staff.transport,
  });
  const reach = async (what: string, holds: () => Promise<boolean>, mischiefMs: number): Promise<void> => {
    const ends = world.clock.now() + mischiefMs;
    const step = async (): Promise<boolean> => {
      await (world.clock.now() < ends ? staff.mischief(draw) : staff.mend());
      await world.core();
      return await holds();
    };
    await world.until(`${what} (seed ${seed})`, step, 24 * HOUR, 30 * SECOND);
  };
  try {
    await staff.begin(world);
    await world.cluster("a", { vipManager: chance(0.5) ? "CPEM" : "KUBE_VIP" });
    const names = ["a-1", "a-2", "a-3"];
    for (const [i, name] of names.entries()) await world.machine(name, {}, { controlPlane: i === 0 });
    const isSettled = async () =>
      (await world.packetMachines()).every(
        ({ status }) => status?.ready === true || status?.failureReason !== undefined,
      );
    if (chance(0.8)) await reach("machines", isSettled, 20 * MINUTE);
    else await reach("a while", async () => true, 0);
    const objects: [typeof PacketMachine, string][] = [
      ...names.flatMap((name): [typeof PacketMachine, string][] => [
        [PacketMachine, name],
        [Machine as never, name],
      ]),
      [PacketCluster as never, "a"],
      [Cluster as never, "a"],
    ];
    while (objects.length > 0) {
      const [[kind, name]] = objects.splice(draw.int(objects.length), 1) as [[typeof PacketMachine, string]];
      await world.remove(kind, name);
      if (chance(0.3)) await world.clock.run(draw.int(3 * MINUTE));
    }
    await reach("nothing left", () => isGone(world), 10 * MINUTE);
    assertNothingLeft(world, await world.addresses());
    // An order whose answer was lost may only be repeated once it can't turn up any more.
    assert.ok(world.equinix.boughtEver().length <= names.length, `seed ${seed}: no machine is bought twice`);
  } finally {
    await world.close();
  }
}
