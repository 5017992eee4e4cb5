/**
 * What `kubeadm init` leaves behind: an API server with the authorities that the machine was given, and what others need to join. SIMULATION: it is an
 * embedded API in this process, reached under the address that the configuration names; credentials are read, not verified.
 */
import { X509Certificate } from "node:crypto";
import { ADMIN, type ApiServer, createApiServer } from "@slipway/apiserver";
import { type Clock, Fault, isFault, type Log, offLoop, type Random } from "@slipway/base";
import { createClient, type Transport } from "@slipway/kube";
import { ConfigMap, Secret } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { load, loadAll } from "js-yaml";
import { BOOTSTRAPPERS } from "../../bootstrap/kubeadm/access.ts";
import { createBootstrapToken } from "../../bootstrap/kubeadm/bootstrap-token.ts";
import { caHashes } from "../../bootstrap/kubeadm/ca-hash.ts";
import { joinObjects } from "../../bootstrap/kubeadm/join-objects.ts";
import { startJoining } from "../../tenants/embedded/joining.ts";
import type { OpenApi } from "./kubeadm-join.ts";

interface Ports {
  clock: Clock;
  random: Random;
  log: Log;
}

interface Running {
  api: ApiServer;
  /** The power of each machine that serves it. */
  members: Set<AbortSignal>;
  joining: { close(): Promise<void> };
}

/** `join`: kubeadm's configuration by which the machine itself becomes a Node. */
export type InitEnd = { is: "up"; join: string } | { is: "refused"; message: string };

interface InitFile {
  apiVersion?: string;
  kind?: string;
  clusterName?: string;
  kubernetesVersion?: string;
  controlPlaneEndpoint?: string;
  etcd?: object;
  networking?: { podSubnet?: string; serviceSubnet?: string };
  nodeRegistration?: object;
}

const PKI = "/etc/kubernetes/pki";
const TOKEN_MS = 24 * 60 * 60_000;
/** The oldest version whose objects can be made here; older ones differ in nothing that a simulated Node looks at. */
const MADE_AS = "v1.27.0";
const KNOWN = /^kubeadm\.k8s\.io\/v1beta[1-4]$/;

/** The simulated control planes of a process, by the address that they are reached at. */
export class SimControlPlanes {
  readonly #ports: Ports;
  readonly #beyond: OpenApi;
  readonly #onSockets: boolean;
  readonly #running = new Map<string, Running>();
  /** Endpoints that were served once stay ours: behind them nobody else is. */
  readonly #known = new Set<string>();

  /**
   * `beyond`: the way to API servers that are not simulated. Default: sockets. `onSockets`: each listens at its endpoint, which is an address of this
   * machine, for clients outside of the process.
   */
  constructor(
    ports: Ports,
    { beyond = createHttpTransport, onSockets = false }: { beyond?: OpenApi; onSockets?: boolean } = {},
  ) {
    this.#ports = ports;
    this.#beyond = beyond;
    this.#onSockets = onSockets;
  }

  /** Begins a control plane by kubeadm's configuration and the files beside it. It ends with the power of the last of its machines. */
  async init(text: string, files: ReadonlyMap<string, string>, signal: AbortSignal): Promise<InitEnd> {
    const documents = loadAll(text) as InitFile[];
    const cluster = documents.find(({ kind }) => kind === "ClusterConfiguration");
    const init = documents.find(({ kind }) => kind === "InitConfiguration");
    const [cert, key] = [files.get(`${PKI}/ca.crt`), files.get(`${PKI}/ca.key`)];
    if (cluster === undefined || !KNOWN.test(cluster.apiVersion ?? ""))
      return { is: "refused", message: `kubeadm: no ClusterConfiguration of a version that it knows` };
    if (cert === undefined || key === undefined)
      return { is: "refused", message: `kubeadm: ${PKI} has no authority: the simulation makes none` };
    const endpoint = cluster.controlPlaneEndpoint ?? "";
    const running = await this.#start(cluster, { cert, key });
    const held = this.#running.get(endpoint);
    this.#running.set(endpoint, running);
    if (held !== undefined) await end(held);
    this.#add(endpoint, running, signal);
    signal.throwIfAborted();
    const token = await this.#token(running.api);
    const bootstrapToken = { apiServerEndpoint: endpoint, token, caCertHashes: caHashes(cert) };
    const join = {
      ...{ apiVersion: cluster.apiVersion, kind: "JoinConfiguration", controlPlane: {} },
      ...{ discovery: { bootstrapToken }, nodeRegistration: init?.nodeRegistration },
    };
    return { is: "up", join: JSON.stringify(join) };
  }

  /** Another machine serves the control plane at this endpoint (`host:port`) from now on. Without one there it is nobody's. */
  join(endpoint: string, signal: AbortSignal): void {
    const running = this.#running.get(endpoint);
    if (running !== undefined) this.#add(endpoint, running, signal);
  }

  #add(endpoint: string, running: Running, signal: AbortSignal): void {
    if (running.members.has(signal)) return;
    running.members.add(signal);
    const leave = (): void => {
      running.members.delete(signal);
      if (running.members.size === 0) void this.#end(endpoint, running);
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  }

