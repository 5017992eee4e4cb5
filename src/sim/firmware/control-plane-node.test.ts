import assert from "node:assert/strict";
import { test } from "node:test";
import { missingAuthority, staticPods } from "./control-plane-node.ts";

const PKI = "/etc/kubernetes/pki";
const NAMES = ["ca.crt", "ca.key", "sa.pub", "sa.key", "front-proxy-ca.crt", "front-proxy-ca.key"];
const files = (...names: string[]) => new Map(names.map((name) => [`${PKI}/${name}`, `${name}\n`]));

test("a machine joins a control plane with the authorities of its cluster alone", () => {
  const external = { ca: "ca.crt", isExternalEtcd: true };
  assert.equal(missingAuthority(files(...NAMES), external), undefined);
  for (const left of NAMES) {
    const rest = NAMES.filter((name) => name !== left);
    assert.ok(missingAuthority(files(...rest), external)?.includes(`${PKI}/${left} does not exist`), left);
  }
  assert.match(missingAuthority(files(...NAMES), { ca: "another", isExternalEtcd: true })!, /is not the authority/);
  const local = { ca: "ca.crt", isExternalEtcd: false };
  assert.match(missingAuthority(files(...NAMES), local)!, /etcd\/ca\.crt does not exist/);
  assert.equal(missingAuthority(files(...NAMES, "etcd/ca.crt", "etcd/ca.key"), local), undefined);
});

test("a Node of a control plane has a Pod for each program, and one for etcd where that runs there", () => {
  const names = (isExternalEtcd: boolean) => staticPods("a", "v1.36.3", isExternalEtcd).map((pod) => pod.metadata.name);
  assert.deepEqual(names(true), ["kube-apiserver-a", "kube-controller-manager-a", "kube-scheduler-a"]);
  assert.deepEqual(names(false).at(-1), "etcd-a");
});
