/** A SIPCluster's Pods on a real kubelet: the management cluster's node is an emulated machine, its hosts are addresses of this one. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Client, createManager, isTrue } from "@slipway/kube";
import { ConfigMap, Deployment, Namespace, Pod, Secret } from "@slipway/kube/core";
import { installCrds } from "../../src/kinds/install.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { SIPCluster } from "../../src/kinds/sip/sip-cluster.ts";
import { findAssets, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { nodeImageFolder } from "../../src/kubernetes/node-image-folder.ts";
import { LAB } from "../../src/lab/rack.ts";
import { serveImages } from "../../src/lab/registry/registry.ts";
import { joinSeed } from "../../src/lab/vino/join-seed.ts";
import { sshKeyPair } from "../../src/pki/ssh-keys.ts";
import { credentialsOf } from "../../src/pki/tenant/credentials.ts";
import { METAL3_KINDS } from "../../src/systems/netboot/led-netboot.ts";
import { sipClusterController } from "../../src/systems/sip/cluster-controller.ts";
import { ApiTraffic } from "../kubernetes/api-traffic.ts";
import { networkData } from "../system/sip-world.ts";
import { BootServer } from "./node/boot-server.ts";
import { bootsAsNode, eventually, joined, joinToken } from "./node/joining.ts";
import { layoutImage } from "./node/layout-image.ts";
import { addressOf, type Management, managementCluster } from "./node/management.ts";
import { addAddress, apiServerAt, type StandInServer, sshServerAt } from "./node/stand-in-hosts.ts";
import { setStage } from "./stage.ts";

const assets = await findAssets(process.env, ["etcd", ...TENANT_BINARIES]).catch((error: Error) => error);
const nodeImage = nodeImageFolder(process.env, "1.36", "amd64");
const SERVICE_IMAGES = join(import.meta.dirname, "../../dist/service-images");
const IMAGES = ["haproxy", "jump-host"];
const lacks = (name: string): boolean => !existsSync(join(SERVICE_IMAGES, name, "index.json"));
const missing = IMAGES.filter(lacks);
/** Dex takes minutes to build: the rest is seen without it. */
const withoutDex = lacks("dex") && "no image of dex: run `make service-images`";
const skip =
  assets instanceof Error
    ? `${assets.message}; run \`make kube-assets\``
    : !existsSync(join(nodeImage, "packages.json"))
      ? "no node image: run `make node-image`"
      : !existsSync("/usr/sbin/sshd")
        ? "not installed: openssh-server"
        : missing.length > 0 && `no images of ${missing.join(", ")}: run \`make service-images\``;

const NAMESPACE = "team";
const NAME = "team";
const REGISTRY = "registry.test";
const [API, SSH, DEX] = [30_643, 30_022, 30_556];
const ROLE = "example.org/role";
const PLANES = ["10.77.0.21", "10.77.0.22"];
const WORKER = "10.77.0.23";
/** An emulated machine beside other work. */
const PER_SECOND = 10;
/** After a Pod's deletion; of them it takes new connections for 5. */
const LEAVING_SECONDS = 20;

