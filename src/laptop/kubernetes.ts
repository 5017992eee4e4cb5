import { join } from "node:path";
import type { Clock, Fault, Log, Random } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { convertersByDefinition } from "../kinds/conversion.ts";
import type { Kind } from "../kinds/kind.ts";
import { ALL_KINDS, KINDS } from "../operator/kinds.ts";
import type { LaptopIdentity } from "./identity.ts";

export const KUBERNETES = ["embedded", "real"] as const;
export type KubernetesChoice = (typeof KUBERNETES)[number];

/** The Kubernetes that a laptop runs: reached over TLS with the kubeconfig, and by us. */
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
  /** The embedded one repairs a damaged journal instead of refusing it, and reports here what was lost and done. */
  onRepair?: (report: string[]) => void;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Starts the one that is asked for. What only the other needs is not loaded. */
export function startKubernetes(which: KubernetesChoice, options: Options): Promise<LaptopKubernetes> {
  return which === "real" ? startReal(options) : startEmbedded(options);
}

async function startEmbedded(options: Options): Promise<LaptopKubernetes> {
  const { dir, host, port, identity, kinds = KINDS, onRepair, ...ports } = options;
  const { createApiServer } = await import("@slipway/apiserver");
  const { EXTRAS: extras } = await import("@slipway/apiserver/extras");
  const storage =
    dir === undefined ? {} : { storage: { file: join(dir, "kubernetes.db"), ...(onRepair && { onRepair }) } };
  const { clientCa: authority } = identity.serving;
  const trust = authority === undefined ? {} : { authority };
  const api = await createApiServer({
    ...ports,
    extras,
    // Kinds that may be foreign are converted, too, where they are installed.
    conversions: convertersByDefinition([...ALL_KINDS, ...kinds]),
    ...storage,
    ...trust,
  });
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
  const [{ findAssets }, { startControlPlane }, { createHttpTransport, loadConnection }] = await Promise.all([
    import("../kubernetes/assets.ts"),
    import("../kubernetes/control-plane.ts"),
    import("@slipway/kube/http"),
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
