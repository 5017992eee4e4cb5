/** Replicas of a world that share its work, and come and go. */
import assert from "node:assert/strict";
import type { Random } from "@slipway/base";
import { type Client, LEASE_TIMES, type Manager, type Transport } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { DEFAULT_NAMESPACE } from "../../src/operator/defaults.ts";
import { create } from "../../src/sim/site/capi-machine.ts";
import { interruptible, type Mortal } from "./mortal.ts";
import { MINUTE, SECOND, type World } from "./world.ts";

export const SHARDS = 8;
const REPLICAS = 4;
/** The time within which another replica works on what a dead one had. */
export const TAKEN_OVER_MS = LEASE_TIMES.leaseMs + 5 * SECOND;
/** Two times in three nothing happens. */
const HARMS = ["kill", "stop", "sleep", "add", "wake"] as const;

/** A process of a crew. */
export interface Replica {
  manager: Pick<Manager, "health" | "stop">;
  mortal: Mortal;
}

/** What a crew needs of its world. */
export interface CrewWorld {
  clock: World["clock"];
  client: Client;
  operator(of: { shards: number }): Promise<Replica>;
  until(what: string, holds: () => boolean, forMs?: number, stepMs?: number): Promise<void>;
  whileTimePasses<T>(promise: Promise<T>): Promise<T>;
}

/** How many shards a replica works on. */
export function held({ manager, mortal }: Replica): number {
  if (!mortal.awake) return 0;
  return Math.min(...manager.health().systems.map(({ shards }) => shards.held));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Replicas' ways to the API, any of which can be cut. */
export class Ways {
  readonly #cut = new Set<number>();
  #count = 0;

  /** `WorldOptions.transport` */
  readonly transport = (inner: Transport): Transport => {
    const id = this.#count++;
    return interruptible(inner, () => this.#cut.has(id));
  };

  cutOne(draw: Random): void {
    this.#cut.add(draw.int(this.#count));
  }

  mend(): void {
    this.#cut.clear();
  }
}

export class Crew<W extends CrewWorld = CrewWorld> {
  readonly world: W;
  all: Replica[] = [];
  readonly #sleepers: Replica[] = [];

  constructor(world: W) {
    this.world = world;
  }

  /** Starts replicas, and resolves when they share the work. */
  async begin(replicas = REPLICAS): Promise<void> {
    const { world } = this;
    await world.whileTimePasses(create(world.client, Namespace, { metadata: { name: DEFAULT_NAMESPACE } }));
    for (let i = 0; i < replicas; i++) await this.add();
    await this.shared();
  }

  async add(): Promise<void> {
    this.all.push(await this.world.operator({ shards: SHARDS }));
  }

  get living(): Replica[] {
    return this.all.filter(({ mortal }) => mortal.awake);
  }

  /** Never is more held than there is: each shard by one. */
  check(): void {
    const shares = this.living.map(held);
    assert.ok(sum(shares) <= SHARDS, `${shares} of ${SHARDS} shards are held`);
  }

  /** Resolves when all shards are held by the living, evenly; how long it took. */
  async shared(within = 3 * MINUTE): Promise<number> {
    const began = this.world.clock.monotonic();
    const isEven = (): boolean => {
      const shares = this.living.map(held);
      return sum(shares) === SHARDS && Math.max(...shares) - Math.min(...shares) <= 1;
    };
    await this.world.until(`${this.living.length} replicas share the work`, isEven, within, SECOND / 2);
    return this.world.clock.monotonic() - began;
  }

  kill(victim: Replica): void {
    victim.mortal.kill();
    this.all = this.all.filter((one) => one !== victim);
  }

  /** It gives its shards back by itself, and its process ends. */
  stop(victim: Replica): void {
    this.all = this.all.filter((one) => one !== victim);
    void victim.manager.stop().then(() => victim.mortal.kill());
  }

  /** Something that a draw chooses befalls one of them. */
  async befall(draw: Random): Promise<void> {
    this.check();
    const { living } = this;
    const victim = living[draw.int(living.length)]!;
    const harm = living.length < 2 ? "add" : HARMS[draw.int(3 * HARMS.length)];
    if (harm === "kill") this.kill(victim);
    if (harm === "stop") this.stop(victim);
    if (harm === "add" && living.length < REPLICAS + 1) await this.add();
    if (harm === "wake") this.#sleepers.pop()?.mortal.resume();
    if (harm === "sleep") {
      victim.mortal.pause();
      this.#sleepers.push(victim);
    }
  }

  /** All are awake, and there are two at least. */
  async mend(): Promise<void> {
    for (const sleeper of this.#sleepers.splice(0)) sleeper.mortal.resume();
    if (this.living.length < 2) await this.add();
  }
}
