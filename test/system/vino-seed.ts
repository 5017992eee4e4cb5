/** The lives of two Vinos on nodes that come and go, under faults and deaths drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { type Random, seededRandom } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { IPPool } from "../../src/kinds/ipam/ip-pool.ts";
import { VinoNode } from "../../src/kinds/vino/vino-node.ts";
import { type CrewWorld, TAKEN_OVER_MS } from "./crew.ts";
import { faulty } from "./faulty.ts";
import { crewOfReplicas, type Staff } from "./staff.ts";
import { MINUTE, sample, VinoWorld } from "./vino-world.ts";

const STEPS = 14;
const VINOS = ["v0", "v1"];

/** No two owners have the same address, MAC, block, or name of a machine. `isSettled`: nothing is being given right now. */
export async function noneTwice(world: VinoWorld, { isSettled = true } = {}): Promise<void> {
  const specs = (await world.list(IPPool)).map(({ spec }) => spec);
  const ips = specs.flatMap(({ allocatedIPs }) => allocatedIPs);
  const domains = (await world.list(VinoNode)).flatMap(({ spec }) => spec.domains);
  const hosts = await world.hosts();
  const all: Readonly<Record<string, readonly string[]>> = {
    "an address of a pool": ips.map(({ ip }) => ip),
    "a block of a pool": specs.flatMap(({ allocatedRanges = [] }) => allocatedRanges.map(({ start }) => start)),
    "a machine's name": domains.map(({ name }) => name),
    "a machine's MAC address": domains.flatMap(({ interfaces }) => interfaces.map(({ mac }) => mac)),
    "a host's MAC address": hosts.map(({ spec }) => spec.bootMACAddress ?? ""),
    "a host's controller": hosts.map(({ spec }) => spec.bmc?.address ?? ""),
    // Pools have no version in common: one that was just written is looked at again before anybody is told.
    ...(isSettled && { "a MAC address of a pool": ips.map(({ mac }) => mac) }),
  };
  for (const [what, texts] of Object.entries(all))
    assert.deepEqual(texts.toSorted(), [...new Set(texts)].toSorted(), `${what} is there twice`);
}

/** The same, worked on by replicas that share the work, come and go. */
export const vinosOverShards = (seed: number): Promise<void> => vinosUnderFaults(seed, crewOfReplicas());

/** Plays the history of one seed. Throws when it does not converge, or something is given twice or left over. */
export async function vinosUnderFaults(seed: number, crew?: Staff<CrewWorld>): Promise<void> {
  const draw = seededRandom(seed * 7919 + 21);
  const life = { isMischief: true };
  const between = (inner: Transport): Transport => {
    const way = faulty(inner, draw, () => life.isMischief);
    return crew?.transport(way) ?? way;
  };
  const world = await VinoWorld.create({ seed, between });
  try {
    await (crew?.begin(world) ?? world.start());
    const cluster = new Changing(world, draw, crew);
    for (let step = 0; step < STEPS; step++) {
      await crew?.mischief(draw);
      await cluster.step();
      await world.clock.run(draw.int(3) * 5_000);
      await world.driveHosts();
      await noneTwice(world, { isSettled: false });
    }
    life.isMischief = false;
    await cluster.anew();
    await cluster.settle();
    await noneTwice(world);
    await cluster.shrink();
    await noneTwice(world);
    await cluster.endAll();
    await world.until("nothing is left", async () => (await world.left()).length === 0, 60 * MINUTE);
    for (const agent of world.agents.values()) assert.equal(agent.domains.size + agent.cores.size, 0);
  } finally {
    await world.close();
  }
}

/** A cluster whose nodes and Vinos change by chance. */
class Changing {
  readonly #nodes = new Set<string>();
  /** With what was asked for last. */
  readonly #vinos = new Map<string, { masters: number; workers: number }>();
  readonly #world: VinoWorld;
  readonly #random: Random;
  readonly #crew: Staff<CrewWorld> | undefined;

