/** What a tenant's cluster must hold so that its nodes come to konnectivity-server: the server's right to ask who an agent is, and the agents. */
import type { Addons } from "../../kinds/kamaji/tenant-kubernetes.ts";
import { ADMIN_PORT, AGENT, AGENT_NAMESPACE, HEALTH_PORT, imageOf, SERVER_USER, withUser } from "./server.ts";

type Konnectivity = NonNullable<Addons["konnectivity"]>;

export interface AgentFacts {
  /** Of Kubernetes. */
  version: string;
  /** Where agents reach the server. */
  host: string;
  /** Default: the server's port as it is specified. */
  port?: number;
  konnectivity: Konnectivity;
}

/** An object of the tenant's, without what a server adds. */
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [field: string]: unknown;
}

const LABELS = { "k8s-app": AGENT };
const TOKENS = "/var/run/secrets/tokens";
const TOKEN = "konnectivity-agent-token";
const TOKEN_SECONDS = 3_600;
const ACCOUNT: Manifest = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: AGENT, namespace: AGENT_NAMESPACE },
};
const BINDING: Manifest = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: SERVER_USER },
};

/** In the order to apply them. Throws `Invalid` for a version that is none. */
export function agentObjects(facts: AgentFacts): Manifest[] {
  return [
    {
      ...BINDING,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:auth-delegator" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: SERVER_USER }],
    },
    ACCOUNT,
    workloadOf(facts),
  ];
}

/** What a tenant must no longer hold: everything, or what its agents no longer are since their mode was changed. */
export function agentLeftOvers(konnectivity?: Konnectivity): Manifest[] {
  if (konnectivity === undefined) return [workloadRef("DaemonSet"), workloadRef("Deployment"), ACCOUNT, BINDING];
  return [workloadRef(konnectivity.agent.mode === "Deployment" ? "DaemonSet" : "Deployment")];
}

function workloadRef(kind: Konnectivity["agent"]["mode"]): Manifest {
  return { apiVersion: "apps/v1", kind, metadata: { name: AGENT, namespace: AGENT_NAMESPACE, labels: LABELS } };
}

function workloadOf(facts: AgentFacts): Manifest {
  const { agent } = facts.konnectivity;
  const isDeployment = agent.mode === "Deployment";
  return {
    ...workloadRef(agent.mode),
    spec: {
      ...(isDeployment && { replicas: agent.replicas ?? 1 }),
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS }, spec: podOf(facts) },
    },
  };
}

function podOf(facts: AgentFacts): object {
  const { agent } = facts.konnectivity;
  return {
    priorityClassName: "system-cluster-critical",
    serviceAccountName: AGENT,
    hostNetwork: agent.hostNetwork,
    nodeSelector: { "kubernetes.io/os": "linux" },
    tolerations: agent.tolerations,
    containers: [containerOf(facts)],
    volumes: [
      {
        name: TOKEN,
        projected: {
          defaultMode: 0o644,
          sources: [{ serviceAccountToken: { path: TOKEN, audience: SERVER_USER, expirationSeconds: TOKEN_SECONDS } }],
        },
      },
    ],
  };
}

function containerOf({ version, host, port, konnectivity: { agent, server } }: AgentFacts): object {
  return {
    name: AGENT,
    image: imageOf(agent, version),
    command: ["/proxy-agent"],
    args: withUser(
      {
        "ca-cert": "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
        "proxy-server-host": host,
        "proxy-server-port": port ?? server.port,
        "admin-server-port": ADMIN_PORT,
        "health-server-port": HEALTH_PORT,
        "service-account-token-path": `${TOKENS}/${TOKEN}`,
      },
      agent.extraArgs,
    ),
    livenessProbe: {
      httpGet: { path: "/healthz", port: HEALTH_PORT, scheme: "HTTP" },
      ...{ initialDelaySeconds: 15, timeoutSeconds: 15, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
    },
    volumeMounts: [{ name: TOKEN, mountPath: TOKENS }],
  };
}
