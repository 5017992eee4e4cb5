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
  nodeRegistration?: { taints?: { key: string }[] };
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
