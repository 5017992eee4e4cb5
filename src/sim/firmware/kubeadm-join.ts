/**
 * What `kubeadm join` and a kubelet do on a machine, by the real protocol: discovery by token, with the signature and the CA's hash, the
 * cluster's configuration, TLS bootstrap by a certificate request, the Node. SIMULATION: nothing runs there.
 */
import { createHash, createHmac, X509Certificate } from "node:crypto";
import { type Clock, type Log, offLoop, type Random, rfc3339 } from "@slipway/base";
import {
  type Client,
  createClient,
  type Draft,
  isTrue,
  type KubeObject,
  type Resource,
  type Transport,
} from "@slipway/kube";
import { ConfigMap, Node, Pod } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { load } from "js-yaml";
import { kubeletConditions } from "../site/node-object.ts";
import { CONTROL_PLANE, CONTROL_PLANE_LABELS, missingAuthority, staticPods } from "./control-plane-node.ts";

export type OpenApi = (connection: Parameters<typeof createHttpTransport>[0]) => Transport;

export interface JoinPorts {
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
  /** The machine's way to API servers. Default: sockets. */
  open?: OpenApi;
}

export interface JoiningMachine {
  hostname: string;
  addresses: readonly { type: string; address: string }[];
  /** On its disk, by path. Default: none. */
  files?: ReadonlyMap<string, string>;
}

/** `kubelet`: how the kubelet reaches the API. `refused`: kubeadm ends with this message; it is not started again by itself. */
export type JoinEnd =
  | { is: "joined"; node: string; isControlPlane: boolean; kubelet: Parameters<OpenApi>[0] }
  | { is: "refused"; message: string };

interface JoinFile {
  apiVersion?: string;
  kind?: string;
  /** Another machine of the control plane. */
  controlPlane?: object;
  discovery?: {
    bootstrapToken?: {
      apiServerEndpoint?: string;
      token?: string;
      caCertHashes?: string[];
      unsafeSkipCAVerification?: boolean;
    };
  };
  nodeRegistration?: {
    name?: string;
    kubeletExtraArgs?: unknown;
    taints?: { key: string; value?: string; effect: string }[];
  };
}

const CertificateRequest: Resource<KubeObject & { status?: { certificate?: string } }> = {
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
};
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const LOOK_MS = 200;
/** kubeadm's own bound of the TLS bootstrap, and of the discovery. */
const TIMEOUT_MS = 5 * 60_000;

class Refused extends Error {}
function refuse(message: string): never {
  throw new Refused(message);
}

/** Joins by the text of kubeadm's configuration file. Rejects only with the signal's reason, and with what is no answer of kubeadm's. */
export async function kubeadmJoin(text: string, machine: JoiningMachine, ports: JoinPorts): Promise<JoinEnd> {
  try {
    const file = fileOf(text);
    const found = await discover(file, ports);
    return { is: "joined", ...(await register(file, found, machine, ports)) };
  } catch (error) {
    if (error instanceof Refused) return { is: "refused", message: error.message };
    throw error;
  }
}

interface Joining extends JoinFile {
  kubeletArguments: ReadonlyMap<string, string>;
}

function fileOf(text: string): Joining {
  const file = load(text) as JoinFile | undefined;
  if (file?.kind !== "JoinConfiguration") refuse("kubeadm: the file has no JoinConfiguration");
  if (!/^kubeadm\.k8s\.io\/v1beta[1-4]$/.test(file.apiVersion ?? ""))
    refuse(`kubeadm: unknown apiVersion ${file.apiVersion}`);
  return { ...file, kubeletArguments: argumentsOf(file) };
}

/** The kubelet's arguments: a map in v1beta3, a list in v1beta4. */
function argumentsOf({ apiVersion, nodeRegistration }: JoinFile): ReadonlyMap<string, string> {
  const args = nodeRegistration?.kubeletExtraArgs ?? (apiVersion?.endsWith("4") ? [] : {});
  if (Array.isArray(args) !== apiVersion?.endsWith("4"))
    refuse(`kubeadm: kubeletExtraArgs have not the form of ${apiVersion}`);
  if (Array.isArray(args)) return new Map(args.map(({ name, value }) => [name, value]));
  return new Map(Object.entries(args as Record<string, string>));
}

interface Found {
  server: string;
  ca: string;
  token: string;
}

async function discover({ discovery }: JoinFile, ports: JoinPorts): Promise<Found> {
  const {
    apiServerEndpoint = "",
    token = "",
    caCertHashes = [],
    unsafeSkipCAVerification,
  } = discovery?.bootstrapToken ?? {};
  const match = TOKEN.exec(token);
  if (match === null || apiServerEndpoint === "")
    refuse("kubeadm: discovery needs bootstrapToken with token and apiServerEndpoint");
  const [, id, secret] = match;
  const server = `https://${apiServerEndpoint}`;
  // The API server is not known yet: what it says is believed by the token's signature and the CA's hash alone.
  const info = await using({ server, insecure: true }, ports, (client) =>
    until(ports, "cluster-info with the token's signature", async () => {
      const { data } = await client.get(ConfigMap, { namespace: "kube-public", name: "cluster-info" });
      return data?.[`jws-kubeconfig-${id}`] === undefined ? undefined : data;
    }),
  );
  const kubeconfig = info.kubeconfig ?? "";
  if (!isSignedBy(info[`jws-kubeconfig-${id}`]!, kubeconfig, secret!))
    refuse("kubeadm: cluster-info is not signed by the token");
  const cluster =
    (load(kubeconfig) as { clusters?: { cluster?: Record<string, string> }[] }).clusters?.[0]?.cluster ?? {};
  const ca = Buffer.from(cluster["certificate-authority-data"] ?? "", "base64").toString();
  const hash = `sha256:${createHash("sha256")
    .update(new X509Certificate(ca).publicKey.export({ type: "spki", format: "der" }))
    .digest("hex")}`;
  if (unsafeSkipCAVerification !== true && !caCertHashes.includes(hash))
    refuse("kubeadm: none of the public keys has the hash that is pinned");
  return { server: cluster.server ?? server, ca, token };
}

