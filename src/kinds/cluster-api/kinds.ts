/** Cluster API's kinds that the light core serves, each with all its versions, the stored one first. */
import type { Kind } from "../kind.ts";
import { Cluster, ClusterV1beta1 } from "./cluster.ts";
import { Machine, MachineV1beta1 } from "./machine.ts";
import { MachineDeployment, MachineDeploymentV1beta1 } from "./machine-deployment.ts";
import { MachineHealthCheck, MachineHealthCheckV1beta1 } from "./machine-health-check.ts";
import { MachineSet, MachineSetV1beta1 } from "./machine-set.ts";
import { REFUSED } from "./refused.ts";
import { ClusterV1alpha2, MachineV1alpha2 } from "./v1alpha2.ts";

export const SERVED = [
  [Cluster, ClusterV1beta1, ClusterV1alpha2],
  [Machine, MachineV1beta1, MachineV1alpha2],
  [MachineSet, MachineSetV1beta1],
  [MachineDeployment, MachineDeploymentV1beta1],
  [MachineHealthCheck, MachineHealthCheckV1beta1],
] as unknown as readonly (readonly Kind[])[];

export const CLUSTER_API_KINDS: readonly (readonly Kind[])[] = [...SERVED, ...REFUSED.map((kind) => [kind])];
