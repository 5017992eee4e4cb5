import type { WorkloadClusters } from "../../workload/workload-clusters.ts";
import type { ExternalObjects } from "./external-objects.ts";
import type { ForeignCore } from "./foreign-core.ts";
import type { MachineInterests } from "./machine-interests.ts";

/** What the light core's controllers share. */
export interface CoreParts {
  external: ExternalObjects;
  workloads: WorkloadClusters;
  foreign: ForeignCore;
  interests: MachineInterests;
}
