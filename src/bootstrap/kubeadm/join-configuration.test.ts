import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "js-yaml";
import { nodeUserData, SENTINEL } from "../cloud-init/node-user-data.ts";
import { kubeadmVersion } from "./api-version.ts";
import { joinConfigurationText, needsToken } from "./join-configuration.ts";

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

const discovered = (wanted: Parameters<typeof joinConfigurationText>[0], version = "v1.36.1") =>
  load(joinConfigurationText(wanted, { ...terms, version })) as Record<string, Record<string, unknown>>;

test("what a user wrote of the token counts one by one, before what is made", () => {
  const bootstrapToken = (own: object) => discovered({ discovery: { bootstrapToken: own } }).discovery!.bootstrapToken;
  const made = { apiServerEndpoint: terms.endpoint, token: terms.token, caCertHashes: terms.caHashes };
  assert.deepEqual(bootstrapToken({ caCertHashes: [] }), made);
  assert.deepEqual(bootstrapToken({ apiServerEndpoint: "", token: "" }), made);
  assert.deepEqual(bootstrapToken({ apiServerEndpoint: "a:1" }), { ...made, apiServerEndpoint: "a:1" });
  assert.deepEqual(bootstrapToken({ token: "own.token" }), { ...made, token: "own.token" });
  assert.deepEqual(bootstrapToken({ caCertHashes: ["sha256:cd"] }), { ...made, caCertHashes: ["sha256:cd"] });
  assert.deepEqual(bootstrapToken({ unsafeSkipCAVerification: false }), made);
  const { caCertHashes: _, ...unsafe } = made;
  assert.deepEqual(bootstrapToken({ unsafeSkipCAVerification: true }), { ...unsafe, unsafeSkipCAVerification: true });
});

test("a token is made unless the user gave one, or a file", () => {
  const file = { kubeConfigPath: "/x" };
  const needs = [
    {},
    { discovery: {} },
    { discovery: { bootstrapToken: {} } },
    { discovery: { bootstrapToken: { token: "" } } },
  ];
  assert.deepEqual(needs.map(needsToken), [true, true, true, true]);
  const needsNone = [{ discovery: { file } }, { discovery: { bootstrapToken: { token: "a.b" } } }];
  assert.deepEqual(needsNone.map(needsToken), [false, false]);
});

test("what only v1beta4 has is left out for older ones; nothing is written that nobody asked for", () => {
  const all = {
    nodeRegistration: {
      imagePullSerial: false,
      kubeletExtraArgs: [
        { name: "v", value: "1" },
        { name: "v", value: "2" },
      ],
      taints: [{ key: "own", effect: "NoExecute" as const }],
    },
    timeouts: { tlsBootstrapSeconds: undefined, discoverySeconds: 60 },
  };
  const old = discovered(all, "v1.30.9");
  const taints = [all.nodeRegistration.taints[0], { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" }];
  assert.deepEqual(old.nodeRegistration, { kubeletExtraArgs: { v: "2" }, taints });
  assert.deepEqual([old.timeouts, "timeout" in old.discovery!], [undefined, false]);
  const recent = discovered(all);
  assert.deepEqual(recent.nodeRegistration, { ...all.nodeRegistration, taints });
  assert.deepEqual(recent.timeouts, { discovery: "60s" });
  const bare = discovered({ nodeRegistration: { kubeletExtraArgs: [] } });
  assert.deepEqual(Object.keys(bare), ["apiVersion", "kind", "discovery", "nodeRegistration"]);
  assert.deepEqual(bare.nodeRegistration, { taints: [taints[1]] });
});

test("kubeadm's files have the version that kubeadm of the minor reads", () => {
  const minors = [40, 31, 30, 22, 21, 15, 14, 13].map((minor) => kubeadmVersion(`v1.${minor}.0`));
  const names = ["v1beta4", "v1beta4", "v1beta3", "v1beta3", "v1beta2", "v1beta2", "v1beta1", "v1beta1"];
  assert.deepEqual(
    minors,
    names.map((name) => `kubeadm.k8s.io/${name}`),
  );
  for (const version of ["1.12.9", "1.36", "v2.1.0", "1.36.1x"])
    assert.throws(() => kubeadmVersion(version), { code: "Invalid", remedy: /v1\.36\.1/ });
});
