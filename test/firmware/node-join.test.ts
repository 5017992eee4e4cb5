/** Bare machines become nodes of a tenant: from power-on, by netboot and the node image, to Nodes that are Ready. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import type { Client, KubeObject } from "@slipway/kube";
import { Node, Pod, Secret, Service } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { loadAll } from "js-yaml";
import { findAssets, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { nodeImageFolder } from "../../src/kubernetes/node-image-folder.ts";
import { LAB, planMachines } from "../../src/lab/rack.ts";
import { joinSeed } from "../../src/lab/vino/join-seed.ts";
import { credentialsOf } from "../../src/pki/tenant/credentials.ts";
import { PROXY_AGENT } from "../../tools/node-image/packages.ts";
import { NODE_VERSIONS, type NodeArchitecture, type NodeVersion } from "../kubernetes/assets/node-binaries.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "../system/tenants-world.ts";
import { BootServer } from "./node/boot-server.ts";
import { bootsAsNode, eventually, joined, joinToken } from "./node/joining.ts";
import { setStage } from "./stage.ts";

const assets = await findAssets(process.env, ["etcd", "proxy-server"]).catch((error: Error) => error);
const MACHINES = 2;
const BUSYBOX = "slipway.dev/busybox:1";

interface Joining {
  minor: NodeVersion;
  version: string;
  firmware: "bios" | "arm64";
}

const JOININGS: readonly Joining[] = [
  ...(Object.entries(NODE_VERSIONS).reverse() as [NodeVersion, string][]).map(([minor, version]) => ({
    ...{ minor, version },
    firmware: "bios" as const,
  })),
  { minor: "1.36", version: NODE_VERSIONS["1.36"], firmware: "arm64" },
];
for (const one of JOININGS)
  test(
    `${one.minor}, ${one.firmware}: machines boot the node image from the network, and join a tenant by Cluster API's bootstrap data`,
    {
      skip: await whyNot(one),
    },
    (t) => joining(t, one),
  );

function imageOf({ minor, firmware }: Joining): string {
  return nodeImageFolder(process.env, minor, architectureOf(firmware));
}

function architectureOf(firmware: Joining["firmware"]): NodeArchitecture {
  return firmware === "arm64" ? "arm64" : "amd64";
}

async function whyNot(one: Joining): Promise<string | false> {
  const { minor, version, firmware } = one;
  if (assets instanceof Error) return `${assets.message}; run \`make kube-assets NAMES="etcd proxy-server"\``;
  const plane = await findAssets(process.env, TENANT_BINARIES, version).catch((error: Error) => error);
  if (plane instanceof Error) return `${plane.message}; run \`make kube-assets VERSIONS=${minor}\``;
  const command = `make node-image VERSION=${minor} ARCHITECTURE=${architectureOf(firmware)}`;
  return !existsSync(join(imageOf(one), "packages.json")) && `no node image: run \`${command}\``;
}

async function joining(t: TestContext, one: Joining): Promise<void> {
  const { version, firmware } = one;
  const stage = await setStage(planMachines(MACHINES, [firmware], { memoryMiB: 3072, diskBytes: 1024 ** 3 }));
  t.after(() => stage.close());
  const world = await tenantsWorld(t, String(assets), { host: LAB.address });
  // The agent that the node image brings along, whatever the version of Kubernetes.
  const agent = { version: PROXY_AGENT.split(":")[1] };
  await world.apply("a", {
    kubernetes: { version: `v${version}`, kubelet: { cgroupfs: "systemd" } },
    addons: { coreDNS: {}, kubeProxy: {}, konnectivity: { server: { port: 8132 }, agent } },
  });
  await world.until("a", (one) => stateOf(one) === "Ready");
  const admin = await world.client.get(Secret, { namespace: NAMESPACE, name: "a-admin-kubeconfig" });
  const kubeconfig = Buffer.from(admin.data!["admin.conf"]!, "base64").toString();
  await world.inTenant("a", async (tenant) => {
    const token = await joinToken(tenant);
    await letNodesSeeNodes(tenant);
    const server = await BootServer.start(LAB.address, imageOf(one));
    t.after(() => server.close());
    for (const machine of stage.rack.machines)
      bootsAsNode(stage, server, machine, joinSeed(machine.spec.name, { kubeconfig, token }));
    await stage.rack.powerOn();
    await joined(tenant, stage.rack.machines);
    const kubelets = (await tenant.list(Node)).items.map(({ status }) => kubeletOf(status));
    assert.deepEqual(kubelets, [`v${version}`, `v${version}`]);
    await t.test("Pods of two nodes reach each other by a Service's name", () => talk(tenant));
    await t.test("B25 a Pod's log comes through konnectivity", () => readLog(kubeconfig));
  });
}

function kubeletOf(status: unknown): string | undefined {
  return (status as { nodeInfo?: { kubeletVersion?: string } } | undefined)?.nodeInfo?.kubeletVersion;
}

/** As the documentation says for a cluster without a network of its own. */
async function letNodesSeeNodes(tenant: Client): Promise<void> {
  const file = join(import.meta.dirname, "../../examples/kamaji/node-network.yaml");
  for (const object of loadAll(await readFile(file, "utf8")) as KubeObject[]) {
    const kind = object.kind!;
    const plural = `${kind.toLowerCase()}s`;
    await tenant.create({ group: "rbac.authorization.k8s.io", version: "v1", kind, plural, namespaced: false }, object);
  }
}

