import assert from "node:assert/strict";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import { initData, joinData } from "./init-data.ts";

const PAIR = { cert: "cert", key: "key" };
const PKI = { ca: PAIR, etcd: PAIR, proxy: PAIR, sa: PAIR };
const ENDPOINT = { host: "10.77.0.9", port: 6443 };
const CLUSTER = {
  metadata: { name: "c" },
  spec: { clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] } } },
} as unknown as Cluster;

interface Configuration {
  kind: string;
  timeouts?: object;
  localAPIEndpoint?: object;
  controlPlane?: { localAPIEndpoint?: object };
  nodeRegistration?: { taints?: { key: string }[]; kubeletExtraArgs?: unknown };
}

/** kubeadm's file in the user data. */
function configurations(userData: string): Configuration[] {
  const [data] = loadAll(userData) as { write_files: { path: string; content: string }[] }[];
  const file = data!.write_files.find(({ path }) => path.endsWith("kubeadm.yaml"));
  return loadAll(file!.content) as Configuration[];
}

test("N39 a control plane's machine listens at its manifest's address: without a default route kubeadm knows none, and makes no control plane", () => {
  const terms = { version: "v1.36.3", endpoint: ENDPOINT };
  const init = (address: string | undefined) =>
    configurations(initData({ ...terms, cluster: CLUSTER, pki: PKI, address })).find(
      ({ kind }) => kind === "InitConfiguration",
    );
  assert.deepEqual(init("10.77.0.21")?.localAPIEndpoint, { advertiseAddress: "10.77.0.21" });
  assert.equal(init(undefined)?.localAPIEndpoint, undefined);

  const joining = { ...terms, caHashes: ["sha256:00"], token: "abcdef.0123456789abcdef" };
  const [another] = configurations(joinData({ ...joining, address: "10.77.0.22" }, PKI));
  assert.deepEqual(another?.controlPlane?.localAPIEndpoint, { advertiseAddress: "10.77.0.22" });
  const [worker] = configurations(joinData({ ...joining, address: "10.77.0.23" }));
  assert.equal(worker?.controlPlane, undefined);
});

test("N39 a control plane has more than kubeadm's minute to answer for the first time, where kubeadm can be told", () => {
  const timeouts = (version: string) =>
    configurations(initData({ version, endpoint: ENDPOINT, cluster: CLUSTER, pki: PKI, address: undefined })).map(
      (each) => each.timeouts,
    );
  const longer = { kubernetesAPICall: "10m0s", controlPlaneComponentHealthCheck: "10m0s" };
  assert.deepEqual(timeouts("v1.31.0"), [undefined, longer]);
  assert.deepEqual(timeouts("v1.30.9"), [undefined, undefined]);
});

test("N45 machines that join a control plane name no taints, so that kubeadm puts on its own; a worker is uninitialized at first", () => {
  const terms = { version: "v1.36.3", endpoint: ENDPOINT, caHashes: ["sha256:00"], token: "abcdef.0123456789abcdef" };
  const [another] = configurations(joinData({ ...terms, address: undefined }, PKI));
  assert.equal(another?.nodeRegistration?.taints, undefined);
  const [worker] = configurations(joinData({ ...terms, address: undefined }));
  assert.deepEqual(
    worker?.nodeRegistration?.taints?.map(({ key }) => key),
    ["node.cluster.x-k8s.io/uninitialized"],
  );
});

const INIT = { version: "v1.31.0", endpoint: ENDPOINT, cluster: CLUSTER, pki: PKI, address: undefined };
const JOIN = { version: "v1.31.0", endpoint: ENDPOINT, caHashes: ["sha256:00"], token: "abcdef.0123456789abcdef" };

test("N32 every Node names its machine by the id that cloud-init reads, as kubeadm of its version takes it", () => {
  for (const version of ["v1.31.0", "v1.30.9"]) {
    const data = [initData({ ...INIT, version }), joinData({ ...JOIN, version, address: undefined })];
    const registrations = data
      .flatMap(configurations)
      .flatMap(({ nodeRegistration }) => (nodeRegistration === undefined ? [] : [nodeRegistration.kubeletExtraArgs]));
    const id = "plunder://{{ v1.instance_id }}";
    const expected = version === "v1.31.0" ? [{ name: "provider-id", value: id }] : { "provider-id": id };
    assert.deepEqual(registrations, [expected, expected]);
  }
});

test("N39 a cluster is made with the Cluster's networks, and its endpoint, IPv6 in brackets", () => {
  const spec = {
    clusterNetwork: {
      ...{ pods: { cidrBlocks: ["192.168.0.0/16", "fd00::/48"] }, services: { cidrBlocks: ["10.96.0.0/12"] } },
      serviceDomain: "sea.local",
    },
  };
  const cluster = { ...CLUSTER, spec } as Cluster;
  const endpoint = { host: "fd00::9", port: 6443 };
  const [configuration] = configurations(initData({ ...INIT, cluster, endpoint })) as unknown as [
    Record<string, unknown>,
  ];
  assert.deepEqual(
    [configuration.clusterName, configuration.kubernetesVersion, configuration.controlPlaneEndpoint],
    ["c", "v1.31.0", "[fd00::9]:6443"],
  );
  assert.deepEqual(configuration.networking, {
    ...{ podSubnet: "192.168.0.0/16,fd00::/48", serviceSubnet: "10.96.0.0/12", dnsDomain: "sea.local" },
  });
});

test("N40 a Cluster without Pods' addresses is refused with the field", () => {
  for (const spec of [{}, { clusterNetwork: {} }, { clusterNetwork: { pods: { cidrBlocks: [] } } }])
    assert.throws(() => initData({ ...INIT, cluster: { ...CLUSTER, spec } as unknown as Cluster }), {
      ...{ code: "MissingInput", on: "Cluster/c", message: /clusterNetwork\.pods\.cidrBlocks/ },
    });
});

test("N39 a control plane's machine has the cluster's authorities, keys for root alone; a worker has none", () => {
  const files = (userData: string) => {
    const [data] = loadAll(userData) as { write_files: { path: string; permissions: string }[]; runcmd: string[] }[];
    return { all: data!.write_files.map(({ path, permissions }) => `${path} ${permissions}`), run: data!.runcmd[0]! };
  };
  const own = ["/run/kubeadm/kubeadm.yaml 0640"];
  const pki = ["ca", "etcd/ca", "front-proxy-ca", "sa"].flatMap((name) => [
    `/etc/kubernetes/pki/${name}.${name === "sa" ? "pub" : "crt"} 0644`,
    `/etc/kubernetes/pki/${name}.key 0600`,
  ]);
  const [init, another, worker] = [
    files(initData(INIT)),
    files(joinData({ ...JOIN, address: undefined }, PKI)),
    files(joinData({ ...JOIN, address: undefined })),
  ];
  assert.deepEqual([init.all, another.all, worker.all], [[...pki, ...own], [...pki, ...own], own]);
  assert.match(init.run, /^kubeadm init --config \/run\/kubeadm\/kubeadm\.yaml && .*echo success > /);
  for (const { run } of [another, worker]) assert.match(run, /^kubeadm join --config /);
});
