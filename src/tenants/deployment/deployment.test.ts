import assert from "node:assert/strict";
import { test } from "node:test";
import { controlPlane } from "../../kinds/kamaji/control-plane.ts";
import { deployment as deploymentFields } from "../../kinds/kamaji/deployment.ts";
import { takenNames } from "./check.ts";
import { deploymentOf } from "./deployment.ts";
import { ignoredOf } from "./deployment-runtime.ts";
import { ingressOf } from "./ingress.ts";
import { egressOf } from "./konnectivity.ts";
import { serviceOf } from "./service.ts";
import { wantedOf } from "./testing.ts";
import { tlsRoutesOf } from "./tls-route.ts";
import type { Wanted } from "./wanted.ts";

interface Container {
  name: string;
  image: string;
  args: string[];
  imagePullPolicy: string;
  startupProbe: Record<string, unknown>;
  livenessProbe: Record<string, unknown>;
  volumeMounts: { name: string; mountPath: string }[];
  [field: string]: unknown;
}
interface PodSpec {
  containers: Container[];
  volumes: { name: string; projected?: { sources: { secret: { name: string; items: { path: string }[] } }[] } }[];
  [field: string]: unknown;
}

const all = (wanted: Wanted) => ({
  deployment: deploymentOf(wanted),
  service: serviceOf(wanted),
  ingress: ingressOf(wanted),
  routes: tlsRoutesOf(wanted),
  ignored: ignoredOf(wanted),
});
const podOf = (wanted: Wanted): PodSpec => deploymentOf(wanted).spec!.template!.spec as unknown as PodSpec;
const container = (wanted: Wanted, name: string): Container =>
  podOf(wanted).containers.find((one) => one.name === name)!;
const pods = (deployment: object): object => ({ controlPlane: { deployment } });

test("a tenant's Pods have Kamaji's names, files and labels", async () => {
  const { deployment, service, ingress } = all(await wantedOf());
  assert.deepEqual(deployment.metadata.labels, {
    "kamaji.clastix.io/project": "kamaji",
    "kamaji.clastix.io/name": "a",
    "kamaji.clastix.io/component": "deployment",
  });
  assert.deepEqual(deployment.spec!.selector, { matchLabels: { "kamaji.clastix.io/name": "a" } });
  assert.deepEqual(deployment.spec!.strategy, {
    type: "RollingUpdate",
    rollingUpdate: { maxUnavailable: 0, maxSurge: "100%" },
  });
  const pod = deployment.spec!.template!.spec as unknown as PodSpec;
  assert.deepEqual(
    pod.containers.map(({ name, image }) => [name, image]),
    ["kube-apiserver", "kube-scheduler", "kube-controller-manager"].map((name) => [
      name,
      `registry.k8s.io/${name}:v1.34.2`,
    ]),
  );
  const files = pod.volumes[0]!.projected!.sources.flatMap(({ secret }) =>
    secret.items.map(({ path }) => `${secret.name} ${path}`),
  );
  assert.deepEqual(files, [
    "a-api-server-certificate apiserver.crt",
    "a-api-server-certificate apiserver.key",
    "a-ca ca.crt",
    "a-ca ca.key",
    "a-api-server-kubelet-client-certificate apiserver-kubelet-client.crt",
    "a-api-server-kubelet-client-certificate apiserver-kubelet-client.key",
    "a-front-proxy-ca-certificate front-proxy-ca.crt",
    "a-front-proxy-client-certificate front-proxy-client.crt",
    "a-front-proxy-client-certificate front-proxy-client.key",
    "a-sa-certificate sa.pub",
    "a-sa-certificate sa.key",
    "a-datastore-certificate etcd/ca.crt",
    "a-datastore-certificate etcd/server.crt",
    "a-datastore-certificate etcd/server.key",
  ]);
  assert.deepEqual(service.spec!.ports, [{ name: "kube-apiserver", protocol: "TCP", port: 6443, targetPort: 6443 }]);
  assert.equal(ingress, undefined);
});

