/**
 * The system that takes over cluster-api-plunder: PlunderClusters and PlunderMachines, on hosts of your own. `*-plan.ts` decides (pure),
 * `*-controller.ts` does.
 *
 * Here: the names that users, live objects of the original and other programs know.
 */
import type { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";

export const PLUNDER = "plunder";

/** The original's finalizer, kept. */
export const CLUSTER_FINALIZER = "plundercluster.infrastructure.cluster.x-k8s.io";
export const MACHINE_FINALIZER = "plundermachine.infrastructure.cluster.x-k8s.io";
/** The same as the original spells it: on live objects of its own. */
export const MISSPELT_FINALIZER = "plundernmachine.infrastructure.cluster.x-k8s.io";

/** What is installed where a machine does not say, as with the original. */
export const DEFAULT_DEPLOYMENT = "preseed";
/** The MachineProvider that gives hosts where nothing names one. It need not be there: then all hosts of discovery's namespace are given. */
export const DEFAULT_PROVIDER = "plunder";
/** In a status, where a MachineProvider's name stands else: Secret `plunder` beside the machine. No MachineProvider has such a name. */
export const SECRET_PROVIDER = `Secret/${PLUNDER}`;

const PROVIDER_ID = "plunder://";

/** What a Node names its machine by. `mac`: that the host boots from. */
export const providerIDOf = (mac: string): string => PROVIDER_ID + mac;

/** The MAC address in a providerID; undefined for an id that is none. */
export function macOf(providerID: string | undefined): string | undefined {
  return providerID?.startsWith(PROVIDER_ID) ? providerID.slice(PROVIDER_ID.length) || undefined : undefined;
}

/** As messages name it. */
export function nameOf({ metadata }: PlunderMachine): string {
  return `PlunderMachine/${metadata.namespace}/${metadata.name}`;
}

/** Finalizers of this system on a machine: the original's misspelt one is on its own objects. */
export const heldBy = ({ metadata }: PlunderMachine): string[] =>
  [MACHINE_FINALIZER, MISSPELT_FINALIZER].filter((name) => metadata.finalizers?.includes(name) === true);
