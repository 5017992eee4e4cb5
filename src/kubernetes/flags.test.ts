import assert from "node:assert/strict";
import { test } from "node:test";
import { apiServerFlags, controllerManagerFlags, etcdFlags } from "./flags.ts";

const file = (name: string): string => `/state/${name}`;
const asMap = (flags: readonly string[]): Record<string, string | undefined> =>
  Object.fromEntries(flags.map((flag) => /^--([^=]+)(?:=(.*))?$/.exec(flag)!.slice(1)));

test("etcd is reached on loopback alone, and forgets old revisions", () => {
  const flags = asMap(etcdFlags({ dir: "/state/etcd", port: 2379, peerPort: 2380 }));
  for (const name of ["listen-client-urls", "advertise-client-urls"])
    assert.equal(flags[name], "http://127.0.0.1:2379", name);
  for (const name of ["listen-peer-urls", "initial-advertise-peer-urls"])
    assert.equal(flags[name], "http://127.0.0.1:2380", name);
  assert.equal(flags["initial-cluster"], "default=http://127.0.0.1:2380");
  assert.equal(flags["data-dir"], "/state/etcd");
  assert.deepEqual([flags["auto-compaction-mode"], flags["auto-compaction-retention"]], ["periodic", "10m"]);
  assert.ok("unsafe-no-fsync" in flags, "a slow disk does not stop a laptop");
  assert.equal(flags["log-level"], "warn");
});

test("the API server authorizes, lets kubelets bootstrap, and does not publish its loopback address", () => {
  const flags = asMap(apiServerFlags({ file, host: "127.0.0.1", port: 6443, etcdPort: 2379 }));
  assert.equal(flags["authorization-mode"], "Node,RBAC");
  assert.ok("enable-bootstrap-token-auth" in flags);
  assert.ok("allow-privileged" in flags);
  assert.deepEqual([flags["endpoint-reconciler-type"], flags.profiling], ["none", "false"]);
  assert.equal(flags["etcd-servers"], "http://127.0.0.1:2379");
  assert.deepEqual([flags["bind-address"], flags["secure-port"]], ["127.0.0.1", "6443"]);
  const keys = ["tls-cert-file", "tls-private-key-file", "client-ca-file", "service-account-signing-key-file"];
  assert.deepEqual(
    [...keys, "service-account-key-file"].map((name) => flags[name]),
    ["server.crt", "server.key", "ca.crt", "sa.key", "sa.pub"].map(file),
  );
  assert.equal(flags["service-account-issuer"], "https://kubernetes.default.svc.cluster.local");
  assert.equal(flags["service-cluster-ip-range"], "10.96.0.0/16");
});

test("the controller manager runs what is named, alone, as each controller's own account", () => {
  const flags = asMap(controllerManagerFlags({ file, port: 10257 }, ["namespace", "-job"]));
  assert.equal(flags.controllers, "namespace,-job");
  assert.ok("use-service-account-credentials" in flags);
  assert.equal(flags["leader-elect"], "false", "there is one of it");
  for (const name of ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"])
    assert.equal(flags[name], file("kubeconfig"), name);
  assert.deepEqual([flags["bind-address"], flags["secure-port"]], ["127.0.0.1", "10257"]);
  assert.equal(flags["service-account-private-key-file"], file("sa.key"));
  assert.equal(flags["root-ca-file"], file("ca.crt"));
  assert.equal(flags["cert-dir"], file("kube-controller-manager"));
});
