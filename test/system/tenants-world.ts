/** A management API with Kamaji's kinds and their controllers; tenants run embedded, as Pods of a simulated cluster, or as processes where a folder with the programs is given. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, deadline, isFault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Controller, createClient, createManager, type Transport } from "@slipway/kube";
import { Namespace, Node, Secret } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { installCrds } from "../../src/kinds/install.ts";
import { KAMAJI_KINDS } from "../../src/kinds/kamaji/kinds.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { findAssets, findRelease, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { credentialsOf } from "../../src/pki/tenant/credentials.ts";
import { dataStoreController } from "../../src/systems/kamaji/data-store-controller.ts";
import { startDefaultStore } from "../../src/systems/kamaji/default-store.ts";
import { kubeconfigGeneratorController } from "../../src/systems/kamaji/kubeconfig-generator-controller.ts";
import { Runtimes } from "../../src/systems/kamaji/runtimes.ts";
import { startRuntime } from "../../src/systems/kamaji/start-runtime.ts";
import { Stores } from "../../src/systems/kamaji/stores.ts";
import { tenantController } from "../../src/systems/kamaji/tenant-controller.ts";
import { managementCluster, NO_DATABASE } from "./management-cluster.ts";

export const NAMESPACE = "tenants";

export interface TenantsWorld {
  client: ReturnType<typeof createClient>;
  /** One that writes under another name. */
  clientAs(fieldManager: string): ReturnType<typeof createClient>;
  /** Applies a tenant with these changes of its spec. */
  apply(name: string, change?: object, annotations?: object): Promise<void>;
  /** Resolves with the tenant once it is so; rejects with what it was at the end. */
  until(name: string, what: (tenant: TenantControlPlane) => boolean): Promise<TenantControlPlane>;
  /** The tenant's own API, by a kubeconfig in a Secret. `by`: a key of its administrator's, `admin.conf` unless said. */
  inTenant<T>(
    name: string,
    use: (client: ReturnType<typeof createClient>, transport: Transport) => Promise<T>,
    by?: string | { secret: string; key: string },
  ): Promise<T>;
  /** Another operator takes over, as after a restart. */
  restart(): Promise<void>;
}

