import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "js-yaml";
import { nodeUserData, SENTINEL } from "../cloud-init/node-user-data.ts";
import { joinConfigurationText } from "./join-configuration.ts";

const terms = { endpoint: "192.0.2.7:6443", caHashes: ["sha256:ab"], token: "abcdef.0123456789abcdef" };
const wanted = {
  nodeRegistration: {
    kubeletExtraArgs: [
      { name: "cloud-provider", value: "external" },
      { name: "provider-id", value: "equinixmetal://{{ `{{ v1.instance_id }}` }}" },
    ],
  },
  timeouts: { tlsBootstrapSeconds: 300 },
};
const read = (version: string) => load(joinConfigurationText(wanted, { ...terms, version })) as Record<string, never>;

test("B17 A8 a worker's kubeadm is configured in the version that it reads", () => {
  const uninitialized = { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" };
  const bootstrapToken = { apiServerEndpoint: "192.0.2.7:6443", caCertHashes: ["sha256:ab"], token: terms.token };
  assert.deepEqual(read("v1.27.0"), {
    apiVersion: "kubeadm.k8s.io/v1beta3",
    kind: "JoinConfiguration",
    discovery: { bootstrapToken, timeout: "300s" },
    nodeRegistration: {
      kubeletExtraArgs: {
        "cloud-provider": "external",
        "provider-id": "equinixmetal://{{ `{{ v1.instance_id }}` }}",
      },
      taints: [uninitialized],
    },
  });
  assert.deepEqual(read("v1.31.0"), {
    apiVersion: "kubeadm.k8s.io/v1beta4",
    kind: "JoinConfiguration",
    discovery: { bootstrapToken },
    nodeRegistration: { kubeletExtraArgs: wanted.nodeRegistration.kubeletExtraArgs, taints: [uninitialized] },
    timeouts: { tlsBootstrap: "300s" },
  });
});

test("what a user wrote of discovery stays", () => {
  const file = { kubeConfigPath: "/etc/kubernetes/found.conf" };
  const text = joinConfigurationText(
    { discovery: { file, tlsBootstrapToken: "a.b" } },
    { ...terms, version: "v1.30.1" },
  );
  assert.deepEqual((load(text) as { discovery: object }).discovery, { file, tlsBootstrapToken: "a.b" });
});

test("the user data is cloud-init's, begins with its template mark, and leaves the contract's file on success", () => {
  const data = nodeUserData({
    files: [{ path: "/etc/motd", content: "no: 'yes'\n", permissions: "0644" }],
    users: [{ name: "ops", sshAuthorizedKeys: ["ssh-ed25519 AAAA"], lockPassword: true }],
    preKubeadmCommands: ["swapoff -a"],
    postKubeadmCommands: ["echo done"],
    ntp: { servers: ["192.0.2.1"] },
    diskSetup: { partitions: [{ device: "/dev/sdb", layout: true, tableType: "gpt" }] },
    joinConfiguration: "kind: JoinConfiguration\n",
  });
  assert.deepEqual(data.split("\n").slice(0, 2), ["## template: jinja", "#cloud-config"]);
  assert.deepEqual(load(data), {
    write_files: [
      { path: "/etc/motd", permissions: "0644", content: "no: 'yes'\n" },
      {
        path: "/run/kubeadm/kubeadm-join-config.yaml",
        owner: "root:root",
        permissions: "0640",
        content: "kind: JoinConfiguration\n",
      },
    ],
    runcmd: [
      "swapoff -a",
      `kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml && mkdir -p /run/cluster-api && echo success > ${SENTINEL}`,
      "echo done",
    ],
    ntp: { enabled: true, servers: ["192.0.2.1"] },
    users: [{ name: "ops", lock_passwd: true, ssh_authorized_keys: ["ssh-ed25519 AAAA"] }],
    disk_setup: { "/dev/sdb": { table_type: "gpt", layout: true } },
  });
});
