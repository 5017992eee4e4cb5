/** A host's life in which no process lives longer than a few effects: each dies at one drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { Fault, seededRandom } from "@slipway/base";
import { SOUND } from "../../src/sim/rack/server-parts.ts";
import { checkRack, LEFT_OVER } from "./inventory-life.ts";
import { LIVES } from "./inventory-lives.ts";
import { InventoryWorld, SECOND } from "./inventory-world.ts";
import { StateChanges } from "./releases.ts";

/** Effects that a process has at most before it dies at the next. */
const MOST_EFFECTS = 6;

/** Plays the history of one seed. Throws when the life does not come to its end or an invariant is broken. Resolves with the deaths that there were. */
export async function lifeOfDeaths(seed: number): Promise<number> {
  const draw = seededRandom(seed * 7919 + 12);
  const chance = (p: number): boolean => draw.fraction() < p;
  const lives = Object.values(LIVES);
  const play = lives[seed % lives.length]!;
  const name = "node-1";
  const world = await InventoryWorld.create({
    seed,
    // Who sees to it that a process runs starts another at once.
    lookMs: 5 * SECOND,
    serverFaults: { ...SOUND, powerCut: () => chance(0.03), mute: () => chance(0.03) },
    bmcFaults: (server) => () => {
      if (chance(0.01)) throw new Fault("LostAnswer", `bmc of ${server.name}`, "its answer did not come");
    },
    transport: (inner) => changes.through(inner),
  });
  const wrong: string[] = [];
  const changes = new StateChanges((host, from, to) => wrong.push(...wrongAbout(world, host, from, to)));
  const nextDeath = () => ({ atEffect: 1 + draw.int(MOST_EFFECTS), when: chance(0.7) ? "after" : "before" }) as const;
  let deaths = 0;
  try {
    const server = world.rack(name);
    server.disks[0]!.content = LEFT_OVER;
    let process = await world.start({ death: nextDeath() });
    await play(world, name, async () => {
      await checkRack(world);
      assert.deepEqual(wrong, [], wrong.length > 0 ? await world.story() : "");
      if (!process.dead) return;
      deaths++;
      world.kill();
      process = await world.start({ death: nextDeath() });
    });
    assert.equal(server.disks[0]?.content, undefined, "the last user's disk is wiped");
    if (world.hasBmc(name)) assert.equal(server.isOn, false, "it is off");
    assert.equal(await world.host(name), undefined, "it is gone");
    assert.deepEqual(wrong, []);
    return deaths;
  } finally {
    await world.close();
  }
}

/** What does not hold at the very write by which a host is offered, or let go. */
function wrongAbout(world: InventoryWorld, name: string, from: string, to: string): string[] {
  if (to !== "available" && to !== "deleting") return [];
  const server = world.servers.get(name)!;
  const at = `${name} goes from ${from} to ${to}`;
  const content = server.disks.map((disk) => disk.content).find((each) => each !== undefined);
  // One that was just inspected and wiped runs the agent still.
  const mustBeOff = world.hasBmc(name) && from !== "preparing";
  return [
    ...(content === undefined ? [] : [`${at}, and ${content.image} is on its disk`]),
    ...(mustBeOff && server.isOn ? [`${at}, and is powered on`] : []),
    ...(server.media === undefined ? [] : [`${at}, and ${server.media} is in its drive`]),
  ];
}
