import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import type { Secret } from "@slipway/kube/core";
import { caSecret, isOfTenant, kubeconfigKeyOf, kubeconfigSecret, secretManifest } from "./cluster-secrets.ts";
import { keepSecrets } from "./keep-secrets.ts";
import type { TenantHome } from "./tenant-home.ts";
import { aControlPlane, aSecret, aTenant } from "./testing.ts";

const KEY = "kamaji.clastix.io/kubeconfig-secret-key";
const advertised = { network: { serviceType: "LoadBalancer", advertiseAddress: "10.0.0.5" } };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("the cluster's kubeconfig is the admin's, the one by its Service where another address is advertised, or the one that is named", () => {
  assert.equal(kubeconfigKeyOf(aControlPlane()), "admin.conf");
  assert.equal(kubeconfigKeyOf(aControlPlane(advertised)), "admin.svc");
  assert.equal(
    kubeconfigKeyOf(aControlPlane(advertised, { annotations: { [KEY]: "super-admin.conf" } })),
    "super-admin.conf",
  );
  assert.equal(kubeconfigKeyOf(aControlPlane({}, { annotations: { [KEY]: "" } })), "admin.conf");
});

test("a key that the tenant's Secret does not have is refused with those that it has", () => {
  const admin = aSecret("admin", { "admin.conf": "kubeconfig", "admin.svc": "other" });
  const plan = kubeconfigSecret(aControlPlane(), "c1", admin);
  assert.deepEqual(plan, { name: "c1-kubeconfig", of: "kubeconfig", data: { value: base64("kubeconfig") } });
  assert.throws(
    () => kubeconfigSecret(aControlPlane({}, { annotations: { [KEY]: "none" } }), "c1", admin),
    (error) =>
      isFault(error, "Invalid") &&
      /^Secret\/admin: there is no key none; name one of admin\.conf, admin\.svc in /.test(error.advice),
  );
});

test("the CA is written once certificate and key are there, under Cluster API's names", () => {
  assert.deepEqual(caSecret("c1", aSecret("ca", { "ca.crt": "crt", "ca.key": "key" })), {
    ...{ name: "c1-ca", of: "ca", data: { "tls.crt": base64("crt"), "tls.key": base64("key") } },
  });
  assert.equal(caSecret("c1", aSecret("ca", { "ca.crt": "crt" })), undefined);
  assert.equal(caSecret("c1", aSecret("ca", { "ca.key": "key", "ca.crt": "" })), undefined);
  const { data: _, ...empty } = aSecret("ca", {});
  assert.equal(caSecret("c1", empty), undefined);
});

test("A1 a Secret of the cluster has the contract's type and label, Kamaji's labels, and the control plane as its controller", () => {
  const made = secretManifest({ name: "c1-ca", of: "ca", data: {} }, aControlPlane(), "c1");
  assert.deepEqual(
    [made.type, made.metadata.name, made.metadata.namespace],
    ["cluster.x-k8s.io/secret", "c1-ca", "shop"],
  );
  assert.deepEqual(made.metadata.labels, {
    "cluster.x-k8s.io/cluster-name": "c1",
    "kamaji.clastix.io/component": "capi",
    "kamaji.clastix.io/secret": "ca",
    "kamaji.clastix.io/cluster": "c1",
    "kamaji.clastix.io/tcp": "plane",
  });
  assert.deepEqual(
    made.metadata.ownerReferences.map(({ uid, controller }) => [uid, controller]),
    [["uid-1", true]],
  );
});

const OF_TENANT = {
  ownerReferences: [{ apiVersion: "kamaji.clastix.io/v1alpha1", kind: "TenantControlPlane", name: "c1", uid: "u" }],
};
const NAMES = { kubeconfig: { admin: { secretName: "t-admin" } }, certificates: { ca: { secretName: "t-ca" } } };
const ADMIN = aSecret("t-admin", { "admin.conf": "kubeconfig" });
const CA = aSecret("t-ca", { "ca.crt": "crt", "ca.key": "key" });

/** Keeps the Secrets of cluster c1 with these of the tenant; `written`: the names of what was applied. */
async function kept(secrets: readonly Secret[], { status = NAMES as object, there = [] as readonly unknown[] } = {}) {
  const written: string[] = [];
  const home = { secret: async (name: string) => secrets.find(({ metadata }) => metadata.name === name) } as TenantHome;
  const context = {
    cache: {
      get: (_: unknown, { name }: { name: string }) =>
        (there as Secret[]).find(({ metadata }) => metadata.name === name),
    },
    client: { patch: async (_: unknown, { name }: { name: string }) => void written.push(name) },
  } as unknown as Context;
  const state = await keepSecrets(context, { home, controlPlane: aControlPlane(), cluster: "c1" }, aTenant(status));
  return { state: state.is === "waits" ? state.for : state.is, written };
}

test("Secrets are written where they differ from the tenant's, and cost no request where they are the same", async () => {
  assert.deepEqual(await kept([ADMIN, CA]), { state: "done", written: ["c1-kubeconfig", "c1-ca"] });
  const plane = aControlPlane();
  const there = [
    secretManifest(kubeconfigSecret(plane, "c1", ADMIN), plane, "c1"),
    secretManifest(caSecret("c1", aSecret("t-ca", { "ca.crt": "old", "ca.key": "key" }))!, plane, "c1"),
  ];
  assert.deepEqual(await kept([ADMIN, CA], { there }), { state: "done", written: ["c1-ca"] });
});

test("what the tenant has not made yet is waited for by its name", async () => {
  assert.equal((await kept([], { status: {} })).state, "the tenant's certificates and kubeconfigs");
  for (const missing of ["kubeconfig", "certificates"])
    assert.equal(
      (await kept([ADMIN, CA], { status: { ...NAMES, [missing]: undefined } })).state,
      "the tenant's certificates and kubeconfigs",
    );
  assert.deepEqual(await kept([CA]), { state: "Secret t-admin of the tenant", written: [] });
  assert.deepEqual(await kept([ADMIN]), { state: "Secret t-ca of the tenant", written: [] });
  assert.deepEqual(await kept([ADMIN, aSecret("t-ca", { "ca.crt": "crt" })]), {
    state: "certificate and key in Secret t-ca",
    written: ["c1-kubeconfig"],
  });
});

test("a tenant of the cluster's name has its CA where Cluster API looks for it: nothing is written over it", async () => {
  const status = { ...NAMES, certificates: { ca: { secretName: "c1-ca" } } };
  const own = aSecret("c1-ca", { "ca.crt": "crt", "ca.key": "key" }, OF_TENANT);
  assert.deepEqual(await kept([ADMIN, own], { status }), { state: "done", written: ["c1-kubeconfig"] });
  assert.deepEqual([isOfTenant(own), isOfTenant(CA)], [true, false]);
  assert.deepEqual((await kept([ADMIN, { ...CA, metadata: { ...CA.metadata, ...OF_TENANT } }])).written, [
    "c1-kubeconfig",
    "c1-ca",
  ]);
});
