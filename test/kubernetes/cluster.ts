import { systemClock as clock, Fault, quietLog, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { findAssets } from "../../src/kubernetes/assets.ts";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../../src/kubernetes/control-plane.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";

/** A throw-away control plane with its administrator's way in. */
export interface Cluster {
  plane: ControlPlane;
  /** The administrator's. */
  transport: Transport;
  client: Client;
  close(): Promise<void>;
}

/** Why no real Kubernetes can be started here; undefined when one can. For `test(…, { skip })`. */
export async function whyNotHere(): Promise<string | undefined> {
  try {
    await findAssets(process.env);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return `${error.message}; ${error.remedy}`;
    throw error;
  }
}

/** Starts etcd, kube-apiserver and what else is asked for; `close` leaves nothing behind, and so does a crash of the test. */
export async function startCluster(
  options: Partial<
    Pick<ControlPlaneOptions, "apiServer" | "controllers" | "apiServerFlags" | "identity" | "host">
  > = {},
): Promise<Cluster> {
  const assets = await findAssets(process.env);
  const identity = options.identity ?? (await laptopIdentity(undefined, options.host ?? "127.0.0.1", clock));
  const plane = await startControlPlane({ assets, clock, ...options, identity });
  const transport = await transportOf(plane);
  const client = createClient(transport, { clock, random, log: quietLog });
  return {
    plane,
    transport,
    client,
    async close() {
      await transport.close();
      await plane.close();
    },
  };
}

/** Another administrator's connection to it. */
export async function transportOf(plane: ControlPlane): Promise<Transport> {
  return createHttpTransport(await loadConnection({ kubeconfig: plane.kubeconfigFile, env: {}, clock }));
}
