import assert from "node:assert/strict";
import { test } from "node:test";
import { completeSpec } from "../../kinds/kamaji/defaults.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import { planeOf } from "./plane-of.ts";
import type { HeldPki } from "./tenant-pki.ts";
import type { TenantPlace } from "./tenant-place.ts";

const PKI = {
  ca: { "ca.crt": "CA", "ca.key": "CA KEY" },
  apiServer: { "apiserver.crt": "API", "apiserver.key": "API KEY" },
  apiServerKubeletClient: { "apiserver-kubelet-client.crt": "KUBELET", "apiserver-kubelet-client.key": "KUBELET KEY" },
  frontProxyCA: { "front-proxy-ca.crt": "FRONT CA", "front-proxy-ca.key": "FRONT CA KEY" },
  frontProxyClient: { "front-proxy-client.crt": "FRONT", "front-proxy-client.key": "FRONT KEY" },
  sa: { "sa.pub": "PUB", "sa.key": "SA KEY" },
  controllerManager: { "controller-manager.conf": "CM" },
  scheduler: { "scheduler.conf": "S" },
} as unknown as HeldPki;
const TLS = { "ca.crt": "DB CA", "server.crt": "DB CERT", "server.key": "DB KEY" };
const CONNECTION = { key: "DB KEY", cert: "DB CERT", ca: "DB CA" };

function plane(over: object = {}, of: { store?: object; pki?: object } = {}) {
  const tenant = tenantWith(over);
  const pki = { ...PKI, ...of.pki } as HeldPki;
  const place = { host: "192.0.2.1", port: 6443 };
  const store = of.store && ({ overrides: [], ...of.store } as unknown as TenantPlace);
  return planeOf(tenant, completeSpec(tenant), { version: "v1.34.2", place, pki, ...(store && { store }) });
}

test("a tenant's plane has its keys and kubeconfigs in their places, and listens at its own", () => {
  const { id, name, host, port, pki, kubeconfigs, version, ...rest } = plane();
  assert.deepEqual([name, host, port, version], ["default/a", "192.0.2.1", 6443, "v1.34.2"]);
  assert.equal(id, tenantWith().metadata.uid);
  assert.deepEqual(pki, {
    ca: { cert: "CA", key: "CA KEY" },
    apiServer: { cert: "API", key: "API KEY" },
    apiServerKubeletClient: { cert: "KUBELET", key: "KUBELET KEY" },
    frontProxyCa: { cert: "FRONT CA", key: "FRONT CA KEY" },
    frontProxyClient: { cert: "FRONT", key: "FRONT KEY" },
    accounts: { publicKey: "PUB", privateKey: "SA KEY" },
  });
  assert.deepEqual(kubeconfigs, { controllerManager: "CM", scheduler: "S" });
  assert.deepEqual(rest.extraArgs, { apiServer: [], controllerManager: [], scheduler: [] });
  assert.ok(!("store" in rest) && !("konnectivity" in rest) && !("advertiseAddress" in rest));
});

test("flags and the advertised address are the user's, each for its component", () => {
  const extraArgs = { apiServer: ["--a"], controllerManager: ["--c"], scheduler: ["--s"], kine: ["--k"] };
  const found = plane({
    controlPlane: { deployment: { extraArgs } },
    networkProfile: { advertiseAddress: "198.51.100.1" },
  });
  assert.deepEqual(found.extraArgs, { apiServer: ["--a"], controllerManager: ["--c"], scheduler: ["--s"] });
  assert.equal(found.advertiseAddress, "198.51.100.1");
});

test("B23 in etcd a tenant has a prefix of its own; endpoints without a scheme get the one of its certificate", () => {
  const store = { endpoints: ["etcd:2379", "http://plain:2379"] };
  const over = { dataStoreSchema: "team_a" };
  assert.deepEqual(plane(over, { store, pki: { datastore: TLS } }).store, {
    endpoints: ["https://etcd:2379", "http://plain:2379"],
    prefix: "/team_a",
    tls: CONNECTION,
  });
  assert.deepEqual(plane(over, { store }).store, {
    endpoints: ["http://etcd:2379", "http://plain:2379"],
    prefix: "/team_a",
  });
  const { "server.key": _, ...half } = TLS;
  assert.equal(
    plane(over, { store, pki: { datastore: half } }).store?.tls,
    undefined,
    "no certificate without its key",
  );
});

test("B23 behind a kine a tenant has the usual prefix, kine's flags are the user's", () => {
  const kine = { endpoint: "mysql://x", secret: { name: "a-datastore-config", key: "E" }, extraArgs: [] };
  const store = { endpoints: ["db:3306"], kine };
  const over = { controlPlane: { deployment: { extraArgs: { kine: ["--slow-sql-threshold=2s"] } } } };
  assert.deepEqual(plane(over, { store }).store, {
    ...{ endpoints: [], prefix: "/registry" },
    kine: { ...kine, extraArgs: ["--slow-sql-threshold=2s"] },
  });
  assert.deepEqual(plane({}, { store, pki: { datastore: TLS } }).store?.tls, CONNECTION);
  assert.deepEqual(plane({}, { store }).store?.kine?.extraArgs, []);
});

test("konnectivity runs once its kubeconfig is made", () => {
  const over = { addons: { konnectivity: { server: { port: 8132, extraArgs: ["--v=2"] } } } };
  assert.equal(plane(over).konnectivity, undefined);
  const pki = { konnectivityKubeconfig: { "konnectivity-server.conf": "K" } };
  assert.deepEqual(plane(over, { pki }).konnectivity, { port: 8132, kubeconfig: "K", extraArgs: ["--v=2"] });
  assert.equal(plane({}, { pki }).konnectivity, undefined, "it is not asked for");
});