  /** The way to an API server, as what the connection says that it is. Whose it is is asked at each request: a control plane may begin after its kubeconfig is there. */
  readonly open: OpenApi = (connection) => {
    const endpoint = new URL(connection.server).host;
    let user: User | undefined;
    let beyond: Transport | undefined;
    const way = (): Transport => {
      if (!this.#known.has(endpoint)) {
        beyond ??= this.#beyond(connection);
        return beyond;
      }
      const running = this.#running.get(endpoint);
      if (running === undefined) throw new Fault("Unavailable", endpoint, "no connection: connect ECONNREFUSED");
      user ??= userOf(connection);
      return running.api.transport(user);
    };
    return {
      request: async (request) => way().request(request),
      watch: async (request) => way().watch(request),
      close: async () => void (await beyond?.close()),
    };
  };

  async close(): Promise<void> {
    const all = [...this.#running.values()];
    this.#running.clear();
    for (const running of all) await end(running);
  }

  async #end(endpoint: string, running: Running): Promise<void> {
    if (this.#running.get(endpoint) === running) this.#running.delete(endpoint);
    await end(running);
  }

  async #start(cluster: InitFile, ca: { cert: string; key: string }): Promise<Running> {
    const { controlPlaneEndpoint: endpoint = "", clusterName = "kubernetes", kubernetesVersion = MADE_AS } = cluster;
    this.#known.add(endpoint);
    const serviceCidrs = cluster.networking?.serviceSubnet?.split(",") ?? [];
    const api = await createApiServer({
      ...this.#ports,
      ...{ version: () => kubernetesVersion, authority: ca.cert },
      ...(serviceCidrs.length > 0 && { serviceCidrs }),
    });
    const client = createClient(api.transport(ADMIN), this.#ports);
    const colon = endpoint.lastIndexOf(":");
    const facts = {
      ...{ version: MADE_AS, clusterName, caPem: ca.cert, registry: "registry.k8s.io", dnsServiceIPs: [] },
      endpoint: { host: endpoint.slice(0, colon), port: Number(endpoint.slice(colon + 1)) },
      serviceCidrs: serviceCidrs.length > 0 ? serviceCidrs : ["10.96.0.0/12"],
      podCidrs: cluster.networking?.podSubnet?.split(",") ?? [],
      clusterDomain: "cluster.local",
      kubelet: { cgroupDriver: "systemd" as const, configurationJSONPatches: [] },
    };
    const asked = { kubernetesVersion, ...(cluster.etcd && { etcd: cluster.etcd }) };
    for (const object of joinObjects(facts)) await create(api.transport(ADMIN), configured(object as Made, asked));
    await client.get(ConfigMap, { namespace: "kube-public", name: "cluster-info" });
    if (this.#onSockets) await listen(api, facts.endpoint, ca, this.#ports.clock);
    const joining = startJoining({ ...this.#ports, transport: api.transport(ADMIN), ca });
    return { api, members: new Set(), joining };
  }

  async #token(api: ApiServer): Promise<string> {
    const { clock, random } = this.#ports;
    const { token, secret } = createBootstrapToken({
      random,
      expires: clock.now() + TOKEN_MS,
      description: "kubeadm init",
    });
    await createClient(api.transport(ADMIN), this.#ports).create(Secret, secret as never);
    return token;
  }
}

async function listen(
  api: ApiServer,
  { host, port }: { host: string; port: number },
  ca: { cert: string; key: string },
  clock: Clock,
): Promise<void> {
  // Only where a control plane begins on a socket: its X.509 library takes 0.1 s of a start.
  const { issueServer } = await offLoop(import("../../pki/authority.ts"));
  const authority = { certificatePem: ca.cert, keyPem: ca.key };
  const server = await issueServer(authority, { commonName: "kube-apiserver", hosts: [host], clock });
  await api.listen({ host, port, tls: { cert: server.certificatePem, key: server.keyPem, clientCa: ca.cert } });
}

async function end({ api, joining }: Running): Promise<void> {
  await joining.close();
  await api.close();
}

type Made = { apiVersion: string; kind: string; metadata: { namespace?: string }; data?: Record<string, string> };

/** The object with what the machine's file says of the cluster in the place of what it was made with. */
function configured(object: Made, asked: object): Made {
  const { ClusterConfiguration: made } = object.data ?? {};
  if (made === undefined) return object;
  // JSON is YAML, too.
  const ClusterConfiguration = JSON.stringify({ ...(load(made) as object), ...asked });
  return { ...object, data: { ...object.data, ClusterConfiguration } };
}

/** Creates an object of a kind that every API has. */
async function create(transport: Transport, object: Made): Promise<void> {
  const group = object.apiVersion.includes("/") ? `/apis/${object.apiVersion}` : `/api/${object.apiVersion}`;
  const place = object.metadata.namespace === undefined ? "" : `/namespaces/${object.metadata.namespace}`;
  const plural = `${object.kind.toLowerCase()}s`;
  try {
    await transport.request({ method: "POST", path: `${group}${place}/${plural}`, body: object });
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
  }
}

type User = NonNullable<Parameters<ApiServer["transport"]>[0]>;

/** Whom a connection's credentials name. */
function userOf({ cert, authorization }: Parameters<OpenApi>[0]): User {
  if (cert !== undefined) {
    const { subject } = new X509Certificate(cert);
    const values = (name: string) =>
      subject.split("\n").flatMap((part) => (part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : []));
    return { name: values("CN")[0] ?? "", groups: [...values("O"), "system:authenticated"] };
  }
  if (authorization !== undefined)
    return {
      name: "system:bootstrap:simulated",
      groups: [BOOTSTRAPPERS, "system:bootstrappers", "system:authenticated"],
    };
  return { name: "system:anonymous", groups: ["system:unauthenticated"] };
}
