/**
 * The system that takes over harvester-equinix-addon: InstancePools whose machines are bought, installed and
 * joined to the Harvester cluster. `*-plan.ts` decides (pure), `*-controller.ts` does.
 *
 * Here: the names that users, the addon's live objects and other programs know.
 */

export { PROTECT } from "../../kinds/harvester/protect.ts";

/** Label on Instances, value the pool's name; without a prefix since the addon wrote it so. */
export const POOL_LABEL = "instancePool";
/** The addon's finalizer, kept: both know whose machine must be released first. */
export const FINALIZER = "equinix.instance.harvesterhci.io";
/** Left on Instances by the addon's framework; only the addon would ever remove it. */
export const ADDON_FRAMEWORK_FINALIZER = "wrangler.cattle.io/instance-remove";
export const POOL_FINALIZER = "slipway.dev/protected-pool";
/** `true` on an Instance that is being deleted: released without waiting for drain, quorum or protection. */
export const FORCE_DELETE = "slipway.dev/force-delete";
/** `true` on an Instance that is being deleted: it goes although its provider can't be asked; what may be left there is written down. */
export const ABANDON = "slipway.dev/abandon-machine";
/** Label a Node registers with: uid of the Instance it is. */
export const NODE_CLAIM_LABEL = "slipway.dev/instance-uid";
/** On Instances taken over from the addon. */
export const ADOPTED = "slipway.dev/adopted";

/** Annotations of the addon that hold secrets or scripts; removed when an Instance is taken over. */
export const ADDON_ANNOTATIONS = { token: "token", password: "password", reconfigure: "reconfig_ipxe_url" } as const;

/** The addon's environment and Secret. */
export const DEFAULT_NAMESPACE = "harvester-system";
export const DEFAULT_SECRET = "equinix-addon";

/** The namespace in which Harvester keeps the Cluster API Machines of its nodes. */
export const FLEET_LOCAL = "fleet-local";
export const NODE_MACHINE_ANNOTATION = "cluster.x-k8s.io/machine";

export const HARVESTER = "harvester";

/** What a pool and its Instances stay together by, where work is shared out. */
export const poolOwner = (name: string): string => `instancepool/${name}`;
