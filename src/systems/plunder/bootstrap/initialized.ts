import { isTrue } from "@slipway/kube";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";

/**
 * Whether the control plane has its first Node. Of machines that no control plane object made, upstream's core says so by the condition alone, the
 * light core by the status field, too.
 */
export function isInitialized({ status }: Cluster): boolean {
  return (
    status?.initialization?.controlPlaneInitialized === true || isTrue(status?.conditions, "ControlPlaneInitialized")
  );
}
