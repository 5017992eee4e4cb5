import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { controllerReference, type KubeObject, type Resource } from "@slipway/kube";
import { Deployment, Ingress } from "@slipway/kube/core";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Home } from "../runtime.ts";
import { DeploymentRuntime } from "./deployment-runtime.ts";
import { wantedOf } from "./testing.ts";
import type { Wanted } from "./wanted.ts";

const { signal } = new AbortController();

/** A management cluster: what is applied is in the cache at once. Deletions end with `refusal`, where there is one. */
function clusterOf({ tenant, spec }: Wanted, { refusal }: { refusal?: Fault } = {}) {
  const live = new Map<string, KubeObject>();
  const asked: string[] = [];
  const keyOf = ({ kind }: { kind: string }, name: string): string => `${kind}/${name}`;
  const home = {
    ...{ tenant, spec },
    cache: { get: (resource: Resource<KubeObject>, { name }: { name: string }) => live.get(keyOf(resource, name)) },
    client: {
      async patch(resource: Resource<KubeObject>, { name }: { name: string }, { body }: { body: KubeObject }) {
        const key = keyOf(resource, name);
        asked.push(`apply ${key}`);
        const applied = { ...body, metadata: { ...body.metadata, uid: `uid of ${key}`, resourceVersion: "1" } };
        live.set(key, applied);
        return applied;
      },
      async delete(
        resource: Resource<KubeObject>,
        { name }: { name: string },
        options: { uid: string; propagation?: string },
      ) {
        asked.push(`delete ${keyOf(resource, name)} ${options.propagation ?? ""}`.trim());
        if (refusal !== undefined) throw refusal;
      },
    },
  } as unknown as Home & { spec: Wanted["spec"] };
  const put = (resource: Resource<KubeObject>, more: object): void => {
    const metadata = { name: tenant.metadata.name, namespace: "default", uid: "found", ...more };
    live.set(keyOf(resource, tenant.metadata.name), { metadata } as unknown as KubeObject);
  };
  return { home, asked, put };
}

const owned = ({ tenant }: Wanted) => ({ ownerReferences: [controllerReference(TenantControlPlane, tenant)] });

test("B26 a plane that is as wanted costs no request, and its Pods start with their own command", async () => {
  const wanted = await wantedOf();
  const { home, asked } = clusterOf(wanted);
  const runtime = new DeploymentRuntime();
  await runtime.ensure(wanted.plane, signal, home);
  assert.deepEqual(asked.splice(0), ["apply Deployment/a"]);
  const { readyReplicas } = await runtime.ensure(wanted.plane, signal, home);
  assert.deepEqual([asked, readyReplicas], [[], 0]);
  const { containers } = home.cache.get(Deployment, { namespace: "default", name: "a" })!.spec!.template!
    .spec as unknown as {
    containers: { name: string; command: string[] }[];
  };
  for (const { name, command } of containers) assert.deepEqual(command, [name]);
});

test("an Ingress that is no longer wanted goes before the plane is said to be as wanted; a foreign one stays", async () => {
  const wanted = await wantedOf();
  const refusal = new Fault("Forbidden", "Ingress/a", "not allowed");
  const { home, asked, put } = clusterOf(wanted, { refusal });
  put(Ingress as unknown as Resource<KubeObject>, owned(wanted));
  await assert.rejects(new DeploymentRuntime().ensure(wanted.plane, signal, home), (error) =>
    isFault(error, "Forbidden"),
  );
  assert.deepEqual(asked, ["apply Deployment/a", "delete Ingress/a"]);
  const foreign = clusterOf(wanted, { refusal });
  foreign.put(Ingress as unknown as Resource<KubeObject>, {});
  await new DeploymentRuntime().ensure(wanted.plane, signal, foreign.home);
  assert.deepEqual(foreign.asked, ["apply Deployment/a"]);
});

test("Pods that would have two containers of one name are refused with the field, and nothing is applied", async () => {
  const wanted = await wantedOf({
    controlPlane: { deployment: { additionalContainers: [{ name: "kube-apiserver" }] } },
  });
  const { home, asked } = clusterOf(wanted);
  await assert.rejects(new DeploymentRuntime().ensure(wanted.plane, signal, home), (error) => {
    return isFault(error, "Invalid") && /additionalContainers: kube-apiserver is a container/.test(error.message);
  });
  assert.deepEqual(asked, []);
});

test("B17 a plane is removed with its Pods, once, and waited for; what is not the tenant's is left alone", async () => {
  const wanted = await wantedOf();
  const removing = async (more: object | undefined): Promise<[string[], boolean]> => {
    const { home, asked, put } = clusterOf(wanted);
    if (more !== undefined) put(Deployment as unknown as Resource<KubeObject>, more);
    const gone = await new DeploymentRuntime().remove("a", home).then(
      () => true,
      (error: unknown) => {
        assert.ok(isFault(error, "Unavailable") && error.retryAfterMs === 5_000);
        return false;
      },
    );
    return [asked, gone];
  };
  assert.deepEqual(await removing(undefined), [[], true]);
  assert.deepEqual(await removing({}), [[], true]);
  assert.deepEqual(await removing(owned(wanted)), [["delete Deployment/a Foreground"], false]);
  assert.deepEqual(await removing({ ...owned(wanted), deletionTimestamp: "2026-01-01T00:00:00Z" }), [[], false]);
});
