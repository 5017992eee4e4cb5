/**
 * What kube-controller-manager does for machines that join, in an embedded tenant: it signs `cluster-info` by bootstrap tokens, removes tokens
 * that have ended, and approves and signs the certificates of kubelets. Once there are nodes, DaemonSets have their Pods on them. It follows
 * watches; other controllers are not here.
 */
import { isDeepStrictEqual } from "node:util";
import { type Clock, type Log, offLoop, type Random } from "@slipway/base";
import {
  type Controller,
  createManager,
  DONE,
  type KubeObject,
  pathOf,
  type Resource,
  source,
  type Transport,
} from "@slipway/kube";
import { ConfigMap, Node, Secret } from "@slipway/kube/core";
import { signedData, type Token } from "./cluster-info-signature.ts";
import { daemonPodsController } from "./daemon-pods.ts";

interface CertificateRequest extends KubeObject {
  spec?: { signerName?: string; request?: string; username?: string; groups?: string[]; usages?: string[] };
  status?: { certificate?: string; conditions?: { type: string }[] };
}
const CertificateRequest: Resource<CertificateRequest> = {
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
};
const KUBELET_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";
const BOOTSTRAPPERS = "system:bootstrappers:kubeadm:default-node-token";
const NODES = "system:nodes";
const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" };
const SYSTEM = "joining";

export interface JoiningPorts {
  clock: Clock;
  random: Random;
  log: Log;
  /** Into the tenant's API, as its administrator. */
  transport: Transport;
  /** The tenant's authority, as PEM texts. */
  ca: { cert: string; key: string };
}

/** Starts it; the caller calls `close`. */
export function startJoining(ports: JoiningPorts): { close(): Promise<void> } {
  const { clock, random, log, transport } = ports;
  const managed = { transport, clock, random, log, leaderElection: false } as const;
  const manager = createManager(managed);
  const onNodes = createManager(managed);
  onNodes.add(daemonPodsController(SYSTEM));
  let isStarted = false;
  let isClosed = false;
  // Most tenants of a large rack have no nodes: they pay for no watches of them.
  const withNodes = (): void => {
    if (isStarted || isClosed) return;
    isStarted = true;
    onNodes.start().catch((error: unknown) => log.warn({ error }, "DaemonSets of an embedded tenant get no Pods"));
  };
  const begun = async (): Promise<void> => {
    await letNodesIn(transport);
    await manager.start();
    const { body } = await transport.request({ method: "GET", path: pathOf(Node), query: { limit: "1" } });
    if ((body as { items?: unknown[] }).items?.length) withNodes();
  };
  manager.add(clusterInfoSigner());
  manager.add(kubeletCertificates(ports, withNodes));
  void begun().catch((error: unknown) =>
    log.warn({ error }, "an embedded tenant signs nothing for machines that join"),
  );
  return {
    async close() {
      isClosed = true;
      await manager.stop();
      await onNodes.stop();
    },
  };
}

/**
 * Kubelets may do what their role says: there is no Node authorizer here, which would hold each to its own Node's objects.
 */
async function letNodesIn(transport: Transport): Promise<void> {
  const body = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "slipway:nodes" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:node" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: NODES }],
  };
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  const { status } = await transport.request({ method: "POST", path, body });
  if (status >= 300 && status !== 409) throw new Error(`ClusterRoleBinding slipway:nodes was answered ${status}`);
}