/** A server on one node, and a client on the other that asks it by its Service's name: DNS, kube-proxy and the Pods' network work. */
async function talk(tenant: Client): Promise<void> {
  const serve = "mkdir /www && echo hello from lab-1 >/www/index.html && httpd -f -p 80 -h /www";
  const ask = "until wget -T 5 -q -O - http://web.default.svc.cluster.local 2>/dev/null; do sleep 1; done";
  await tenant.create(Service, {
    metadata: { name: "web", namespace: "default" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
  } as never);
  await tenant.create(Pod, pod("web", "lab-1", serve));
  await tenant.create(Pod, pod("client", `lab-${MACHINES}`, ask));
  const phase = async (name: string): Promise<string | undefined> =>
    (await tenant.get(Pod, { namespace: "default", name })).status?.phase;
  const began = clock.now();
  const shown = async (): Promise<string> =>
    JSON.stringify((await tenant.list(Pod)).items.map(({ metadata, status }) => [metadata.name, status]));
  await eventually("answer to the client", shown, async () => (await phase("client")) === "Succeeded");
  console.log(
    `a Pod has reached another one by its Service's name ${((clock.now() - began) / 1000).toFixed(1)} s after both were created`,
  );
  assert.equal(await phase("web"), "Running");
}

/** The API server has no other way to a kubelet than the agents on the nodes. */
async function readLog(kubeconfig: string): Promise<void> {
  const { server, caPem: ca, certificatePem: cert, keyPem: key } = credentialsOf(kubeconfig)!;
  const transport = createHttpTransport({ server, ca, cert, key });
  const path = "/api/v1/namespaces/default/pods/client/log";
  let last = "";
  const read = async (): Promise<string> => {
    const { status, body } = await transport.request({ method: "GET", path });
    return `${status} ${typeof body === "string" ? body : JSON.stringify(body)}`;
  };
  const began = clock.now();
  // A container may count as ended a moment before containerd has written the last of what it said.
  const isRead = async (): Promise<boolean> => {
    last = await read().catch((error: Error) => error.message);
    return last === "200 hello from lab-1\n";
  };
  try {
    await eventually("log of the client", () => last, isRead);
  } finally {
    await transport.close();
  }
  console.log(`its log has come through konnectivity after ${((clock.now() - began) / 1000).toFixed(1)} s`);
}

function pod(name: string, nodeName: string, command: string): Pod {
  return {
    metadata: { name, namespace: "default", labels: { app: name } },
    spec: {
      nodeName,
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 0,
      containers: [{ name: "it", image: BUSYBOX, command: ["sh", "-c", command] }],
    },
  } as never;
}
