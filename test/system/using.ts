import type { Condition } from "@slipway/kube";
import { HarvesterWorld, type HarvesterWorldOptions } from "./harvester-world.ts";

/** A world with a running operator; closed at the end of the test. */
export async function using(
  options: HarvesterWorldOptions,
  work: (world: HarvesterWorld) => Promise<void>,
): Promise<void> {
  const world = await HarvesterWorld.create(options);
  try {
    await world.operator();
    await work(world);
  } finally {
    await world.close();
  }
}

type Told = { status?: { conditions?: Condition[] | undefined } | undefined } | undefined;
/** The condition of that type, as a user would read it. */
export const condition = (object: Told, type = "Ready") => object?.status?.conditions?.find((c) => c.type === type);