test("B26 an unchanged plane is rendered to the same bytes, and a changed Secret to another template", async () => {
  const wanted = await wantedOf({ addons: { konnectivity: { server: { port: 8132 } } } });
  const text = (one: Wanted): string => JSON.stringify([all(one), egressOf(one)]);
  assert.equal(text(wanted), text(structuredClone(wanted)));
  const template = (one: Wanted): string => JSON.stringify(deploymentOf(one).spec!.template);
  const { pki, kubeconfigs, store, konnectivity } = wanted.plane;
  const changes = [
    { pki: { ...pki, ca: { ...pki.ca, key: "x" } } },
    { pki: { ...pki, apiServer: { ...pki.apiServer, cert: "x" } } },
    { pki: { ...pki, apiServerKubeletClient: { ...pki.apiServer } } },
    { pki: { ...pki, frontProxyCa: { ...pki.frontProxyCa, cert: "x" } } },
    { pki: { ...pki, frontProxyClient: { ...pki.frontProxyClient, cert: "x" } } },
    { pki: { ...pki, accounts: { ...pki.accounts, publicKey: "x" } } },
    { kubeconfigs: { ...kubeconfigs, scheduler: "x" } },
    { kubeconfigs: { ...kubeconfigs, controllerManager: "x" } },
    { store: { ...store!, tls: { ...store!.tls!, cert: "x" } } },
    { konnectivity: { ...konnectivity!, kubeconfig: "x" } },
  ];
  const templates = changes.map((change) => template({ ...wanted, plane: { ...wanted.plane, ...change } }));
  assert.equal(new Set([template(wanted), ...templates]).size, changes.length + 1);
  const asleep = { ...wanted, plane: { ...wanted.plane, replicas: 0 } };
  assert.equal(deploymentOf(asleep).spec!.replicas, 0);
});

const named = { name: "x", image: "x" };
const component = (value: unknown): object => ({ apiServer: value, controllerManager: value, scheduler: value });
/** A value for every field, other than its default. */
const DEPLOYMENT: Record<string, unknown> = {
  replicas: 3,
  registrySettings: { registry: "mirror" },
  extraArgs: component(["--v=4"]),
  resources: component({ requests: { cpu: "1" } }),
  probes: { liveness: { timeoutSeconds: 3 } },
  strategy: { type: "Recreate" },
  nodeSelector: { a: "b" },
  runtimeClassName: "gvisor",
  tolerations: [{ operator: "Exists" }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1 }],
  serviceAccountName: "x",
  automountServiceAccountToken: false,
  podSecurityContext: { runAsNonRoot: true },
  containerSecurityContexts: component({ runAsUser: 1 }),
  additionalMetadata: { labels: { a: "b" }, annotations: { a: "b" } },
  podAdditionalMetadata: { labels: { a: "b" }, annotations: { a: "b" } },
  additionalInitContainers: [named],
  additionalContainers: [named],
  additionalVolumes: [{ name: "x", emptyDir: {} }],
  additionalVolumeMounts: component([{ name: "x", mountPath: "/x" }]),
};
const SERVICE: Record<string, unknown> = {
  serviceType: "ClusterIP",
  additionalMetadata: { labels: { a: "b" }, annotations: { a: "b" } },
  additionalPorts: [{ name: "x", port: 1, targetPort: 1 }],
  allocateLoadBalancerNodePorts: false,
};
const INGRESS: Record<string, unknown> = {
  hostname: "other.example",
  ingressClassName: "nginx",
  additionalMetadata: { labels: { a: "b" } },
};

const GATEWAY: Record<string, unknown> = {
  hostname: "other.example",
  parentRefs: [{ name: "shared", namespace: "gateways" }],
  additionalMetadata: { labels: { a: "b" } },
};

