import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { seededRandom } from "@slipway/base";
import { load } from "js-yaml";
import { createBootstrapToken } from "./bootstrap-token.ts";
import type { JoinFacts, Manifest } from "./join-facts.ts";
import { joinObjects } from "./join-objects.ts";
import { FACTS, objectIn, textIn, VERSIONS } from "./testing.ts";

const rendered = (changed: Partial<JoinFacts>): Manifest[] => joinObjects({ ...FACTS, ...changed });
const kubelet = (changed: Partial<JoinFacts>): unknown => load(textIn(rendered(changed), "kubelet-config", "kubelet"));

interface Workload {
  spec: {
    template: { spec: { containers: { image: string; ports?: { name: string }[]; securityContext: object }[] } };
  };
}
const imageOf = (objects: readonly Manifest[], kind: string, name: string): string =>
  (objectIn(objects, kind, name) as Manifest & Workload).spec.template.spec.containers[0]!.image;

test("B17 kubeadm-config is v1beta3 below 1.31", () => {
  assert.equal(
    textIn(rendered({ version: "1.30.14" }), "kubeadm-config", "ClusterConfiguration"),
    `apiServer:
  timeoutForControlPlane: 4m0s
apiVersion: kubeadm.k8s.io/v1beta3
certificatesDir: /etc/kubernetes/pki
clusterName: tenant
controlPlaneEndpoint: 10.0.0.5:6443
controllerManager: {}
dns: {}
etcd:
  local:
    dataDir: /var/lib/etcd
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.30.14
networking:
  dnsDomain: cluster.local
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/16
scheduler: {}
`,
  );
});

test("B17 kubeadm-config is v1beta4 from 1.31 on", () => {
  assert.equal(
    textIn(rendered({ version: "v1.31.0" }), "kubeadm-config", "ClusterConfiguration"),
    `apiServer: {}
apiVersion: kubeadm.k8s.io/v1beta4
caCertificateValidityPeriod: 87600h0m0s
certificateValidityPeriod: 8760h0m0s
certificatesDir: /etc/kubernetes/pki
clusterName: tenant
controlPlaneEndpoint: 10.0.0.5:6443
controllerManager: {}
dns: {}
encryptionAlgorithm: ECDSA-P256
etcd:
  local:
    dataDir: /var/lib/etcd
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.31.0
networking:
  dnsDomain: cluster.local
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/16
proxy: {}
scheduler: {}
`,
  );
});

test("B17 kubelet-config has the fields that a worker needs, and no others", () => {
  const expected = `apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    enabled: true
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
cgroupDriver: systemd
clusterDNS:
  - 10.96.0.10
clusterDomain: cluster.local
healthzBindAddress: 127.0.0.1
healthzPort: 10248
kind: KubeletConfiguration
rotateCertificates: true
staticPodPath: /etc/kubernetes/manifests
`;
  for (const version of VERSIONS) {
    const objects = rendered({ version });
    assert.equal(textIn(objects, "kubelet-config", "kubelet"), expected, version);
    assert.deepEqual(objectIn(objects, "ConfigMap", "kubelet-config").metadata.annotations, {
      "kubeadm.kubernetes.io/component-config.hash": `sha256:${createHash("sha256").update(expected).digest("hex")}`,
    });
  }
});

test("cluster-info holds the endpoint and the authority, and nobody's credentials", () => {
  assert.deepEqual(
    load(textIn(rendered({ endpoint: { host: "fd00::5", port: 40000 } }), "cluster-info", "kubeconfig")),
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "", cluster: { server: "https://[fd00::5]:40000", "certificate-authority-data": "Q0E=" } }],
      contexts: null,
      users: null,
      "current-context": "",
    },
  );
});

test("CoreDNS is the one that kubeadm of each version installs", () => {
  const found = VERSIONS.map((version) => {
    const objects = rendered({ version });
    const [container] = (objectIn(objects, "Deployment", "coredns") as Manifest & Workload).spec.template.spec
      .containers;
    const rules = JSON.stringify(objectIn(objects, "ClusterRole", "system:coredns").rules);
    const traits = {
      cached: !textIn(objects, "coredns", "Corefile").includes("disable success cluster.local"),
      nodes: rules.includes('"nodes"'),
      probes: container!.ports!.some(({ name }) => name === "liveness-probe"),
      all: JSON.stringify(container!.securityContext).includes('"all"'),
    };
    const names = Object.entries(traits).flatMap(([name, holds]) => (holds ? [name] : []));
    return [version, container!.image.split(":").at(-1), ...names].join(" ");
  });
  assert.deepEqual(found, [
    "v1.27.3 v1.10.1 cached nodes all",
    "v1.28.3 v1.10.1 cached all",
    "v1.29.3 v1.11.1 cached",
    "v1.30.3 v1.11.3 cached",
    "v1.31.3 v1.11.3 cached",
    "v1.32.3 v1.11.3",
    "v1.33.3 v1.12.0",
    "v1.34.3 v1.12.1 probes",
    "v1.35.3 v1.13.1 probes",
    "v1.36.3 v1.14.2 probes",
  ]);
  assert.equal(imageOf(rendered({ version: "v1.40.0" }), "Deployment", "coredns").split(":")[1], "v1.14.2");
});

