import { join } from "node:path";
import { Option } from "commander";
import type { Clock } from "../base/clock.ts";
import type { Fault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Transport } from "../kube/transport.ts";
import { KINDS } from "../operator/kinds.ts";
import type { LaptopIdentity } from "./laptop-identity.ts";

export const KUBERNETES = ["embedded", "real"] as const;
export type KubernetesChoice = (typeof KUBERNETES)[number];

export const kubernetesOption = (): Option =>
  new Option(
    "--kubernetes <which>",
    "the embedded API, or real etcd and kube-apiserver (from `make kube-assets` or KUBEBUILDER_ASSETS)",
  )
    .choices(KUBERNETES)
    .default("embedded");

/** The Kubernetes that a laptop runs: reached over TLS by anybody with the kubeconfig, and by us. */
export interface LaptopKubernetes {
  url: string;
  /** The administrator's way in. Whoever asks closes it with the Kubernetes. */
  transport: Transport;
  /** Resolves when it ends by itself; the embedded one never does. */
  died: Promise<Fault>;
  close(): Promise<void>;
}

interface Options {
  /** Where its state is kept; undefined: nowhere. */
  dir: string | undefined;
  host: string;
  port: number;
  identity: LaptopIdentity;
  /** What the embedded one converts between the versions of; Slipway's own unless given. */
  kinds?: readonly (readonly Kind[])[];
  clock: Clock;
  random: Random;
  log: Log;
}

/** Starts the one that is asked for. What only the other needs is not loaded. */
export function startKubernetes(which: KubernetesChoice, options: Options): Promise<LaptopKubernetes> {
  return which === "real" ? startReal(options) : startEmbedded(options);
}

async function startEmbedded(options: Options): Promise<LaptopKubernetes> {
  const { dir, host, port, identity, kinds = KINDS, ...ports } = options;
  const { createApiServer } = await import("../apiserver/server.ts");
  const { conversionsOf } = await import("../apiserver/conversion/strategy.ts");
  const storage = dir === undefined ? {} : { storage: { file: join(dir, "kubernetes.db") } };
  const { clientCa: authority } = identity.serving;
  const trust = authority === undefined ? {} : { authority };
  const api = await createApiServer({ ...ports, conversions: conversionsOf(kinds), ...storage, ...trust });
  try {
    const socket = await api.listen({ host, port, tls: identity.serving });
    const died = new Promise<never>(() => {});
    return { url: `https://${host}:${socket.port}`, transport: api.transport(), died, close: () => api.close() };
  } catch (error) {
    await api.close();
    throw error;
  }
}

/** Simulated machines send no heartbeats and run no kubelet: what would take their Nodes for dead stays off. */
const CONTROLLERS = [
  "*",
  "bootstrap-signer-controller",
  "token-cleaner-controller",
  "-node-lifecycle-controller",
  "-taint-eviction-controller",
];

async function startReal({ dir, host, port, identity, clock }: Options): Promise<LaptopKubernetes> {
  const [{ findAssets }, { startControlPlane }, { createHttpTransport }, { loadConnection }] = await Promise.all([
    import("../kubernetes/assets.ts"),
    import("../kubernetes/control-plane.ts"),
    import("../kube/http-transport.ts"),
    import("../kube/kubeconfig.ts"),
  ]);
  const plane = await startControlPlane({
    assets: await findAssets(process.env),
    clock,
    identity,
    host,
    port,
    controllers: CONTROLLERS,
    ...(dir !== undefined && { dir: join(dir, "kubernetes") }),
  });
  const transport = createHttpTransport(await loadConnection({ kubeconfig: plane.kubeconfigFile, env: {}, clock }));
  return {
    url: plane.url,
    transport,
    died: plane.died,
    async close() {
      await transport.close();
      await plane.close();
    },
  };
}