function isSignedBy(jws: string, kubeconfig: string, secret: string): boolean {
  const [header = "", , signature] = jws.split(".");
  const payload = Buffer.from(kubeconfig).toString("base64url");
  return createHmac("sha256", secret).update(`${header}.${payload}`).digest("base64url") === signature;
}

async function register(
  { nodeRegistration, controlPlane, kubeletArguments: args }: Joining,
  { server, ca, token }: Found,
  machine: JoiningMachine,
  ports: JoinPorts,
): Promise<{ node: string; isControlPlane: boolean; kubelet: Parameters<OpenApi>[0] }> {
  const name = nodeRegistration?.name ?? machine.hostname;
  const isControlPlane = controlPlane !== undefined;
  const byToken = { server, ca, authorization: async () => `Bearer ${token}` };
  const { version, isExternalEtcd, certificate, keyPem } = await using(byToken, ports, async (client) => {
    const config = await client.get(ConfigMap, { namespace: "kube-system", name: "kubeadm-config" });
    await client.get(ConfigMap, { namespace: "kube-system", name: "kubelet-config" });
    const { kubernetesVersion, etcd } = load(config.data?.ClusterConfiguration ?? "") as ClusterConfiguration;
    const isExternalEtcd = etcd?.external !== undefined;
    const missing = isControlPlane ? missingAuthority(machine.files ?? new Map(), { ca, isExternalEtcd }) : undefined;
    if (missing !== undefined) refuse(missing);
    const held = await client.find(Node, { name });
    if (isTrue(held?.status?.conditions, "Ready")) refuse(`kubeadm: a Node ${name} that is Ready exists already`);
    return { version: kubernetesVersion, isExternalEtcd, ...(await certificateOf(client, name, ports)) };
  });
  const kubelet = { server, ca, cert: certificate, key: keyPem };
  const taints = nodeRegistration?.taints ?? (isControlPlane ? [CONTROL_PLANE] : []);
  const labels = isControlPlane ? CONTROL_PLANE_LABELS : {};
  await using(kubelet, ports, async (client) => {
    await client.create(Node, nodeOf(name, { now: ports.clock.now(), version, args, machine, taints, labels }));
    if (isControlPlane) for (const pod of staticPods(name, version, isExternalEtcd)) await client.create(Pod, pod);
  });
  return { node: name, isControlPlane, kubelet };
}

interface ClusterConfiguration {
  kubernetesVersion: string;
  etcd?: { external?: object };
}

/** The kubelet's TLS bootstrap. */
async function certificateOf(
  client: Client,
  name: string,
  ports: JoinPorts,
): Promise<{ certificate: string; keyPem: string }> {
  const { createClientRequest } = await offLoop(import("../../pki/client-request.ts"));
  const { requestPem, keyPem } = await createClientRequest({
    commonName: `system:node:${name}`,
    organizations: ["system:nodes"],
  });
  const made = await client.create(CertificateRequest, {
    metadata: { generateName: "node-csr-" },
    spec: {
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      request: Buffer.from(requestPem).toString("base64"),
      usages: ["digital signature", "client auth"],
    },
  } as never);
  const certificate = await until(ports, "its certificate", async () => {
    const { status } = await client.get(CertificateRequest, { name: made.metadata.name });
    return status?.certificate;
  });
  return { certificate: Buffer.from(certificate, "base64").toString(), keyPem };
}

const NO_NETWORK = "container runtime network not ready: cni plugin not initialized";

interface NodeFacts {
  /** Milliseconds since 1970. */
  now: number;
  version: string;
  args: ReadonlyMap<string, string>;
  machine: JoiningMachine;
  taints: readonly object[];
  labels: Readonly<Record<string, string>>;
}

/** What a kubelet registers. Without a network plugin it is not ready. */
function nodeOf(name: string, { now, version, args, machine, taints, labels }: NodeFacts): Draft<Node> {
  const external = args.get("cloud-provider") === "external";
  const uninitialized = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
  const providerID = args.get("provider-id");
  return {
    metadata: {
      name,
      labels: { ...labels, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
    },
    spec: { ...(providerID && { providerID }), taints: [...taints, ...(external ? [uninitialized] : [])] },
    status: {
      addresses: [...machine.addresses, { type: "Hostname", address: name }],
      nodeInfo: { kubeletVersion: version, osImage: "simulated", operatingSystem: "linux", architecture: "amd64" },
      conditions: kubeletConditions(NO_NETWORK, now).map((one) => ({ ...one, lastTransitionTime: rfc3339(now) })),
    },
  } as never;
}

async function using<T>(
  connection: Parameters<OpenApi>[0],
  ports: JoinPorts,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const transport = (ports.open ?? createHttpTransport)(connection);
  try {
    return await use(createClient(transport, { clock: ports.clock, random: ports.random, log: ports.log }));
  } finally {
    await transport.close();
  }
}

async function until<T>({ clock, signal }: JoinPorts, what: string, look: () => Promise<T | undefined>): Promise<T> {
  const end = clock.monotonic() + TIMEOUT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (clock.monotonic() > end) refuse(`kubeadm: timed out waiting for ${what}`);
    await clock.sleep(LOOK_MS, signal);
  }
}
