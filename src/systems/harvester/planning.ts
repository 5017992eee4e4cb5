import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { TRIAL_BOOT } from "../../machines/purchase.ts";
import { notYetMade, type Planning } from "../planning.ts";
import { accountOf } from "../providers/accounts.ts";
import { orderOf, placementsOf, priceOf, specConcerns } from "./claim.ts";
import { instanceSpecOf } from "./pool-template.ts";

/** The Instances of a pool. */
const instancePool: Planning = {
  kind: InstancePool,
  async effects(object) {
    const pool = object as InstancePool;
    const { name } = pool.metadata;
    const instance = notYetMade(Instance, { name: `${name}-…` }, instanceSpecOf(pool));
    return {
      makes: [{ object: instance, times: pool.spec.count ?? 0, from: { kind: InstancePool.kind, name, at: "" } }],
    };
  },
};

/** The machine of an Instance. */
const ofInstance: Planning = {
  kind: Instance,
  async effects(object, around, own) {
    const instance = object as Instance;
    const { spec } = instance;
    const price = priceOf(spec.spotPriceMax) ?? 0;
    return {
      machine: {
        account: accountOf(spec, around, own),
        placements: placementsOf(spec),
        ...(spec.spotInstance && { spot: price > 0 ? { maxPrice: String(price) } : {} }),
        order: (placement) => orderOf(instance, { placement, boot: TRIAL_BOOT, onDemand: false }),
        concerns: specConcerns(spec),
      },
    };
  },
};

export const planning: readonly Planning[] = [instancePool, ofInstance];