test("SIP-8 SIP-14 a SIPCluster's Pods run on a node that netbooted: API by NodePort, a host by its jump host, Dex", {
  skip,
}, async (t) => {
  const stage = await setStage([
    { name: "lab-1", firmware: "bios", diskBytes: 1024 ** 3, memoryMiB: 4096, processors: 2 },
  ]);
  t.after(() => stage.close());
  const server = await BootServer.start(LAB.address, nodeImage);
  t.after(() => server.close());
  const folder = mkdtempSync(join(tmpdir(), "slipway-sip-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const management = await managementCluster(t, String(assets));
  const { client, kubeconfig } = management;
  const [machine] = stage.rack.machines;
  const files = { [`/etc/containerd/certs.d/${REGISTRY}/hosts.toml`]: await registry(t) };
  const token = await joinToken(client);
  bootsAsNode(stage, server, machine!, joinSeed("lab-1", { kubeconfig, token, files }));
  await machine!.powerOn();

  const [given, other, inside] = ["given", "other", "inside"].map((name) => sshKeyPair(name));
  const real = new URL(credentialsOf(kubeconfig)!.server);
  for (const address of [...PLANES, WORKER]) addAddress(address);
  const planes = [await apiServerAt(t, PLANES[0]!, real), await apiServerAt(t, PLANES[1]!, real)] as const;
  sshServerAt(t, WORKER, { folder, key: inside!.authorizedKey });
  await operator(t, management);
  await subClusterIn(client, { kubeconfig, key: inside!.privateKey });
  await joined(client, [machine!]);
  const node = await addressOf(client, "lab-1");
  const began = clock.now();
  await apply(client, { address: node, key: given!.authorizedKey, planes: 2 });
  await ready(client);
  console.log(`${NAME}: Ready ${((clock.now() - began) / 1000).toFixed(1)} s after it was created`);

  const login = (key: string, command: string) => ssh(node, { folder, key, command });
  // Pods that are ready are not yet led to by each node.
  await eventually(
    "login by the NodePort",
    () => story(client),
    async () => (await login(given!.privateKey, "true")).status === 0,
  );
  await t.test("the jump host leads to a host, and lets no other key in", async () => {
    const listed = await login(given!.privateKey, "host list");
    assert.deepEqual([listed.status, listed.stdout.split("\n").toSorted().join(" ").trim()], [0, "cp-1 cp-2 worker-1"]);
    const reached = await login(given!.privateKey, "ssh -l root worker-1 'echo $SSH_CONNECTION'");
    assert.match(reached.stdout, new RegExp(` ${WORKER} 22\n$`), reached.stderr);
    const nodes = await login(given!.privateKey, "kubectl get nodes -o name");
    assert.equal(nodes.stdout, "node/lab-1\n", nodes.stderr);
    const refused = await login(other!.privateKey, "host list");
    assert.match(refused.stderr, /Permission denied \(publickey\)/);
  });

  const issuing = "Dex answers at the NodePort, by the authority and the issuer of the settings";
  await t.test(issuing, { skip: withoutDex }, async () => {
    const { data } = await client.get(ConfigMap, { namespace: NAMESPACE, name: `dexsettings-${NAME}` });
    const issuer = `https://${node}:${DEX}/dex`;
    const found = await get(`${issuer}/.well-known/openid-configuration`, data!["ca.crt"]!);
    assert.equal((JSON.parse(found) as { issuer: string }).issuer, issuer);
  });

  await t.test("the API answers at the NodePort; nothing is dropped when a host leaves, and its server after it", () =>
    apiByNodePort(t, client, { node, kubeconfig, authorizedKey: given!.authorizedKey, planes }),
  );
});

interface Api {
  node: string;
  kubeconfig: string;
  authorizedKey: string;
  planes: readonly StandInServer[];
}

async function apiByNodePort(
  t: TestContext,
  client: Client,
  { node, kubeconfig, authorizedKey, planes }: Api,
): Promise<void> {
  const real = new URL(credentialsOf(kubeconfig)!.server);
  const { caPem: ca, certificatePem: cert, keyPem: key } = credentialsOf(kubeconfig)!;
  // Its certificate has another name than the node's address.
  const place = { host: node, name: real.hostname, port: API, ca, cert, key };
  const traffic = new ApiTraffic(place, clock);
  t.after(() => traffic.close());
  const watch = await traffic.watch();
  const [before] = await podsOf(client);
  traffic.start(PER_SECOND);
  await apply(client, { address: node, key: authorizedKey, planes: 1 });
  await eventually(
    "load balancer's Pod in the place of the one before",
    () => story(client),
    async () => {
      const isLeaving = (await podsOf(client)).every(
        ({ metadata: { name, deletionTimestamp } }) =>
          name !== before!.metadata.name || deletionTimestamp !== undefined,
      );
      return isLeaving && (await isReady(client));
    },
  );
  await client.create(Namespace, { metadata: { name: "after-the-roll" } });
  await traffic.untilSeen([watch], "after-the-roll");
  const { addresses } = await backends(client);
  const left = addresses.length === 1 ? addresses[0] : assert.fail(`balanced over ${addresses.join(", ")}`);
  // Nodes have been told by then, and the Pod before takes no new connections.
  const enough = traffic.connections.length + PER_SECOND * LEAVING_SECONDS;
  await eventually(
    `${enough} connections`,
    () => story(client),
    async () => traffic.connections.length >= enough,
  );
  await traffic.stop();
  const dropped = traffic.connections.filter((one) => one.dropped !== undefined);
  assert.deepEqual([dropped, watch.connection.ended], [[], undefined]);
  console.log(`${traffic.connections.length} connections while the load balancer's Pod was replaced: none dropped`);
  // The other one's server is not asked any more.
  await planes[PLANES.indexOf(left!) === 0 ? 1 : 0]!.cut();
  const { gitVersion } = JSON.parse(await get(`https://${node}:${API}/version`, ca, real.hostname)) as {
    gitVersion: string;
  };
  assert.match(gitVersion, /^v1\.36\./);
}

/** The images of SIP's services, from a registry in the rack. Resolves with the settings by which a node's containerd uses it. */
async function registry(t: TestContext): Promise<string> {
  const images = [...IMAGES, ...(withoutDex ? [] : ["dex"])].map(
    (name) => [`slipway/${name}`, layoutImage(join(SERVICE_IMAGES, name))] as const,
  );
  const served = await serveImages(new Map(images), { host: LAB.address, port: 0 });
  t.after(() => served.close());
  return `server = "${served.url}"\n[host."${served.url}"]\n  capabilities = ["pull", "resolve"]\n`;
}

async function operator(t: TestContext, { client, transport }: Management): Promise<void> {
  await installCrds(client, clock, new AbortController().signal, [...METAL3_KINDS, [SIPCluster]]);
  const manager = createManager({ transport, clock, random, log, leaderElection: false });
  manager.add(sipClusterController());
  await manager.start();
  t.after(() => manager.stop());
}

/** What users and the inventory have there before: hosts that can be had, keys, a kubeconfig. */
async function subClusterIn(client: Client, { kubeconfig, key }: { kubeconfig: string; key: string }): Promise<void> {
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  const secret = (name: string, stringData: Record<string, string>) =>
    client.create(Secret, { metadata: { namespace: NAMESPACE, name }, stringData } as never);
  await secret("ssh-private-keys", { id_ed25519: key });
  await secret(`${NAME}-kubeconfig`, { value: kubeconfig });
  const hosts = [...PLANES.map((address, at) => [`cp-${at + 1}`, "plane", address]), ["worker-1", "worker", WORKER]];
  for (const [name, role, address] of hosts) {
    await secret(`${name}-network-data`, { networkData: networkData(address!) });
    await secret(`${name}-bmc`, { username: "root", password: "test" });
    const ref = { namespace: NAMESPACE, name: name! };
    await client.create(BareMetalHost, {
      metadata: { ...ref, labels: { [ROLE]: role!, "example.org/host": name! } },
      spec: {
        ...{ online: true, automatedCleaningMode: "metadata" },
        bmc: { address: "redfish+https://192.0.2.1/redfish/v1/Systems/1", credentialsName: `${name}-bmc` },
        networkData: { name: `${name}-network-data`, namespace: NAMESPACE },
      },
    } as never);
    const provisioning = { state: "available", ID: "" };
    const status = { operationalStatus: "OK", errorMessage: "", errorCount: 0, poweredOn: true, provisioning };
    await client.patch(BareMetalHost, ref, { type: "merge", body: { status } }, { subresource: "status" });
  }
}

interface Wanted {
  address: string;
  key: string;
  planes: number;
}

async function apply(client: Client, { address, key, planes }: Wanted): Promise<void> {
  const of = (label: string, active: number) => ({
    ...{ labelSelector: { matchLabels: { [ROLE]: label } }, topologyKey: "example.org/host" },
    count: { active, standby: 0 },
  });
  const common = (image: string) => ({
    ...{ image: `${REGISTRY}/slipway/${image}:test`, nodeInterfaceId: "oam-ipv4", clusterIP: address },
  });
  const services = {
    loadBalancerControlPlane: [{ ...common("haproxy"), nodePort: API }],
    jumpHost: [
      {
        ...{ ...common("jump-host"), nodePort: SSH },
        ...{ sshAuthorizedKeys: [key], nodeSSHPrivateKeys: "ssh-private-keys" },
      },
    ],
    ...(!withoutDex && { auth: [{ ...common("dex"), nodePort: DEX }] }),
  };
  const body = {
    ...{ apiVersion: "airship.airshipit.org/v1", kind: "SIPCluster" },
    metadata: { namespace: NAMESPACE, name: NAME },
    spec: { nodes: { ControlPlane: of("plane", planes), Worker: of("worker", 1) }, services },
  };
  const ref = { namespace: NAMESPACE, name: NAME };
  await client.patch(SIPCluster, ref, { type: "apply", body, fieldManager: "t", force: true });
}

async function isReady(client: Client): Promise<boolean> {
  const { metadata, status } = await client.get(SIPCluster, { namespace: NAMESPACE, name: NAME });
  const of = status?.conditions?.find(({ type }) => type === "Ready");
  return of?.observedGeneration === metadata.generation && isTrue(status?.conditions, "Ready");
}

async function ready(client: Client): Promise<void> {
  await eventually(
    "SIPCluster that is Ready",
    () => story(client),
    () => isReady(client),
  );
}

async function podsOf(client: Client): Promise<Pod[]> {
  const { items } = await client.list(Pod, { namespace: NAMESPACE });
  return items.filter(({ metadata }) => metadata.name!.startsWith("loadbalancer-"));
}

/** What the load balancer's configuration leads to. */
async function backends(client: Client): Promise<{ addresses: string[] }> {
  const name = `loadbalancer-controlplane-${NAME}`;
  const { data } = await client.get(Secret, { namespace: NAMESPACE, name });
  const config = Buffer.from(data!["haproxy.cfg"]!, "base64").toString();
  return { addresses: [...config.matchAll(/^ {2}server \S+ (\S+):6443$/gm)].map(([, address]) => address!) };
}

async function story(client: Client): Promise<string> {
  const { status } = await client.get(SIPCluster, { namespace: NAMESPACE, name: NAME });
  const pods = (await client.list(Pod, { namespace: NAMESPACE })).items.map((pod) => [pod.metadata.name, pod.status]);
  const deployments = (await client.list(Deployment, { namespace: NAMESPACE })).items.map((one) => one.status);
  return JSON.stringify({ status, deployments, pods }, null, 1);
}

/** What an answer over TLS holds. `name`: in the certificate, where it is another than the URL's. */
async function get(url: string, ca: string, name?: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const host = name ?? new URL(url).hostname;
    const named = { checkServerIdentity: (_: string, found: PeerCertificate) => checkServerIdentity(host, found) };
    request(url, { ca, agent: false, timeout: 60_000, ...named }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      answer.on("end", () => (answer.statusCode === 200 ? resolve(text) : reject(new Error(`${url}: ${text}`))));
    })
      .on("error", reject)
      .end();
  });
}

async function ssh(
  node: string,
  { folder, key, command }: { folder: string; key: string; command: string },
): Promise<{ status: number; stdout: string; stderr: string }> {
  const file = join(folder, "login-key");
  rmSync(file, { force: true });
  writeFileSync(file, key, { mode: 0o600 });
  const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes", "LogLevel=ERROR"];
  const args = ["-F", "none", ...options.flatMap((one) => ["-o", one]), "-i", file, "-p", String(SSH)];
  return await new Promise((resolve) => {
    execFile("ssh", [...args, `ubuntu@${node}`, command], { timeout: 300_000 }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
  });
}
