import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "js-yaml";
import { addons } from "../../kinds/kamaji/tenant-kubernetes.ts";
import { agentLeftOvers, agentObjects } from "./agent.ts";
import { egressSelectorConfiguration, imageOf, serverFlags } from "./server.ts";

const konnectivityOf = (agent: object, server: object = {}) =>
  addons.parse({ konnectivity: { agent, server: { port: 8132, ...server } } }).konnectivity!;
const facts = (agent: object) => ({ version: "v1.34.2", host: "192.0.2.7", konnectivity: konnectivityOf(agent) });

test("kube-apiserver is configured to call nodes through the server's socket", () => {
  assert.deepEqual(load(egressSelectorConfiguration("/run/a.socket")), {
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [
      { name: "cluster", connection: { proxyProtocol: "GRPC", transport: { uds: { udsName: "/run/a.socket" } } } },
    ],
  });
});

test("B25 the server's managed flags win, the user's others stand behind them", () => {
  const flags = serverFlags({
    socket: "/run/a.socket",
    agentPort: 8132,
    certificate: { cert: "/a.crt", key: "/a.key" },
    kubeconfig: "/a.conf",
    servers: 3,
    extraArgs: ["--v=5", "--server-port=8090", "--keepalive-time=1h"],
  });
  assert.deepEqual(flags, [
    "--admin-port=8133",
    "--agent-namespace=kube-system",
    "--agent-port=8132",
    "--agent-service-account=konnectivity-agent",
    "--authentication-audience=system:konnectivity-server",
    "--cluster-cert=/a.crt",
    "--cluster-key=/a.key",
    "--delete-existing-uds-file=true",
    "--health-port=8134",
    "--kubeconfig=/a.conf",
    "--mode=grpc",
    "--server-count=3",
    "--server-port=0",
    "--uds-name=/run/a.socket",
    "--v=5",
    "--keepalive-time=1h",
  ]);
});

test("images go with Kubernetes' minor unless a version is named", () => {
  assert.equal(imageOf({ image: "a/server" }, "1.34.2"), "a/server:v0.34.0");
  assert.equal(imageOf({ image: "a/server", version: "v0.30.1" }, "v1.34.2"), "a/server:v0.30.1");
  assert.throws(() => imageOf({ image: "a" }, "latest"), /"latest" is no version/);
});

test("the server may ask who an agent is, and agents come with a token for it alone", () => {
  const [binding, account, workload] = agentObjects(facts({}));
  assert.deepEqual(
    [binding!.roleRef, binding!.subjects],
    [
      { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:auth-delegator" },
      [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "system:konnectivity-server" }],
    ],
  );
  assert.deepEqual(account!.metadata, { name: "konnectivity-agent", namespace: "kube-system" });
  assert.equal(workload!.kind, "DaemonSet");
  const { spec } = (workload as unknown as { spec: { template: { spec: Record<string, never> } } }).spec.template;
  const [{ args }] = (spec as unknown as { containers: { args: string[] }[] }).containers as [{ args: string[] }];
  assert.ok(args.includes("--proxy-server-host=192.0.2.7") && args.includes("--proxy-server-port=8132"));
  const [volume] = (spec as unknown as { volumes: { projected: { sources: object[] } }[] }).volumes;
  const serviceAccountToken = {
    path: "konnectivity-agent-token",
    audience: "system:konnectivity-server",
    expirationSeconds: 3600,
  };
  assert.deepEqual(volume!.projected.sources, [{ serviceAccountToken }]);
});

test("agents are a Deployment where that is asked for, and what they were before goes", () => {
  const { konnectivity } = facts({ mode: "Deployment", replicas: 2 });
  const workload = agentObjects({ ...facts({}), konnectivity }).at(-1)!;
  assert.equal(workload.kind, "Deployment");
  assert.equal((workload.spec as { replicas: number }).replicas, 2);
  const kinds = (list: { kind: string }[]): string[] => list.map(({ kind }) => kind);
  assert.deepEqual(kinds(agentLeftOvers(konnectivity)), ["DaemonSet"]);
  assert.deepEqual(kinds(agentLeftOvers(konnectivityOf({}))), ["Deployment"]);
  assert.deepEqual(kinds(agentLeftOvers()), ["DaemonSet", "Deployment", "ServiceAccount", "ClusterRoleBinding"]);
});

test("each field of the agents and of the server's place has an effect", () => {
  const without = JSON.stringify(agentObjects(facts({})));
  const values = {
    mode: "Deployment",
    image: "x",
    version: "v1",
    extraArgs: ["--v=4"],
    hostNetwork: true,
    tolerations: [],
  };
  for (const [field, value] of Object.entries(values))
    assert.notEqual(JSON.stringify(agentObjects(facts({ [field]: value }))), without, field);
});
