import assert from "node:assert/strict";
import { test } from "node:test";
import { wantedOf } from "../deployment/testing.ts";
import { type AgentFacts, agentLeftOvers, agentObjects } from "./agent.ts";

async function factsOf(agent: object = {}): Promise<AgentFacts & Required<Pick<AgentFacts, "konnectivity">>> {
  const { spec } = await wantedOf({ addons: { konnectivity: { server: { port: 8132 }, agent } } });
  return { version: "v1.34.2", host: "192.0.2.10", konnectivity: spec.addons!.konnectivity! };
}

interface Workload {
  kind: string;
  spec: { replicas?: number; template: { spec: Record<string, unknown> & { containers: { args: string[] }[] } } };
}
const workloadOf = (facts: AgentFacts): Workload => agentObjects(facts)[2] as unknown as Workload;

test("a tenant with konnectivity holds the server's right to ask who an agent is, an account and the agents", async () => {
  const [binding, account, agents] = agentObjects(await factsOf());
  assert.deepEqual(binding, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "system:konnectivity-server" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:auth-delegator" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "system:konnectivity-server" }],
  });
  const metadata = { name: "konnectivity-agent", namespace: "kube-system" };
  assert.deepEqual(account, { apiVersion: "v1", kind: "ServiceAccount", metadata });
  const labels = { "k8s-app": "konnectivity-agent" };
  assert.deepEqual(agents, {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { ...metadata, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: "system-cluster-critical",
          serviceAccountName: "konnectivity-agent",
          hostNetwork: false,
          nodeSelector: { "kubernetes.io/os": "linux" },
          tolerations: [{ key: "CriticalAddonsOnly", operator: "Exists" }],
          containers: [
            {
              name: "konnectivity-agent",
              image: "registry.k8s.io/kas-network-proxy/proxy-agent:v0.34.0",
              command: ["/proxy-agent"],
              args: [
                "--admin-server-port=8133",
                "--ca-cert=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
                "--health-server-port=8134",
                "--proxy-server-host=192.0.2.10",
                "--proxy-server-port=8132",
                "--service-account-token-path=/var/run/secrets/tokens/konnectivity-agent-token",
              ],
              livenessProbe: {
                httpGet: { path: "/healthz", port: 8134, scheme: "HTTP" },
                ...{ initialDelaySeconds: 15, timeoutSeconds: 15, periodSeconds: 10 },
                ...{ successThreshold: 1, failureThreshold: 3 },
              },
              volumeMounts: [{ name: "konnectivity-agent-token", mountPath: "/var/run/secrets/tokens" }],
            },
          ],
          volumes: [
            {
              name: "konnectivity-agent-token",
              projected: {
                defaultMode: 0o644,
                sources: [
                  {
                    serviceAccountToken: {
                      path: "konnectivity-agent-token",
                      audience: "system:konnectivity-server",
                      expirationSeconds: 3_600,
                    },
                  },
                ],
              },
            },
          ],
        },
      },
    },
  });
});

test("agents as a Deployment have replicas, one unless more are asked for; as a DaemonSet they have none", async () => {
  const replicas = async (agent: object): Promise<[string, number | undefined]> => {
    const { kind, spec } = workloadOf(await factsOf(agent));
    return [kind, spec.replicas];
  };
  assert.deepEqual(await replicas({ mode: "Deployment" }), ["Deployment", 1]);
  assert.deepEqual(await replicas({ mode: "Deployment", replicas: 3 }), ["Deployment", 3]);
  assert.deepEqual(await replicas({ mode: "DaemonSet" }), ["DaemonSet", undefined]);
});

test("agents go to the port where the server is, with the user's arguments behind what is managed", async () => {
  const extraArgs = ["--v=5", "--proxy-server-host=elsewhere"];
  const { args } = workloadOf({ ...(await factsOf({ extraArgs })), port: 30_132 }).spec.template.spec.containers[0]!;
  assert.ok(args.includes("--proxy-server-port=30132") && args.includes("--proxy-server-host=192.0.2.10"));
  assert.equal(args.at(-1), "--v=5");
  assert.ok(!args.includes("--proxy-server-host=elsewhere"));
});

test("without konnectivity a tenant keeps nothing of it; a changed mode leaves only the former workload to remove", async () => {
  const names = (list: { kind: string; metadata: { name: string } }[]) =>
    list.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  assert.deepEqual(names(agentLeftOvers()), [
    "DaemonSet konnectivity-agent",
    "Deployment konnectivity-agent",
    "ServiceAccount konnectivity-agent",
    "ClusterRoleBinding system:konnectivity-server",
  ]);
  const ofMode = async (mode: string) => names(agentLeftOvers((await factsOf({ mode })).konnectivity));
  assert.deepEqual(await ofMode("DaemonSet"), ["Deployment konnectivity-agent"]);
  assert.deepEqual(await ofMode("Deployment"), ["DaemonSet konnectivity-agent"]);
});