test("every field of the Deployment, the Service, the Ingress and the Gateway has an effect or a reason why not", async () => {
  assert.deepEqual(Object.keys(DEPLOYMENT).sort(), Object.keys(deploymentFields.shape).sort());
  assert.deepEqual(Object.keys(SERVICE).sort(), Object.keys(controlPlane.shape.service.shape).sort());
  assert.deepEqual(Object.keys(INGRESS).sort(), Object.keys(controlPlane.shape.ingress.unwrap().shape).sort());
  const text = async (over: object): Promise<string> => JSON.stringify(all(await wantedOf(over)));
  const without = await text({});
  for (const [field, value] of Object.entries(DEPLOYMENT))
    assert.notEqual(await text(pods({ [field]: value })), without, `deployment.${field}`);
  for (const [field, value] of Object.entries(SERVICE))
    assert.notEqual(await text({ controlPlane: { service: { [field]: value } } }), without, `service.${field}`);
  const plain = { hostname: "a.example" };
  for (const [field, value] of Object.entries(INGRESS))
    assert.notEqual(
      await text({ controlPlane: { ingress: { ...plain, [field]: value } } }),
      await text({ controlPlane: { ingress: plain } }),
      `ingress.${field}`,
    );
  assert.deepEqual(Object.keys(GATEWAY).sort(), Object.keys(controlPlane.shape.gateway.unwrap().shape).sort());
  for (const [field, value] of Object.entries(GATEWAY))
    assert.notEqual(
      await text({ controlPlane: { gateway: { ...plain, [field]: value } } }),
      await text({ controlPlane: { gateway: plain } }),
      `gateway.${field}`,
    );
  const said = async (over: object): Promise<string> => ignoredOf(await wantedOf(over)).join();
  assert.match(await said({ controlPlane: { ingress: {} } }), /without a hostname/);
  assert.match(await said({ controlPlane: { gateway: {} } }), /gateway: without a hostname there are no routes/);
  assert.match(
    await said(pods({ extraArgs: { scheduler: ["--kubeconfig=/x"] } })),
    /scheduler: --kubeconfig is managed/,
  );
});

test("images come from the registry that is named, with the tag's suffix", async () => {
  const registrySettings = { registry: "mirror.example/k8s", apiServerImage: "api", tagSuffix: "-fips" };
  const wanted = await wantedOf({ ...pods({ registrySettings }), kubernetes: { version: "1.34.2" } });
  assert.equal(container(wanted, "kube-apiserver").image, "mirror.example/k8s/api:v1.34.2-fips");
  assert.equal(container(wanted, "kube-scheduler").image, "mirror.example/k8s/kube-scheduler:v1.34.2-fips");
});

test("a probe's numbers: a component's own, then those for all, then the default", async () => {
  const probes = {
    startup: { failureThreshold: 50, periodSeconds: 5 },
    apiServer: { startup: { failureThreshold: 90 } },
  };
  const wanted = await wantedOf(pods({ probes }));
  const numbers = (name: string, kind: "startupProbe" | "livenessProbe"): unknown[] => {
    const { periodSeconds, failureThreshold, timeoutSeconds } = container(wanted, name)[kind];
    return [periodSeconds, failureThreshold, timeoutSeconds];
  };
  assert.deepEqual(numbers("kube-apiserver", "startupProbe"), [5, 90, 15]);
  assert.deepEqual(numbers("kube-scheduler", "startupProbe"), [5, 50, 15]);
  assert.deepEqual(numbers("kube-scheduler", "livenessProbe"), [10, 3, 15]);
});

test("Pods that are to be spread are this tenant's unless others are named", async () => {
  const others = { matchLabels: { a: "b" } };
  const topologySpreadConstraints = [{ maxSkew: 1 }, { maxSkew: 2, labelSelector: others }];
  const pod = podOf(await wantedOf(pods({ topologySpreadConstraints })));
  assert.deepEqual(pod.topologySpreadConstraints, [
    { maxSkew: 1, labelSelector: { matchLabels: { "kamaji.clastix.io/name": "a" } } },
    { maxSkew: 2, labelSelector: others },
  ]);
});

