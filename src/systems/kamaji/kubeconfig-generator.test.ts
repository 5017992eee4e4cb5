import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { KubeconfigGenerator } from "../../kinds/kamaji/kubeconfig-generator.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import { createAuthority, issueClient } from "../../pki/authority.ts";
import { kubeconfig } from "../../pki/kubeconfig.ts";
import { credentialsOf } from "../../pki/tenant/credentials.ts";
import { kubeconfigGeneratorController } from "./kubeconfig-generator-controller.ts";
import { GENERATED_BY, PAUSED, ROTATE } from "./names.ts";
import { Turn } from "./testing.ts";

type Any = Resource<KubeObject>;
const GENERATOR = { name: "ops" };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

async function rig() {
  const turn = new Turn();
  const clock = { now: () => turn.clock.now() };
  const ca = await createAuthority({ commonName: "kubernetes", clock });
  const admin = await issueClient(ca, { commonName: "admin", organizations: [], clock });
  const text = kubeconfig({
    ...{ name: "a", server: "https://192.0.2.1:6443", caPem: ca.certificatePem },
    ...{ clientCertPem: admin.certificatePem, clientKeyPem: admin.keyPem },
  });
  const secret = (name: string, data: Record<string, string>, labels = {}, namespace = "default") =>
    turn.put(
      Secret as Any,
      { metadata: { namespace, name, labels, uid: name, resourceVersion: "1" }, data } as unknown as KubeObject,
    );
  secret("a-ca", { "ca.crt": base64(ca.certificatePem), "ca.key": base64(ca.keyPem) });
  secret("a-admin", { "admin.conf": base64(text) });
  const tenant = tenantWith();
  tenant.metadata.labels = { tier: "gold" };
  tenant.status = {
    kubeconfig: { admin: { secretName: "a-admin" } },
    certificates: { ca: { secretName: "a-ca" } },
  } as never;
  turn.put(TenantControlPlane as Any, tenant);
  for (const name of ["default", "other"])
    turn.put(
      Namespace as Any,
      { metadata: { name, uid: name, resourceVersion: "1", labels: { zone: name } } } as unknown as KubeObject,
    );
  const generator = (spec: object = {}, metadata: object = {}) =>
    turn.put(
      KubeconfigGenerator as Any,
      {
        metadata: { ...GENERATOR, uid: "g", resourceVersion: "1", generation: 2, ...metadata },
        spec: {
          controlPlaneEndpointFrom: "admin.conf",
          user: { stringValue: "ann" },
          groups: [{ stringValue: "ops" }],
          ...spec,
        },
      } as unknown as KubeObject,
    );
  generator();
  (turn.context.cache as unknown as Record<string, unknown>).byIndex = (_: unknown, __: string, by: string) =>
    [...turn.objects.values()].filter(({ metadata }) => metadata.labels?.[GENERATED_BY] === by);
  const controller = kubeconfigGeneratorController();
  const reconcile = async () => {
    turn.asked.length = 0;
    return await controller.reconcile(GENERATOR, turn.context);
  };
  const made = (name = "a-ops") => turn.get(Secret, { namespace: "default", name });
  const status = () => turn.get(KubeconfigGenerator, GENERATOR).status;
  return { turn, tenant, generator, secret, controller, reconcile, made, status };
}

test("a generator keeps a kubeconfig for its user in each tenant that it selects, made once", async () => {
  const { turn, reconcile, made, status } = await rig();
  assert.deepEqual(await reconcile(), { againAfterMs: 3_600_000 });
  const { metadata, data } = made();
  assert.deepEqual(metadata.labels, {
    "kamaji.clastix.io/project": "kamaji",
    "kamaji.clastix.io/managed-by": "ops",
    "kamaji.clastix.io/managed-for": "a",
    "kamaji.clastix.io/certificate_lifecycle_controller": "kubeconfig",
  });
  assert.equal(metadata.ownerReferences?.[0]?.name, "a");
  const found = credentialsOf(Buffer.from(data!.value!, "base64").toString())!;
  assert.equal(found.server, "https://192.0.2.1:6443");
  assert.match(new X509Certificate(found.certificatePem).subject, /CN=ann/);
  assert.match(new X509Certificate(found.certificatePem).subject, /O=ops/);
  assert.deepEqual(status(), { resources: 1, availableResources: 1, observedGeneration: 2, errors: [] });
  await reconcile();
  assert.deepEqual(turn.asked, []);
});

test("a kubeconfig is made anew for another user, and where its Secret asks for it", async () => {
  const { turn, generator, reconcile, made } = await rig();
  await reconcile();
  const first = made().data!.value;
  made().metadata.annotations = { [ROTATE]: "", mine: "x" };
  await reconcile();
  assert.deepEqual(turn.asked, ["patch Secret/default/a-ops"]);
  const second = made();
  assert.notEqual(second.data!.value, first);
  assert.deepEqual(second.metadata.annotations, { mine: "x" });
  generator({ user: { stringValue: "bob" } });
  await reconcile();
  assert.match(
    new X509Certificate(credentialsOf(Buffer.from(made().data!.value!, "base64").toString())!.certificatePem).subject,
    /CN=bob/,
  );
});

