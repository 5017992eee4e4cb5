/** What verbs that order something of a BareMetalHost have in common. */
import { systemClock as clock } from "@slipway/base";
import type { Command } from "commander";
import { hostOrder } from "../inventory/host-order.ts";
import type { HostOrder } from "../inventory/user-orders.ts";
import { type ClusterOptions, onCluster } from "./on-cluster.ts";
import { positiveNumber } from "./option-values.ts";
import { say } from "./outgoing.ts";

export interface HostVerbOptions extends ClusterOptions {
  wait: boolean;
  /** Seconds. */
  timeout: number;
}

/** The argument and the options of every such verb. */
export function addHostOptions(command: Command): Command {
  return command
    .argument("<host>", "NAME, NAMESPACE/NAME of a BareMetalHost, or the address of the card that it boots from")
    .option("--kubeconfig <file>", "cluster with the host; unset: $KUBECONFIG, else the cluster it runs in")
    .option("--context <name>", "context of the kubeconfig")
    .option("--no-wait", "return once it is asked for")
    .option("--timeout <seconds>", "wait no longer; what was asked for stays", positiveNumber, 3600);
}

/** Orders it through the API, and shows how far it is. */
export async function orderHost(host: string, order: HostOrder, options: HostVerbOptions): Promise<void> {
  const { wait, timeout } = options;
  const unnamed = {
    on: host,
    message: "there is no kubeconfig of the cluster that has the host",
    remedy: "give --kubeconfig or set KUBECONFIG; machines of a netboot without a cluster take: slipway order",
  };
  await onCluster(
    options,
    ({ client }) => hostOrder({ host, order, wait, timeoutMs: timeout * 1_000 }, { client, clock, say }),
    { unnamed, fieldManager: "slipway" },
  );
}
