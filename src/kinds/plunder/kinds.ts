/** The kinds of cluster-api-plunder, each with its versions, the stored one first. */
import type { Kind } from "../kind.ts";
import { PlunderCluster, PlunderClusterV1alpha1 } from "./plunder-cluster.ts";
import { PlunderMachine, PlunderMachineV1alpha1 } from "./plunder-machine.ts";
import { PlunderClusterTemplate, PlunderMachineTemplate } from "./templates.ts";

export const PLUNDER_KINDS = [
  [PlunderCluster, PlunderClusterV1alpha1],
  [PlunderMachine, PlunderMachineV1alpha1],
  [PlunderMachineTemplate],
  [PlunderClusterTemplate],
] as unknown as readonly (readonly Kind[])[];
