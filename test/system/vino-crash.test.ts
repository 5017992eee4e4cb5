/** The life of a Vino with a death at each of its effects, and random lives with deaths: nothing is given twice, and nothing is left. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Random, seededRandom } from "@slipway/base";
import { IPPool } from "../../src/kinds/ipam/ip-pool.ts";
import { VinoNode } from "../../src/kinds/vino/vino-node.ts";
import { numbers, sampled } from "./api.ts";
import { MINUTE, sample, VinoWorld } from "./vino-world.ts";

/** No two owners have the same address, MAC, block, or name of a machine. */
async function noneTwice(world: VinoWorld): Promise<void> {
  const specs = (await world.list(IPPool)).map(({ spec }) => spec);
  const ips = specs.flatMap(({ allocatedIPs }) => allocatedIPs);
  const domains = (await world.list(VinoNode)).flatMap(({ spec }) => spec.domains);
  const hosts = await world.hosts();
  for (const texts of [
    ips.map(({ ip }) => ip),
    ips.map(({ mac }) => mac),
    specs.flatMap(({ allocatedRanges = [] }) => allocatedRanges.map(({ start }) => start)),
    domains.map(({ name }) => name),
    domains.flatMap(({ interfaces }) => interfaces.map(({ mac }) => mac)),
    hosts.map(({ spec }) => spec.bootMACAddress ?? ""),
    hosts.map(({ spec }) => spec.bmc?.address ?? ""),
  ])
    assert.deepEqual(texts.toSorted(), [...new Set(texts)].toSorted());
}

/** Two nodes, a change of the count, and the end. */
async function life(world: VinoWorld): Promise<void> {
  await world.join("a");
  await world.join("b");
  await world.apply("test", sample({ workers: 1 }));
  await world.untilReady("test");
  await noneTwice(world);
  await world.apply("test", sample({ masters: 0, workers: 1 }));
  await world.untilReady("test");
  await noneTwice(world);
  await world.remove("test");
  await world.untilGone("test");
  await world.until("nothing is left", async () => (await world.left()).length === 0);
  for (const agent of world.agents.values()) assert.equal(agent.domains.size + agent.cores.size, 0);
}

/** Starts the process again whenever it has died. */
async function outlived(
  world: VinoWorld,
  work: Promise<void>,
  mortal: Awaited<ReturnType<VinoWorld["start"]>>,
): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  const again = async (): Promise<void> => {
    while (!isDone && !mortal.dead) await world.clock.sleep(500);
    if (isDone) return;
    world.kill();
    await world.start();
  };
  await Promise.all([done, again()]);
}

test("a life without a death has an effect to die at", async (t) => {
  const world = await VinoWorld.create();
  t.after(() => world.close());
  const mortal = await world.start();
  await life(world);
  assert.ok(mortal.effects > 30, `${mortal.effects} effects`);
});

for (const atEffect of sampled(numbers(1, 60).filter((n) => n % 6 === 1)))
  for (const when of ["before", "after"] as const)
    test(`an operator that dies ${when} effect ${atEffect} loses nothing, and gives nothing twice`, async (t) => {
      const world = await VinoWorld.create({ seed: atEffect });
      t.after(() => world.close());
      const mortal = await world.start({ atEffect, when });
      await outlived(world, life(world), mortal);
    });

/** A cluster whose nodes and Vinos change by chance. */
class Changing {
  readonly nodes = new Set<string>();
  readonly vinos = new Set<string>();
  readonly #world: VinoWorld;
  readonly #random: Random;

  constructor(world: VinoWorld, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  async step(): Promise<void> {
    const random = this.#random;
    const node = `n${random.int(4)}`;
    const vino = `v${random.int(2)}`;
    const what = random.int(6);
    if (what <= 1 && !this.nodes.has(node)) await this.#world.join(node).then(() => this.nodes.add(node));
    else if (what === 2 && this.nodes.has(node)) await this.#world.lose(node).then(() => this.nodes.delete(node));
    else if (what === 3) await this.#restart();
    else if (what === 4 && this.vinos.has(vino)) await this.end(vino);
    else await this.#apply(vino);
  }

  async end(vino: string): Promise<void> {
    this.vinos.delete(vino);
    await this.#world.remove(vino);
    await this.#world.untilGone(vino);
  }

  async #restart(): Promise<void> {
    this.#world.kill();
    await this.#world.start();
  }

  async #apply(vino: string): Promise<void> {
    this.vinos.add(vino);
    await this.#world.apply(vino, sample({ masters: this.#random.int(2), workers: this.#random.int(3) }));
  }
}

for (const seed of sampled(numbers(1, 6)))
  test(`seed ${seed}: nodes come and go, counts change, operators die: nothing twice, nothing left`, async (t) => {
    const world = await VinoWorld.create({ seed });
    t.after(() => world.close());
    const random = seededRandom(seed * 7919);
    await world.start();
    const cluster = new Changing(world, random);
    for (let step = 0; step < 14; step++) {
      await cluster.step();
      await world.clock.run(random.int(3) * 5_000);
      await world.driveHosts();
      await noneTwice(world);
    }
    for (const vino of cluster.vinos) if (cluster.nodes.size > 0) await world.untilReady(vino);
    await noneTwice(world);
    for (const vino of [...cluster.vinos]) await cluster.end(vino);
    await world.until("nothing is left", async () => (await world.left()).length === 0, 10 * MINUTE);
    for (const agent of world.agents.values()) assert.equal(agent.domains.size + agent.cores.size, 0);
  });
