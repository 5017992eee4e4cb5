/** What of a Cluster goes first when it is deleted. Pure. */
import type { KubeObject } from "@slipway/kube";
import { controllerOf } from "@slipway/kube";
import { isControlPlane } from "../../../cluster-api/owners.ts";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { MachineDeployment } from "../../../kinds/cluster-api/machine-deployment.ts";
import type { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";

export interface Descendants {
  deployments: readonly MachineDeployment[];
  /** All sets. */
  sets: readonly MachineSet[];
  machines: readonly Machine[];
}

/** The objects that are to be deleted now, and what is still there. */
export function descendantsToDelete({ spec }: Cluster, { deployments, sets, machines }: Descendants) {
  const ownMachines = machines.filter(
    (machine) =>
      controllerOf(machine) === undefined && (!isControlPlane(machine) || spec.controlPlaneRef === undefined),
  );
  const isThere = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp === undefined;
  return {
    deployments: deployments.filter(isThere),
    sets: sets.filter((set) => controllerOf(set) === undefined && isThere(set)),
    machines: ownMachines.filter(isThere),
  };
}

/** What is waited for before the control plane goes; undefined: nothing is left. Machines of a control plane end with it. */
export function descendantsLeft({ spec }: Cluster, { deployments, sets, machines }: Descendants): string | undefined {
  const waiting = machines.filter((machine) => !isControlPlane(machine) || spec.controlPlaneRef === undefined);
  const lines = [line("MachineDeployments", deployments), line("MachineSets", sets), line("Machines", waiting)].filter(
    (text) => text !== undefined,
  );
  return lines.length === 0 ? undefined : lines.join("\n");
}

const SHOWN = 5;

function line(kind: string, objects: readonly KubeObject[]): string | undefined {
  if (objects.length === 0) return undefined;
  const names = objects.map(({ metadata }) => metadata.name).toSorted();
  const more = names.length > SHOWN ? `, ... (${names.length - SHOWN} more)` : "";
  return `* ${kind}: ${names.slice(0, SHOWN).join(", ")}${more}`;
}
