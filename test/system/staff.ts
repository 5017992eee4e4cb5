/** Who works in a world while mischief goes on. */
import type { Random } from "@slipway/base";
import { Crew, type CrewWorld, Ways } from "./crew.ts";
import { interruptible } from "./mortal.ts";
import type { World, WorldOptions } from "./world.ts";

export interface Staff<W = World> {
  /** Of the world that it works in. */
  transport: NonNullable<WorldOptions["transport"]>;
  begin(world: W): Promise<void>;
  /** Something may befall it. */
  mischief(draw: Random): Promise<void>;
  /** Nothing does any more. */
  mend(): Promise<void>;
}

/** One operator, which dies now and then and is followed by another. The API is out of its reach now and then. `dies`: how likely it does. */
export function oneOperator(dies: number): Staff {
  let isDown = false;
  let world!: World;
  return {
    transport: (inner) => interruptible(inner, () => isDown),
    async begin(in_) {
      world = in_;
      await world.operator();
    },
    async mischief(draw) {
      isDown = draw.fraction() < 0.05;
      if (draw.fraction() >= dies) return;
      world.kill();
      isDown = false;
      await world.operator();
    },
    async mend() {
      isDown = false;
    },
  };
}

/** Replicas that share the work, and join, stop, die, sleep and are cut off. */
export function crewOfReplicas(): Staff<CrewWorld> {
  const ways = new Ways();
  let crew!: Crew;
  return {
    transport: ways.transport,
    async begin(world) {
      crew = new Crew(world);
      await crew.begin(3);
    },
    async mischief(draw) {
      ways.mend();
      if (draw.fraction() < 0.1) ways.cutOne(draw);
      await crew.befall(draw);
    },
    async mend() {
      ways.mend();
      await crew.mend();
    },
  };
}
