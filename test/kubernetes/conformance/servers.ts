import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiServer } from "@slipway/apiserver";
import { EXTRAS } from "@slipway/apiserver/extras";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { startControlPlane } from "../../../src/kubernetes/control-plane.ts";
import { controllerManagerFlags } from "../../../src/kubernetes/flags.ts";
import { KeptProcess } from "../../../src/kubernetes/kept-process.ts";
import { laptopIdentity } from "../../../src/laptop/identity.ts";
import { freePort } from "../free-port.ts";

/** A Kubernetes API that the suite is run against. */
export interface Server {
  name: "kube-apiserver" | "embedded";
  kubeconfigFile: string;
  close(): Promise<void>;
}

/** No kubelet renews the Node's lease, so nobody may find the Node lost. */
const REAL_CONTROLLERS = ["*", "-node-lifecycle-controller", "-taint-eviction-controller"];

/** The workloads that the suite creates; what is not named here, the embedded API looks after itself. */
const EMBEDDED_CONTROLLERS = ["replicationcontroller-controller", "replicaset-controller", "deployment-controller"];

/** etcd, kube-apiserver and kube-controller-manager with one Node. */
export async function startReal(assets: string): Promise<Server> {
  const identity = await laptopIdentity(undefined, "127.0.0.1", systemClock);
  const plane = await startControlPlane({ assets, clock: systemClock, identity, controllers: REAL_CONTROLLERS });
  await addNode(plane.kubeconfigFile);
  return { name: "kube-apiserver", kubeconfigFile: plane.kubeconfigFile, close: () => plane.close() };
}

/** The embedded API with kube-controller-manager's controllers of workloads and one Node. */
export async function startEmbedded(assets: string): Promise<Server> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-conformance-"));
  const file = (name: string): string => join(dir, name);
  const identity = await laptopIdentity(undefined, "127.0.0.1", systemClock);
  const authority = identity.serving.clientCa ?? "";
  const api = await createApiServer({
    extras: EXTRAS,
    clock: systemClock,
    random: cryptoRandom,
    log: quietLog,
    authority,
  });
  const { port } = await api.listen({ host: "127.0.0.1", port: 0, tls: identity.serving });
  await writeFile(file("kubeconfig"), identity.kubeconfig(`https://127.0.0.1:${port}`), { mode: 0o600 });
  await writeFile(file("ca.crt"), authority);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(file("sa.key"), privateKey.export({ type: "pkcs1", format: "pem" }), { mode: 0o600 });
  await addNode(file("kubeconfig"));

  const controllers = new KeptProcess({
    command: join(assets, "kube-controller-manager"),
    args: [
      ...controllerManagerFlags({ file, port: await freePort() }, EMBEDDED_CONTROLLERS),
      "--use-service-account-credentials=false",
    ],
    logFile: file("kube-controller-manager.log"),
  });
  return {
    name: "embedded",
    kubeconfigFile: file("kubeconfig"),
    close: async () => {
      await controllers.stop();
      await api.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The suite begins when one Node says that it is ready. */
async function addNode(kubeconfigFile: string): Promise<void> {
  const transport = createHttpTransport(
    await loadConnection({ kubeconfig: kubeconfigFile, env: {}, clock: systemClock }),
  );
  try {
    await ask(transport, "POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } });
    // A new Node is tainted until the controller that is off here would see it ready.
    await ask(transport, "PATCH", "/api/v1/nodes/node-1", { spec: { taints: null } });
    const conditions = [{ type: "Ready", status: "True", reason: "Conformance", message: "no kubelet" }];
    await ask(transport, "PATCH", "/api/v1/nodes/node-1/status", { status: { conditions } });
  } finally {
    await transport.close();
  }
}

async function ask(transport: Transport, method: "POST" | "PATCH", path: string, body: object): Promise<void> {
  const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const answer = await transport.request({ method, path, body, contentType });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}
