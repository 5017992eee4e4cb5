import assert from "node:assert/strict";
import { test } from "node:test";
import { containersOf, ignoredArguments } from "./containers.ts";
import { deploymentOf } from "./deployment.ts";
import { konnectivityVolumes } from "./konnectivity.ts";
import { wantedOf } from "./testing.ts";
import { volumesOf } from "./volumes.ts";

type Container = Record<string, unknown> & { name: string; args: string[] };

const KONNECTIVITY = { addons: { konnectivity: { server: { port: 8132 } } } };
const PKI = { name: "etc-kubernetes-pki", mountPath: "/etc/kubernetes/pki", readOnly: true };

const probe = (path: string, port: number, failureThreshold = 3) => ({
  httpGet: { path, port, scheme: "HTTPS" },
  ...{ initialDelaySeconds: 0, timeoutSeconds: 15, periodSeconds: 10, successThreshold: 1, failureThreshold },
});

async function containers(over: object = {}): Promise<Container[]> {
  return containersOf(await wantedOf(over)) as Container[];
}

test("the containers of a tenant's Pods, field by field, without their arguments", async () => {
  const [api, scheduler, manager] = (await containers()).map(({ args: _, ...rest }) => rest);
  const behind = (name: string, port: number, folder: string) => ({
    name,
    image: `registry.k8s.io/${name}:v1.34.2`,
    imagePullPolicy: "IfNotPresent",
    command: [name],
    livenessProbe: probe("/healthz", port),
    readinessProbe: probe("/healthz", port),
    startupProbe: probe("/healthz", port, 24),
    volumeMounts: [{ name: folder, mountPath: "/etc/kubernetes", readOnly: true }],
  });
  assert.deepEqual(api, {
    name: "kube-apiserver",
    image: "registry.k8s.io/kube-apiserver:v1.34.2",
    imagePullPolicy: "IfNotPresent",
    command: ["kube-apiserver"],
    ports: [{ name: "kube-apiserver", containerPort: 6443, protocol: "TCP" }],
    livenessProbe: probe("/livez", 6443),
    readinessProbe: probe("/readyz", 6443),
    startupProbe: probe("/livez", 6443, 24),
    volumeMounts: [PKI],
  });
  assert.deepEqual(scheduler, behind("kube-scheduler", 10_259, "scheduler-kubeconfig"));
  const own = behind("kube-controller-manager", 10_257, "controller-manager-kubeconfig");
  assert.deepEqual(manager, { ...own, volumeMounts: [...own.volumeMounts, PKI] });
});

test("each component serves its health at the port that its probes ask", async () => {
  for (const { name, args, livenessProbe } of await containers()) {
    const { port } = (livenessProbe as { httpGet: { port: number } }).httpGet;
    assert.ok(args.includes(`--secure-port=${port}`), name);
  }
});

