/** The lives of a few hosts of one rack under faults drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { Fault, seededRandom } from "@slipway/base";
import type { SimServer } from "../../src/sim/rack/server.ts";
import { SOUND } from "../../src/sim/rack/server-parts.ts";
import { checkRack, LEFT_OVER, OTHER_IMAGE } from "./inventory-life.ts";
import { IMAGE, InventoryWorld, MINUTE } from "./inventory-world.ts";
import { PROFILES, profile } from "./profiles.ts";

/** What is asked for, and what runs then; undefined: nothing. */
const WISHES = [
  { runs: undefined },
  { runs: IMAGE.url, image: IMAGE },
  { runs: OTHER_IMAGE.url, image: OTHER_IMAGE },
  ...(["preseed", "harvester"] as const).map((installer) => ({
    runs: installer,
    customDeploy: { method: `${installer}/${installer}` },
  })),
] as readonly { runs: string | undefined; image?: object; customDeploy?: object }[];

const HOSTS = 3;
const MISCHIEF_MS = 90 * MINUTE;
const LONG = 48 * 60 * MINUTE;

/** Plays the history of one seed. Throws when it does not converge or an invariant is broken. */
export async function rackUnderFaults(seed: number): Promise<void> {
  const draw = seededRandom(seed * 7919 + 3);
  const chance = (p: number): boolean => draw.fraction() < p;
  let isMischief = true;
  const world = await InventoryWorld.create({
    seed,
    most: 1 + draw.int(HOSTS),
    serverFaults: {
      ...SOUND,
      powerCut: () => isMischief && chance(0.1),
      mute: () => isMischief && chance(0.1),
      failure: (order) => (isMischief && chance(0.15) ? `${order} failed: the disk reports an error` : undefined),
    },
    bmcFaults: (server) => (call) => {
      if (isMischief && chance(0.08)) befall(server, call);
    },
  });
  try {
    await world.start();
    for (const installer of ["preseed", "harvester"] as const) await profile(world, installer, PROFILES[installer]);
    const names = Array.from({ length: HOSTS }, (_, i) => `node-${i + 1}`);
    for (const name of names) {
      const server = world.rack(name);
      if (chance(0.7)) server.disks[0]!.content = LEFT_OVER;
      if (chance(0.3)) server.on();
      await world.declare(name);
    }
    const wanted = new Map<string, string | undefined>();
    const ends = world.clock.now() + MISCHIEF_MS;
    await world.until(
      "mischief is over",
      async () => {
        await checkRack(world);
        await mischief(names, wanted);
        return world.clock.now() >= ends;
      },
      LONG,
      20_000,
    );
    isMischief = false;
    await world.until("all are as they should be", () => isConverged(world, names, wanted), LONG, 20_000);
    for (const name of names) await world.remove(name);
    await world.until("all are gone", async () => (await world.hosts()).length === 0, LONG, 20_000);
    for (const server of world.servers.values())
      assert.deepEqual([server.isOn, server.disks[0]?.content], [false, undefined], `${server.name} is off and wiped`);
  } finally {
    await world.close();
  }

  function befall(server: SimServer, call: string): void {
    const which = draw.int(3);
    if (which === 0) throw new Fault("Unavailable", `bmc of ${server.name}`, "it is not reached");
    if (which === 1 && call === "setPower") throw new Fault("Timeout", `bmc of ${server.name}`, "nothing has changed");
    throw new Fault("LostAnswer", `bmc of ${server.name}`, "its answer did not come");
  }

  async function mischief(names: readonly string[], wanted: Map<string, string | undefined>): Promise<void> {
    const name = names[draw.int(names.length)]!;
    if (chance(0.15)) {
      const next = WISHES[draw.int(WISHES.length)]!;
      wanted.set(name, next.runs);
      await world.change(name, { spec: { image: next.image ?? null, customDeploy: next.customDeploy ?? null } });
    }
    if (chance(0.04)) {
      world.kill();
      await world.start();
    }
    if (chance(0.03)) {
      const password = `password ${draw.int(1_000_000)}`;
      world.rotate(name, password);
      if (chance(0.7)) await world.setPassword(name, password);
      else wanted.set(`${name} password`, password);
    }
    if (chance(0.03)) world.servers.get(name)!.off();
  }
}

/** Every host has what was asked for last. Passwords that nobody put into the Secret are put there. */
async function isConverged(
  world: InventoryWorld,
  names: readonly string[],
  wanted: Map<string, string | undefined>,
): Promise<boolean> {
  for (const name of names) {
    const password = wanted.get(`${name} password`);
    if (password !== undefined) {
      wanted.delete(`${name} password`);
      await world.setPassword(name, password);
    }
    const { status } = (await world.host(name))!;
    const server = world.servers.get(name)!;
    const image = wanted.get(name);
    const state = status?.provisioning?.state;
    if (status?.operationalStatus !== "OK") return false;
    if (image === undefined ? state !== "available" : state !== "provisioned") return false;
    if (image !== undefined && (server.running?.is !== "system" || server.running.image !== image)) return false;
  }
  return true;
}