/** An address of loopback for each process: tests that run at once don't take each other's ports, not even those of a tenant that sleeps. */
export const OWN_LOOPBACK = `127.${1 + (process.pid >> 16)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;

/** `runs`: a runtime, or the folder with the programs of runtime `process`. `host`: where planes listen. `beside`: what else is served. */
export async function tenantsWorld(
  t: TestContext,
  runs: "embedded" | "deployment" | string = "embedded",
  {
    host = OWN_LOOPBACK,
    beside = { kinds: [], controllers: () => [] },
  }: { host?: string; beside?: { kinds: readonly (readonly Kind[])[]; controllers: () => Controller[] } } = {},
): Promise<TenantsWorld> {
  const inCluster = runs === "deployment";
  const programs = inCluster || runs === "embedded" ? undefined : runs;

  const dir = mkdtempSync(join(tmpdir(), "slipway-tenants-"));
  const api = await createApiServer({ clock, random, log });
  const client = createClient(api.transport(), { clock, random, log });
  await installCrds(client, clock, new AbortController().signal, [...KAMAJI_KINDS, ...beside.kinds]);
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  const cluster = inCluster ? await managementCluster(client) : undefined;
  const start = async () => {
    const assets = async (version: string) =>
      programs === undefined ? "" : await findAssets(process.env, TENANT_BINARIES, version.slice(1));
    const releaseOf = async (minor: string) => {
      const found = await findRelease(process.env, TENANT_BINARIES, minor.slice(1));
      return found && `v${found}`;
    };
    const wanted = inCluster ? "deployment" : programs === undefined ? "embedded" : "process";
    const store = { clock, log, namespace: NAMESPACE, dir: join(dir, "etcd"), assets: async () => programs ?? "" };
    const etcd = programs === undefined ? undefined : await startDefaultStore(client, store);
    const stores = new Stores({ clock, log, ...(inCluster && { open: async () => NO_DATABASE }) });
    const kine = async () => join(programs ?? "", "kine");
    const tunnel = async () => join(programs ?? "", "proxy-server");
    const surroundings = { clock, random, log, host, dir, assets, releaseOf, kine, tunnel, inCluster };
    const runtimes = new Runtimes({ wanted, start: (name) => startRuntime(name, surroundings) });
    const manager = createManager({ transport: api.transport(), clock, random, log, leaderElection: false });
    manager.add(tenantController(runtimes, stores, { inCluster }));
    manager.add(dataStoreController(stores));
    manager.add(kubeconfigGeneratorController());
    for (const controller of beside.controllers()) manager.add(controller);
    await manager.start();
    return async () => {
      await manager.stop();
      await runtimes.close();
      await stores.close();
      await etcd?.close();
    };
  };
  let stop = await start();
  t.after(async () => {
    await stop();
    await cluster?.close();
    await api.close();
    rmSync(dir, { recursive: true });
  });
  return {
    client,
    clientAs: (fieldManager) => createClient(api.transport(), { clock, random, log, fieldManager }),
    async apply(name, change = {}, annotations = {}) {
      const body = manifestOf(name, { isReal: programs !== undefined, change, annotations });
      await client.patch(
        TenantControlPlane,
        { namespace: NAMESPACE, name },
        { type: "apply", body, fieldManager: "t", force: true },
      );
    },
    async until(name, what) {
      const { signal, done } = deadline(clock, 120_000);
      try {
        for (;;) {
          const tenant = await client.find(TenantControlPlane, { namespace: NAMESPACE, name });
          if (tenant !== undefined && what(tenant)) return tenant;
          if (signal.aborted) throw new Error(`not in time: ${JSON.stringify(tenant?.status ?? tenant?.metadata)}`);
          await clock.sleep(25);
        }
      } finally {
        done();
      }
    },
    async inTenant(name, use, by = "admin.conf") {
      const of = typeof by === "string" ? { secret: `${name}-admin-kubeconfig`, key: by } : by;
      const secret = await client.get(Secret, { namespace: NAMESPACE, name: of.secret });
      const found = credentialsOf(Buffer.from(secret.data![of.key]!, "base64").toString())!;
      const transport = createHttpTransport({
        server: found.server,
        ca: found.caPem,
        cert: found.certificatePem,
        key: found.keyPem,
      });
      try {
        const inside = createClient(transport, { clock, random, log });
        return await use(
          programs !== undefined && by === "admin.conf" ? await untilGranted(inside) : inside,
          transport,
        );
      } finally {
        await transport.close();
      }
    },
    async restart() {
      await stop();
      stop = await start();
    },
  };
}

/** A tenant as its user applies it. `isReal`: it runs as processes, of which there is one version. */
function manifestOf(
  name: string,
  { isReal, change, annotations }: { isReal: boolean; change: object; annotations: object },
): object {
  return {
    apiVersion: "kamaji.clastix.io/v1alpha1",
    kind: "TenantControlPlane",
    metadata: { name, namespace: NAMESPACE, annotations },
    spec: {
      controlPlane: { deployment: { replicas: 1 }, service: { serviceType: "LoadBalancer" } },
      kubernetes: { version: isReal ? "v1.36.3" : "v1.33.0", kubelet: { cgroupfs: "systemd" } },
      networkProfile: { port: isReal ? 39_443 : 36_443 },
      addons: { coreDNS: {}, kubeProxy: {} },
      ...change,
    },
  };
}

/** A real API server takes a moment to read who may do what, and refuses administrators until then. */
async function untilGranted<T extends ReturnType<typeof createClient>>(inside: T): Promise<T> {
  const { signal, done } = deadline(clock, 60_000);
  try {
    for (;;) {
      const error = await inside.list(Node).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (error === undefined) return inside;
      if (!isFault(error, "Forbidden") || signal.aborted) throw error;
      await clock.sleep(50);
    }
  } finally {
    done();
  }
}

export const stateOf = ({ status }: TenantControlPlane): string | undefined =>
  status?.kubernetesResources?.version?.status;
