/** The cluster that --kubeconfig, --context and the environment lead to. */
import { systemClock as clock, Fault, isFault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { type Connection, createHttpTransport, loadConnection } from "@slipway/kube/http";
import { reach } from "./reach.ts";

export interface ClusterOptions {
  kubeconfig?: string;
  context?: string;
}

/** What is said where nothing names a cluster. Unset: what the connection's own error says. */
export interface Unnamed {
  on: string;
  message: string;
  remedy: string;
}

/** Rejects with a `Fault`: `MissingInput` where nothing names a cluster. */
export async function connectionTo({ kubeconfig, context }: ClusterOptions, unnamed?: Unnamed): Promise<Connection> {
  const named = { ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) };
  try {
    return await loadConnection({ env: process.env, clock, ...named });
  } catch (cause) {
    const isNamed = kubeconfig !== undefined || !!process.env.KUBECONFIG;
    if (unnamed === undefined || isNamed || !isFault(cause, "MissingInput")) throw cause;
    throw new Fault("MissingInput", unnamed.on, unnamed.message, { remedy: unnamed.remedy, cause });
  }
}

export interface Reached {
  client: Client;
  transport: Transport;
  /** Of objects that name none: the kubeconfig's, else `default`. */
  namespace: string;
}

/** Does something on the cluster once that was seen to answer, and closes the connection. Rejects as `connectionTo`, `reach` and `work` do. */
export async function onCluster<T>(
  options: ClusterOptions,
  work: (cluster: Reached) => Promise<T>,
  { unnamed, fieldManager }: { unnamed?: Unnamed; fieldManager?: string } = {},
): Promise<T> {
  const connection = await connectionTo(options, unnamed);
  const transport = createHttpTransport(connection);
  try {
    await reach(transport, connection.server);
    const client = createClient(transport, { clock, random, log, ...(fieldManager !== undefined && { fieldManager }) });
    return await work({ client, transport, namespace: connection.namespace ?? "default" });
  } finally {
    await transport.close();
  }
}