test("kubeconfigs of tenants that are not selected any more go, and all of a generator that is gone", async () => {
  const gone = async (change: (of: Awaited<ReturnType<typeof rig>>) => void): Promise<boolean> => {
    const of = await rig();
    await of.reconcile();
    change(of);
    await of.reconcile();
    return of.made() === undefined;
  };
  assert.equal(
    await gone(({ generator }) => generator({ tenantControlPlaneSelector: { matchLabels: { tier: "tin" } } })),
    true,
  );
  assert.equal(
    await gone(({ generator }) => generator({ tenantControlPlaneSelector: { matchLabels: { tier: "gold" } } })),
    false,
  );
  assert.equal(
    await gone(({ generator }) => generator({ namespaceSelector: { matchLabels: { zone: "other" } } })),
    true,
  );
  assert.equal(
    await gone(({ generator }) => generator({ namespaceSelector: { matchLabels: { zone: "default" } } })),
    false,
  );
  assert.equal(await gone(({ tenant }) => (tenant.metadata.deletionTimestamp = "2026-01-01T00:00:00Z")), true);
  assert.equal(await gone(({ turn }) => turn.objects.delete("KubeconfigGenerator//ops")), true);
  assert.equal(
    await gone(({ generator }) =>
      generator({ namespaceSelector: { matchLabels: { zone: "x" } } }, { annotations: { [PAUSED]: "" } }),
    ),
    false,
  );
  const going = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  assert.equal(
    await gone(({ generator }) => generator({ namespaceSelector: { matchLabels: { zone: "x" } } }, going)),
    false,
  );
});

test("what a tenant does not have yet, and a Secret that is foreign, are in the status with the tenant's name", async () => {
  const said = async (change: (of: Awaited<ReturnType<typeof rig>>) => void): Promise<unknown> => {
    const of = await rig();
    change(of);
    await of.reconcile();
    const { resources, availableResources, errors } = of.status() as {
      resources: number;
      availableResources: number;
      errors: object[];
    };
    assert.deepEqual([resources, availableResources, errors.length], [1, 0, 1]);
    return errors[0];
  };
  const resource = "default/a";
  const lacks = (key: string) => ({ resource, message: `default/a: the tenant has no ${key} yet` });
  assert.deepEqual(await said(({ tenant }) => delete tenant.status), lacks("admin.conf"));
  assert.deepEqual(await said(({ turn }) => turn.objects.delete("Secret/default/a-admin")), lacks("admin.conf"));
  assert.deepEqual(await said(({ turn }) => turn.objects.delete("Secret/default/a-ca")), lacks("ca.crt"));
  assert.deepEqual(await said(({ secret }) => secret("a-admin", { "admin.conf": base64("nothing") })), {
    resource,
    message: "admin.conf: the tenant's kubeconfig can't be read",
  });
  assert.deepEqual(await said(({ secret }) => secret("a-ops", {})), {
    resource,
    message: "Secret default/a-ops: it is not of this generator; give the generator another name",
  });
});

test("what concerns all tenants ends the turn, and a kubeconfig that is gone already is gone", async () => {
  for (const code of ["Conflict", "NotLeader", "Unavailable"] as const) {
    const { turn, reconcile } = await rig();
    turn.context.client.create = async () => {
      throw new Fault(code, "Secret", "no");
    };
    await assert.rejects(reconcile(), { code });
  }
  for (const [code, passes] of [
    ["NotFound", true],
    ["Forbidden", false],
  ] as const) {
    const { turn, reconcile, generator } = await rig();
    await reconcile();
    generator({ namespaceSelector: { matchLabels: { zone: "x" } } });
    turn.context.client.delete = async () => {
      throw new Fault(code, "Secret", "no");
    };
    if (passes) await reconcile();
    else await assert.rejects(reconcile(), { code });
  }
});

test("only what a kubeconfig is made of wakes the generators", async () => {
  const { turn, controller, tenant } = await rig();
  const [, tenants, namespaces, secrets] = controller.sources;
  const when = (source: typeof tenants, now: object, before: object): boolean =>
    (source!.when as unknown as (...of: unknown[]) => boolean)(now, before);
  const changed = (more: object) => ({ ...tenant, ...more });
  assert.equal(when(tenants, changed({ status: { ...tenant.status, conditions: [] } }), tenant), false);
  for (const more of [
    { metadata: { ...tenant.metadata, labels: {} } },
    { metadata: { ...tenant.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
    { spec: { ...tenant.spec, dataStore: "x" } },
    { status: { ...tenant.status, kubeconfig: {} } },
    { status: { ...tenant.status, certificates: { ca: { secretName: "x" } } } },
  ])
    assert.equal(when(tenants, changed(more), tenant), true, JSON.stringify(more));
  const namespace = { metadata: { name: "n", labels: { a: "b" } } };
  assert.equal(when(namespaces, namespace, structuredClone(namespace)), false);
  assert.equal(when(namespaces, namespace, { metadata: { name: "n" } }), true);
  const keys = (source: typeof tenants, object: object): object[] =>
    (source!.keys as unknown as (...of: unknown[]) => object[])(object, undefined, turn.context.cache);
  assert.deepEqual([keys(tenants, tenant).length, keys(namespaces, namespace).length], [1, 1]);
  assert.deepEqual(keys(secrets, { metadata: { labels: { [GENERATED_BY]: "ops" } } }), [{ name: "ops" }]);
  assert.deepEqual(keys(secrets, { metadata: {} }), []);
});
