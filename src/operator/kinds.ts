import { Instance } from "../kinds/harvester/instance.ts";
import { InstancePool } from "../kinds/harvester/instance-pool.ts";
import type { Kind } from "../kinds/kind.ts";
import { MachineProvider } from "../kinds/slipway/machine-provider.ts";

/** Every kind that Slipway brings, each with all its versions: what is installed, and what `deploy/crds` is made from. */
export const KINDS: readonly (readonly Kind[])[] = [[InstancePool], [Instance], [MachineProvider]];
