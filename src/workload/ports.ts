import type { Clock, Log, Random } from "@slipway/base";
import type { Ref, Transport } from "@slipway/kube";
import type { Connection } from "@slipway/kube/http";

/** Opens the way that the kubeconfig of a cluster describes. */
export type OpenWorkload = (connection: Connection, cluster: Ref) => Transport;

export interface WorkloadPorts {
  clock: Clock;
  random: Random;
  log: Log;
  /** Text of a cluster's kubeconfig; undefined: there is none yet. */
  kubeconfig(cluster: Ref): Promise<string | undefined>;
  open: OpenWorkload;
}