  constructor(world: VinoWorld, random: Random, crew: Staff<CrewWorld> | undefined) {
    this.#world = world;
    this.#random = random;
    this.#crew = crew;
  }

  async step(): Promise<void> {
    const random = this.#random;
    const world = this.#world;
    const node = `n${random.int(4)}`;
    const vino = VINOS[random.int(VINOS.length)]!;
    const what = random.int(7);
    if (what <= 1 && !this.#nodes.has(node)) await world.join(node).then(() => this.#nodes.add(node));
    else if (what === 2 && this.#nodes.has(node)) await world.lose(node).then(() => this.#nodes.delete(node));
    else if (what === 3) await this.#restart();
    else if (what === 4 && this.#vinos.has(vino)) await this.#remove(vino);
    else if (what === 5 && this.#nodes.has(node)) await this.#breakOrMend(node);
    else if (!(await this.#isGoing(vino))) await this.#apply(vino);
  }

  /** A process that lives, or a crew that nothing befalls. What was deleted is gone before anything is asked for again. */
  async anew(): Promise<void> {
    const world = this.#world;
    if (this.#crew !== undefined) {
      await this.#crew.mend();
      // Until what a dead replica had is worked on elsewhere, statuses say what was so before.
      await world.clock.run(TAKEN_OVER_MS + MINUTE);
    } else {
      world.kill();
      await world.start();
    }
    for (const agent of world.agents.values()) agent.failing.clear();
    for (const vino of VINOS) if (!this.#vinos.has(vino)) await world.untilGone(vino);
  }

  /** Every Vino has on every node what was asked for last. */
  async settle(): Promise<void> {
    if (this.#nodes.size === 0) return;
    const world = this.#world;
    for (const [vino, { masters, workers }] of this.#vinos) {
      await world.untilReady(vino);
      const hosts = (await world.hosts()).filter(({ metadata }) => metadata.name.startsWith(`default-${vino}-`));
      assert.equal(hosts.length, (masters + workers) * this.#nodes.size, `${vino} on ${this.#nodes.size} nodes`);
    }
  }

  async shrink(): Promise<void> {
    for (const [vino, { workers }] of this.#vinos) {
      const of = { masters: 0, workers: Math.min(workers, 1) };
      await this.#world.apply(vino, sample(of));
      this.#vinos.set(vino, of);
    }
    await this.settle();
  }

  async endAll(): Promise<void> {
    for (const vino of [...this.#vinos.keys()]) await this.#remove(vino);
    for (const vino of VINOS) await this.#world.untilGone(vino);
  }

  async #isGoing(vino: string): Promise<boolean> {
    return (await this.#world.vino(vino))?.metadata.deletionTimestamp !== undefined;
  }

  async #remove(vino: string): Promise<void> {
    this.#vinos.delete(vino);
    await this.#world.remove(vino);
  }

  /** A machine of the node can't be made for a while. */
  async #breakOrMend(node: string): Promise<void> {
    const { failing, domains } = this.#world.agents.get(node)!;
    const names = [...domains.keys()];
    if (failing.size > 0) failing.clear();
    else if (names.length > 0) failing.add(names[this.#random.int(names.length)]!);
  }

  /** The process dies, and often the next one does after a few effects. */
  async #restart(): Promise<void> {
    const random = this.#random;
    if (this.#crew !== undefined) return await this.#crew.mischief(random);
    this.#world.kill();
    const when = random.int(2) === 0 ? "before" : "after";
    await this.#world.start(random.int(2) === 0 ? { atEffect: 1 + random.int(8), when } : undefined);
  }

  async #apply(vino: string): Promise<void> {
    const of = { masters: this.#random.int(2), workers: this.#random.int(3) };
    this.#vinos.set(vino, of);
    await this.#world.apply(vino, sample(of));
  }
}