function clusterInfoSigner(): Controller {
  const keys = () => [CLUSTER_INFO];
  return {
    name: "bootstrap-signer",
    system: SYSTEM,
    sources: [
      source({
        resource: ConfigMap,
        namespace: "kube-public",
        keys,
        when: ({ metadata }) => metadata.name === CLUSTER_INFO.name,
      }),
      source({ resource: Secret, namespace: "kube-system", fieldSelector: "type=bootstrap.kubernetes.io/token", keys }),
    ],
    access: [
      { resource: ConfigMap, verbs: ["patch"] },
      { resource: Secret, verbs: ["delete"] },
    ],
    async reconcile(_ref, { cache, client, clock }) {
      const now = clock.now();
      const secrets = cache.list(Secret, "kube-system");
      for (const { metadata } of secrets.filter((secret) => (tokenOf(secret).ends ?? now + 1) <= now))
        await client.delete(Secret, { namespace: "kube-system", name: metadata.name }, { uid: metadata.uid });
      const tokens = secrets.map(tokenOf);
      const info = cache.get(ConfigMap, CLUSTER_INFO);
      if (info !== undefined) {
        const data = signedData(info.data ?? {}, tokens, now);
        if (!isDeepStrictEqual(data, info.data)) {
          const gone = Object.keys(info.data ?? {}).filter((key) => !(key in data));
          const body = { data: { ...data, ...Object.fromEntries(gone.map((key) => [key, null])) } };
          await client.patch(ConfigMap, CLUSTER_INFO, { type: "merge", body });
        }
      }
      const next = Math.min(...tokens.flatMap(({ ends }) => (ends !== undefined && ends > now ? [ends] : [])));
      return Number.isFinite(next) ? { againAfterMs: next - now } : DONE;
    },
  };
}

function tokenOf({ data }: Secret): Token {
  const text = (key: string): string => Buffer.from(data?.[key] ?? "", "base64").toString();
  const ends = Date.parse(text("expiration"));
  return {
    id: text("token-id"),
    secret: text("token-secret"),
    ...(Number.isFinite(ends) && { ends }),
    signs: text("usage-bootstrap-signing") === "true",
  };
}

function kubeletCertificates({ transport, ca, clock }: JoiningPorts, signed: () => void): Controller {
  return {
    name: "kubelet-certificates",
    system: SYSTEM,
    sources: [source({ resource: CertificateRequest })],
    access: [],
    async reconcile(ref, { cache, log }) {
      const request = cache.get(CertificateRequest, ref);
      if (request === undefined || request.status?.certificate || request.status?.conditions?.length) return DONE;
      if (request.spec?.signerName !== KUBELET_SIGNER) return DONE;
      const { requestedName, signClientRequest } = await offLoop(import("../../pki/client-request.ts"));
      const pem = Buffer.from(request.spec.request ?? "", "base64").toString();
      if (!mayHave(request, await requestedName(pem))) {
        log.info({ request: ref.name }, "a certificate is asked for that is left to the administrator");
        return DONE;
      }
      const conditions = [
        { type: "Approved", status: "True", reason: "AutoApproved", message: "a kubelet's own client certificate" },
      ];
      const approved = await put(transport, ref.name, "approval", { ...request, status: { conditions } });
      const certificate = await signClientRequest({ certificatePem: ca.cert, keyPem: ca.key }, pem, { clock });
      const status = { ...approved.status, certificate: Buffer.from(certificate).toString("base64") };
      await put(transport, ref.name, "status", { ...approved, status });
      signed();
      return DONE;
    },
  };
}

/** Whether it is a kubelet's own client certificate: its first, asked for by a bootstrap token, or a new one, by the former. */
function mayHave(
  { spec }: CertificateRequest,
  { commonName, organizations }: { commonName: string; organizations: readonly string[] },
): boolean {
  const isNode = /^system:node:./.test(commonName) && isDeepStrictEqual([...organizations], [NODES]);
  const usages = new Set(spec?.usages ?? []);
  const isClient = usages.has("client auth") && !usages.has("server auth");
  return isNode && isClient && (spec?.groups?.includes(BOOTSTRAPPERS) === true || spec?.username === commonName);
}

async function put(transport: Transport, name: string, subresource: string, body: object): Promise<CertificateRequest> {
  const path = pathOf(CertificateRequest, { name, subresource });
  const answer = await transport.request({ method: "PUT", path, body });
  if (answer.status >= 300)
    throw new Error(`${subresource} of CertificateSigningRequest ${name} was answered ${answer.status}`);
  return answer.body as CertificateRequest;
}