test("labels by which a tenant's Pods are found are not the user's to change", async () => {
  const labels = { "kamaji.clastix.io/name": "b", mine: "x" };
  const { metadata, spec } = deploymentOf(await wantedOf(pods({ podAdditionalMetadata: { labels } })));
  assert.equal(spec!.template!.metadata!.labels!["kamaji.clastix.io/name"], "a");
  assert.equal(spec!.template!.metadata!.labels!.mine, "x");
  assert.equal(metadata.labels!.mine, undefined);
});

test("names and paths that the Pods have by themselves are refused by name", async () => {
  const wanted = await wantedOf(
    pods({
      additionalContainers: [{ name: "kube-scheduler", image: "x" }],
      additionalVolumes: [{ name: "etc-kubernetes-pki", emptyDir: {} }],
      additionalVolumeMounts: { apiServer: [{ name: "x", mountPath: "/etc/kubernetes/pki" }] },
    }),
  );
  assert.deepEqual(takenNames(deploymentOf(wanted).spec!.template!.spec!, wanted), [
    "spec.controlPlane.deployment.additionalContainers: kube-scheduler is a container of the control plane",
    "spec.controlPlane.deployment.additionalVolumes: etc-kubernetes-pki is a volume of the control plane",
    "spec.controlPlane.deployment.additionalVolumeMounts: /etc/kubernetes/pki has files of kube-apiserver already",
  ]);
  const twice = await wantedOf(pods({ additionalInitContainers: [named], additionalContainers: [named] }));
  assert.deepEqual(takenNames(deploymentOf(twice).spec!.template!.spec!, twice), [
    "spec.controlPlane.deployment.additionalContainers: x is a container of the control plane",
  ]);
  const mount = { name: "x", mountPath: "/a" };
  const own = { ...named, volumeMounts: [mount, mount] };
  const users = await wantedOf(pods({ additionalContainers: [own] }));
  assert.deepEqual(
    takenNames(deploymentOf(users).spec!.template!.spec!, users),
    [],
    "a user's container is the user's",
  );
  const good = await wantedOf(pods({ additionalContainers: [named] }));
  assert.deepEqual(takenNames(deploymentOf(good).spec!.template!.spec!, good), []);
});

test("konnectivity: a server beside the API server, which goes through it", async () => {
  const server = { port: 8132, extraArgs: ["--v=5", "--mode=http-connect"], resources: { requests: { cpu: "100m" } } };
  const wanted = await wantedOf({ addons: { konnectivity: { server } } });
  const { args, image, resources } = container(wanted, "konnectivity-server");
  assert.equal(image, "registry.k8s.io/kas-network-proxy/proxy-server:v0.34.0");
  assert.deepEqual(resources, server.resources);
  assert.deepEqual(
    args.filter((arg) => /^--(mode|v|agent-port|server-count|uds-name)=/.test(arg)),
    [
      "--agent-port=8132",
      "--mode=grpc",
      "--server-count=2",
      "--uds-name=/run/konnectivity/konnectivity-server.socket",
      "--v=5",
    ],
  );
  const api = container(wanted, "kube-apiserver");
  const file = "/etc/kubernetes/konnectivity/configurations/egress-selector-configuration.yaml";
  assert.ok(api.args.includes(`--egress-selector-config-file=${file}`));
  const volumes = new Set(podOf(wanted).volumes.map(({ name }) => name));
  for (const { volumeMounts } of podOf(wanted).containers)
    for (const { name } of volumeMounts) assert.ok(volumes.has(name), name);
  const egress = egressOf(wanted);
  assert.equal(egress.metadata.name, "a-konnectivity-egress-selector-configuration");
  assert.match(
    egress.data!["egress-selector-configuration.yaml"]!,
    /udsName: \/run\/konnectivity\/konnectivity-server.socket/,
  );
  assert.deepEqual(
    serviceOf(wanted).spec!.ports!.map(({ name, port }) => [name, port]),
    [
      ["kube-apiserver", 6443],
      ["konnectivity-server", 8132],
    ],
  );
});