test("B20 the images' repository and tag are chosen one by one", () => {
  const images = (registry: string, choice: { imageRepository?: string; imageTag?: string }): string[] => {
    const objects = rendered({ version: "v1.34.4+build.1", registry, coreDNS: choice, kubeProxy: choice });
    return [imageOf(objects, "Deployment", "coredns"), imageOf(objects, "DaemonSet", "kube-proxy")];
  };
  assert.deepEqual(images("registry.k8s.io", {}), [
    "registry.k8s.io/coredns/coredns:v1.12.1",
    "registry.k8s.io/kube-proxy:v1.34.4_build.1",
  ]);
  assert.deepEqual(images("registry.k8s.io", { imageTag: "v9" }), [
    "registry.k8s.io/coredns/coredns:v9",
    "registry.k8s.io/kube-proxy:v9",
  ]);
  assert.deepEqual(images("mirror.example", { imageRepository: "own.example/x" }), [
    "own.example/x/coredns:v1.12.1",
    "own.example/x/kube-proxy:v1.34.4_build.1",
  ]);
  assert.deepEqual(images("mirror.example", {})[0], "mirror.example/coredns:v1.12.1");
});

test("an add-on that the tenant doesn't have is not there", () => {
  const { coreDNS: _, kubeProxy: __, ...bare } = FACTS;
  const names = joinObjects(bare).map(({ metadata }) => metadata.name);
  assert.deepEqual(
    names.filter((name) => /dns|proxy/.test(name)),
    [],
  );
});

test("B19 both families are named in the order given, and DNS answers on both", () => {
  const objects = rendered({
    serviceCidrs: ["fd00:10::/112", "10.96.0.0/16"],
    podCidrs: ["fd00:20::/64", "10.244.0.0/16"],
    dnsServiceIPs: ["fd00:10::10", "10.96.0.10"],
  });
  const { networking } = load(textIn(objects, "kubeadm-config", "ClusterConfiguration")) as { networking: object };
  assert.deepEqual(networking, {
    dnsDomain: "cluster.local",
    podSubnet: "fd00:20::/64,10.244.0.0/16",
    serviceSubnet: "fd00:10::/112,10.96.0.0/16",
  });
  const { spec } = objectIn(objects, "Service", "kube-dns") as { spec?: Record<string, unknown> };
  assert.deepEqual(
    [spec?.clusterIP, spec?.clusterIPs, spec?.ipFamilyPolicy],
    ["fd00:10::10", ["fd00:10::10", "10.96.0.10"], "PreferDualStack"],
  );
  assert.match(textIn(objects, "kube-proxy", "config.conf"), /bindAddress: '::'/);
});

test("the user's patches change the kubelet's configuration, which is then the user's", () => {
  const objects = rendered({
    kubelet: {
      cgroupDriver: "cgroupfs",
      configurationJSONPatches: [
        { op: "remove", path: "/crashLoopBackOff" },
        { op: "add", path: "/memorySwap/swapBehavior", value: "LimitedSwap" },
        { op: "replace", path: "/clusterDNS/0", value: "169.254.20.10" },
      ],
    },
  });
  const found = load(textIn(objects, "kubelet-config", "kubelet")) as Record<string, unknown>;
  assert.deepEqual(
    [found.cgroupDriver, found.memorySwap, found.clusterDNS, found.crashLoopBackOff],
    ["cgroupfs", { swapBehavior: "LimitedSwap" }, ["169.254.20.10"], undefined],
  );
  assert.equal(objectIn(objects, "ConfigMap", "kubelet-config").metadata.annotations, undefined);
});

test("the kubelet asks every DNS address that the user gives", () => {
  const { clusterDNS } = kubelet({ dnsServiceIPs: ["10.96.0.10", "10.96.0.11"] }) as { clusterDNS: string[] };
  assert.deepEqual(clusterDNS, ["10.96.0.10", "10.96.0.11"]);
});

test("B26 the same facts give the same bytes, whatever the order of their fields", () => {
  const turned = Object.fromEntries(Object.entries(FACTS).reverse()) as unknown as JoinFacts;
  for (const version of VERSIONS)
    assert.equal(
      JSON.stringify(joinObjects({ ...turned, version })),
      JSON.stringify(joinObjects({ ...FACTS, version })),
    );
});

test("no object stands twice, and bindings name roles that are there or Kubernetes' own", () => {
  const objects = rendered({});
  const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`);
  assert.equal(new Set(names).size, names.length);
  for (const { kind, metadata, roleRef } of objects) {
    if (!kind.endsWith("Binding")) continue;
    const role = roleRef as { kind: string; name: string };
    const isOwn = names.includes(`${role.kind} ${metadata.namespace ?? ""}/${role.name}`);
    assert.ok(isOwn || role.name === "cluster-admin" || role.name.startsWith("system:"), role.name);
  }
});

test("a version that is none, or too old, is refused with an example", () => {
  for (const version of ["1.26.0", "2.0.0", "1.34", "", "v1.34.4 "])
    assert.throws(() => rendered({ version }), { code: "Invalid", remedy: /v1\.34\.4/ });
});

test("a bootstrap token is what its Secret makes valid, for who joins as kubeadm does", () => {
  const { token, secret } = createBootstrapToken({
    random: seededRandom(1),
    expires: Date.UTC(2026, 0, 2),
    description: "joins",
  });
  assert.match(token, /^[a-z0-9]{6}\.[a-z0-9]{16}$/);
  const [id, key] = token.split(".");
  assert.deepEqual(
    [secret.metadata, secret.type],
    [{ name: `bootstrap-token-${id}`, namespace: "kube-system" }, "bootstrap.kubernetes.io/token"],
  );
  const texts = Object.entries(secret.data as Record<string, string>).map(([name, value]) => [
    name,
    Buffer.from(value, "base64").toString(),
  ]);
  assert.deepEqual(Object.fromEntries(texts), {
    "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
    description: "joins",
    expiration: "2026-01-02T00:00:00Z",
    "token-id": id,
    "token-secret": key,
    "usage-bootstrap-authentication": "true",
    "usage-bootstrap-signing": "true",
  });
  assert.notEqual(createBootstrapToken({ random: seededRandom(2) }).token, token);
});
