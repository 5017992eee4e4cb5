/** A tenant's control plane as Pods on a real kubelet: one machine is the management cluster's node, another one joins the tenant. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Client, createManager } from "@slipway/kube";
import { Namespace, Node, Pod, Secret } from "@slipway/kube/core";
import { installCrds } from "../../src/kinds/install.ts";
import { KAMAJI_KINDS } from "../../src/kinds/kamaji/kinds.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { findAssets, KUBERNETES_VERSION, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { nodeImageFolder } from "../../src/kubernetes/node-image-folder.ts";
import { LAB } from "../../src/lab/rack.ts";
import { serveProgramImages } from "../../src/lab/registry/registry.ts";
import { joinSeed } from "../../src/lab/vino/join-seed.ts";
import { dataStoreController } from "../../src/systems/kamaji/data-store-controller.ts";
import { startDefaultStore } from "../../src/systems/kamaji/default-store.ts";
import { Runtimes } from "../../src/systems/kamaji/runtimes.ts";
import { Stores } from "../../src/systems/kamaji/stores.ts";
import { tenantController } from "../../src/systems/kamaji/tenant-controller.ts";
import { DeploymentRuntime } from "../../src/tenants/deployment/deployment-runtime.ts";
import { NAMESPACE, stateOf } from "../system/tenants-world.ts";
import { BootServer } from "./node/boot-server.ts";
import { bootsAsNode, eventually, joined, joinToken } from "./node/joining.ts";
import { addressOf, type Management, managementCluster, wayInto } from "./node/management.ts";
import { type Stage, setStage } from "./stage.ts";

const assets = await findAssets(process.env, ["etcd", ...TENANT_BINARIES]).catch((error: Error) => error);
const image = nodeImageFolder(process.env, "1.36", "amd64");
const skip =
  assets instanceof Error
    ? `${assets.message}; run \`make kube-assets\``
    : !existsSync(join(image, "packages.json")) && "no node image: run `make node-image`";

/** Of nodes' ports, where the tenant's API server is reached. */
const NODE_PORT = 31_443;
const ALONE = ["--leader-elect=false"];
const HOME = { firmware: "bios", diskBytes: 1024 ** 3 } as const;

test("B23 a tenant runs as Pods on a node that netbooted", { skip }, async (t) => {
  const stage = await setStage([
    { name: "lab-1", ...HOME, memoryMiB: 6144, processors: 2 },
    { name: "lab-2", ...HOME, memoryMiB: 3072 },
  ]);
  t.after(() => stage.close());
  const server = await BootServer.start(LAB.address, image);
  t.after(() => server.close());
  const mirror = await imagesOfControlPlanes(t);
  const [home] = stage.rack.machines;

  const management = await managementCluster(t, String(assets));
  const nodeFiles = { "/etc/containerd/certs.d/registry.k8s.io/hosts.toml": mirror };
  const token = await joinToken(management.client);
  bootsAsNode(stage, server, home!, joinSeed("lab-1", { kubeconfig: management.kubeconfig, token, files: nodeFiles }));
  await home!.powerOn();
  await joined(management.client, [home!]);

  await operator(t, management);
  const began = clock.now();
  await management.client.create(TenantControlPlane, tenantAt(await addressOf(management.client, "lab-1")) as never);
  const ref = { namespace: NAMESPACE, name: "team" };
  await eventually(
    "tenant that is Ready",
    () => storyOf(management.client),
    async () => stateOf(await management.client.get(TenantControlPlane, ref)) === "Ready",
  );
  console.log(`team: Ready ${((clock.now() - began) / 1000).toFixed(1)} s after it was created`);

  await t.test("another machine joins it", () => joinTenant(t, management, { stage, server }));
});

async function joinTenant(
  t: TestContext,
  management: Management,
  { stage, server }: { stage: Stage; server: BootServer },
): Promise<void> {
  const worker = stage.rack.machines[1]!;
  const admin = await management.client.get(Secret, { namespace: NAMESPACE, name: "team-admin-kubeconfig" });
  const kubeconfig = Buffer.from(admin.data!["admin.conf"]!, "base64").toString();
  const tenant = wayInto(t, kubeconfig).client;
  bootsAsNode(stage, server, worker, joinSeed("lab-2", { kubeconfig, token: await joinToken(tenant) }));
  await worker.powerOn();
  await joined(tenant, [worker]);
  const nodes = async (cluster: Client): Promise<string[]> =>
    (await cluster.list(Node)).items.map(({ metadata }) => metadata.name!);
  assert.deepEqual([await nodes(management.client), await nodes(tenant)], [["lab-1"], ["lab-2"]]);
}

/** Runs tenants as Deployments of that cluster; their objects are in an etcd that Pods reach. */
async function operator(t: TestContext, { client, transport }: Management): Promise<void> {
  await installCrds(client, clock, new AbortController().signal, KAMAJI_KINDS);
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  // Not the stage's folder, which is removed first: etcd would be started again without one.
  const dir = mkdtempSync(join(tmpdir(), "slipway-etcd-"));
  const place = { namespace: NAMESPACE, dir, host: LAB.address };
  const etcd = await startDefaultStore(client, { clock, log, ...place, assets: async () => String(assets) });
  const stores = new Stores({ clock, log });
  const runtimes = new Runtimes({ wanted: "deployment", start: async () => new DeploymentRuntime() });
  const manager = createManager({ transport, clock, random, log, leaderElection: false });
  manager.add(tenantController(runtimes, stores, { inCluster: true }));
  manager.add(dataStoreController(stores));
  await manager.start();
  t.after(async () => {
    await manager.stop();
    await runtimes.close();
    await stores.close();
    await etcd?.close();
    rmSync(dir, { recursive: true });
  });
}

function tenantAt(address: string): object {
  return {
    metadata: { name: "team", namespace: NAMESPACE },
    spec: {
      controlPlane: {
        // Alone they need no election, which an emulated machine beside other work may lose by being late.
        deployment: { replicas: 1, extraArgs: { controllerManager: ALONE, scheduler: ALONE } },
        service: { serviceType: "NodePort" },
      },
      kubernetes: { version: `v${KUBERNETES_VERSION}`, kubelet: { cgroupfs: "systemd" } },
      networkProfile: { address, port: NODE_PORT },
      addons: { kubeProxy: {} },
    },
  };
}

/** The programs as images, from a registry in the rack. Resolves with the settings by which a node's containerd uses it. */
async function imagesOfControlPlanes(t: TestContext): Promise<string> {
  const programs = TENANT_BINARIES.map((program) => [program, join(String(assets), program)] as const);
  const registry = await serveProgramImages(Object.fromEntries(programs), { host: LAB.address, port: 0 });
  t.after(() => registry.close());
  return `server = "${registry.url}"\n[host."${registry.url}"]\n  capabilities = ["pull", "resolve"]\n`;
}

async function storyOf(client: Client): Promise<string> {
  const { status } = await client.get(TenantControlPlane, { namespace: NAMESPACE, name: "team" });
  const pods = (await client.list(Pod, { namespace: NAMESPACE })).items.map((pod) => pod.status);
  return JSON.stringify({ status, pods }, null, 1);
}