test("konnectivity-server's container, field by field, and what kube-apiserver shares with it", async () => {
  const [api, , , server] = await containers(KONNECTIVITY);
  const port = (name: string, containerPort: number) => ({ name, containerPort, protocol: "TCP" });
  const { args, ...rest } = server!;
  assert.deepEqual(rest, {
    name: "konnectivity-server",
    image: "registry.k8s.io/kas-network-proxy/proxy-server:v0.34.0",
    imagePullPolicy: "IfNotPresent",
    command: ["/proxy-server"],
    ports: [port("agentport", 8132), port("adminport", 8133), port("healthport", 8134)],
    livenessProbe: {
      httpGet: { path: "/healthz", port: 8134, scheme: "HTTP" },
      ...{ initialDelaySeconds: 30, timeoutSeconds: 60, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
    },
    volumeMounts: [
      PKI,
      {
        name: "konnectivity-server-kubeconfig",
        mountPath: "/etc/kubernetes/konnectivity-server.conf",
        subPath: "konnectivity-server.conf",
        readOnly: true,
      },
      { name: "konnectivity-uds", mountPath: "/run/konnectivity" },
    ],
  });
  for (const flag of [
    "--cluster-cert=/etc/kubernetes/pki/apiserver.crt",
    "--cluster-key=/etc/kubernetes/pki/apiserver.key",
    "--kubeconfig=/etc/kubernetes/konnectivity-server.conf",
  ])
    assert.ok(args.includes(flag), flag);
  assert.deepEqual(api!.volumeMounts, [
    PKI,
    { name: "konnectivity-uds", mountPath: "/run/konnectivity" },
    {
      name: "egress-selector-configuration",
      mountPath: "/etc/kubernetes/konnectivity/configurations",
      readOnly: true,
    },
  ]);
});

test("agents look for as many servers as there are Pods, and for one while the tenant sleeps", async () => {
  const wanted = await wantedOf(KONNECTIVITY);
  const servers = (replicas: number): string | undefined =>
    (containersOf({ ...wanted, plane: { ...wanted.plane, replicas } }) as Container[])
      .find(({ name }) => name === "konnectivity-server")!
      .args.find((arg) => arg.startsWith("--server-count"));
  assert.deepEqual([0, 1, 3].map(servers), ["--server-count=1", "--server-count=1", "--server-count=3"]);
});

test("the volumes of a tenant's Pods are readable for whatever user a program runs as", async () => {
  const { plane } = await wantedOf();
  const [{ projected }, ...kubeconfigs] = volumesOf("a", plane) as [{ projected: { defaultMode: number } }];
  assert.equal(projected.defaultMode, 0o644);
  assert.deepEqual(kubeconfigs, [
    { name: "scheduler-kubeconfig", secret: { secretName: "a-scheduler-kubeconfig", defaultMode: 0o644 } },
    {
      name: "controller-manager-kubeconfig",
      secret: { secretName: "a-controller-manager-kubeconfig", defaultMode: 0o644 },
    },
  ]);
  assert.deepEqual(konnectivityVolumes("a"), [
    { name: "konnectivity-uds", emptyDir: { medium: "Memory" } },
    {
      name: "egress-selector-configuration",
      configMap: { name: "a-konnectivity-egress-selector-configuration", defaultMode: 0o644 },
    },
    {
      name: "konnectivity-server-kubeconfig",
      secret: { secretName: "a-konnectivity-kubeconfig", defaultMode: 0o644 },
    },
  ]);
});

test("a tenant's Pod has the files of its datastore only where the datastore knows it by a certificate", async () => {
  const { plane } = await wantedOf();
  const secrets = (store: object | undefined): string[] => {
    const { store: _, ...rest } = plane;
    const [{ projected }] = volumesOf("a", (store === undefined ? rest : { ...rest, store }) as typeof plane) as [
      { projected: { sources: { secret: { name: string } }[] } },
    ];
    return projected.sources.map(({ secret }) => secret.name);
  };
  assert.equal(secrets(plane.store).at(-1), "a-datastore-certificate");
  for (const store of [undefined, { endpoints: [], prefix: "/" }, { ...plane.store, kine: {} }])
    assert.equal(secrets(store).at(-1), "a-sa-certificate");
});

test("a version's build is a tag that a registry takes, and a version without v gets one", async () => {
  const wanted = await wantedOf();
  const image = (version: string): unknown =>
    (containersOf({ ...wanted, plane: { ...wanted.plane, version } }) as Container[])[0]!.image;
  assert.equal(image("v1.34.2+k3s1"), "registry.k8s.io/kube-apiserver:v1.34.2_k3s1");
  assert.equal(image("1.34.2"), "registry.k8s.io/kube-apiserver:v1.34.2");
});

test("B25 arguments without effect are named with their field, for components, konnectivity and kine", async () => {
  const deployment = { extraArgs: { apiServer: ["--secure-port=1", "--v=2"], kine: ["--debug"] } };
  const server = { port: 8132, extraArgs: ["--mode=http-connect", "--v=5"] };
  const wanted = await wantedOf({ controlPlane: { deployment }, addons: { konnectivity: { server } } });
  assert.deepEqual(ignoredArguments(wanted), [
    "spec.controlPlane.deployment.extraArgs.apiServer: --secure-port is managed",
    "spec.addons.konnectivity.server.extraArgs: --mode is managed",
    "spec.controlPlane.deployment.extraArgs.kine: --debug has no effect, the DataStore is an etcd",
  ]);
  assert.deepEqual(ignoredArguments(await wantedOf()), []);
});

test("the Deployment asks for the plane's replicas, with kube-apiserver as what kubectl logs shows first", async () => {
  const annotations = { mine: "x" };
  const wanted = await wantedOf({ controlPlane: { deployment: { podAdditionalMetadata: { annotations } } } });
  const { apiVersion, kind, spec } = deploymentOf(wanted);
  assert.deepEqual([apiVersion, kind, spec!.replicas], ["apps/v1", "Deployment", 2]);
  assert.deepEqual(spec!.template!.metadata!.annotations, {
    "kubectl.kubernetes.io/default-container": "kube-apiserver",
    mine: "x",
  });
  const strategy = (over: object): Promise<unknown> =>
    wantedOf({ controlPlane: { deployment: { strategy: over } } }).then((one) => deploymentOf(one).spec!.strategy);
  assert.deepEqual(await strategy({ type: "Recreate" }), { type: "Recreate" });
  const usual = { maxUnavailable: 0, maxSurge: "100%" };
  assert.deepEqual(await strategy({ type: "RollingUpdate" }), { type: "RollingUpdate", rollingUpdate: usual });
  const rollingUpdate = { maxUnavailable: 1, maxSurge: 0 };
  assert.deepEqual(await strategy({ rollingUpdate }), { type: "RollingUpdate", rollingUpdate });
});
