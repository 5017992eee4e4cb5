import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { controllerReference, type KubeObject, type Resource } from "@slipway/kube";
import { ConfigMap, Deployment, Ingress, Service } from "@slipway/kube/core";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Home } from "../runtime.ts";
import { DeploymentRuntime } from "./deployment-runtime.ts";
import { wantedOf } from "./testing.ts";
import type { Wanted } from "./wanted.ts";

const { signal } = new AbortController();

/** A management cluster: what is applied is in the cache at once. Deletions end with `refusal`, where there is one. */
function clusterOf({ tenant, spec }: Wanted, { refusal, unserved }: { refusal?: Fault; unserved?: string } = {}) {
  const live = new Map<string, KubeObject>();
  const asked: string[] = [];
  const keyOf = ({ kind }: { kind: string }, name: string): string => `${kind}/${name}`;
  const home = {
    ...{ tenant, spec },
    cache: { get: (resource: Resource<KubeObject>, { name }: { name: string }) => live.get(keyOf(resource, name)) },
    client: {
      find: async (resource: Resource<KubeObject>, { name }: { name: string }) => live.get(keyOf(resource, name)),
      async patch(resource: Resource<KubeObject>, { name }: { name: string }, { body }: { body: KubeObject }) {
        const key = keyOf(resource, name);
        asked.push(`apply ${key}`);
        if (resource.kind === unserved) throw refusal;
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
  const put = (resource: Resource<KubeObject>, more: object, name = tenant.metadata.name): void => {
    const metadata = { name, namespace: "default", uid: "found", ...more };
    live.set(keyOf(resource, name), { metadata } as unknown as KubeObject);
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

test("a plane's place is its Service's, which is there before its Pods; each minor's first release is where images are", async () => {
  const wanted = await wantedOf({ controlPlane: { service: { serviceType: "ClusterIP" } } });
  const { home, asked } = clusterOf(wanted);
  const runtime = new DeploymentRuntime();
  assert.deepEqual(await runtime.place("a", {}, home), { waitsFor: "Service a to get a cluster IP" });
  assert.deepEqual(asked, ["apply Service/a"]);
  assert.equal(await runtime.releaseOf("v1.35"), "v1.35.0");
});

test("B28 an object of the tenant's name that is foreign is left alone and named", async () => {
  const wanted = await wantedOf();
  for (const resource of [Service, Deployment]) {
    const { home, asked, put } = clusterOf(wanted);
    put(resource as Resource<KubeObject>, { labels: { app: "a" } });
    const runtime = new DeploymentRuntime();
    const made = async () => {
      await runtime.place("id", undefined, home);
      await runtime.ensure(wanted.plane, signal, home);
    };
    await assert.rejects(
      made,
      (error) =>
        isFault(error, "AlreadyExists") && error.advice.startsWith(`${resource.kind}/a: it is there, and is not this`),
    );
    assert.deepEqual(asked, resource === Service ? [] : ["apply Service/a"]);
  }
});

test("konnectivity's configuration is there before the Pods that read it, and goes after those that don't", async () => {
  const tunnelled = await wantedOf({ addons: { konnectivity: { server: { port: 8132 } } } });
  const { home, asked } = clusterOf(tunnelled);
  const runtime = new DeploymentRuntime();
  await runtime.ensure(tunnelled.plane, signal, home);
  const egress = "ConfigMap/a-konnectivity-egress-selector-configuration";
  assert.deepEqual(asked, [`apply ${egress}`, "apply Deployment/a"]);

  const plain = await wantedOf();
  const without = clusterOf(plain);
  const name = "a-konnectivity-egress-selector-configuration";
  without.put(ConfigMap as unknown as Resource<KubeObject>, owned(plain), name);
  await runtime.ensure(plain.plane, signal, without.home);
  assert.deepEqual(without.asked, ["apply Deployment/a", `delete ${egress}`]);
});

test("a database's authority is in a Secret before the Pods that read it", async () => {
  const wanted = await wantedOf();
  const kine = { endpoint: "mysql://x", secret: { name: "s", key: "k" }, ca: "DB CA", extraArgs: [] };
  const { home, asked } = clusterOf(wanted);
  const plane = { ...wanted.plane, store: { endpoints: [], prefix: "/registry", kine } };
  await new DeploymentRuntime({ kineImage: "mirror/kine:v1" }).ensure(plane, signal, home);
  assert.deepEqual(asked, ["apply Secret/a-datastore-certificate", "apply Deployment/a"]);
  const { containers } = home.cache.get(Deployment, { namespace: "default", name: "a" })!.spec!.template!
    .spec as unknown as { containers: { image: string }[] };
  assert.equal(containers[0]!.image, "mirror/kine:v1");
});

test("where the cluster serves no Ingresses the tenant is refused with what to remove; another refusal is passed on", async () => {
  const wanted = await wantedOf({ controlPlane: { ingress: { hostname: "a.example:8443" } } });
  const asking = async (code: "NotFound" | "Forbidden") => {
    const refusal = new Fault(code, "Ingress/a", "no");
    const { home } = clusterOf(wanted, { refusal, unserved: "Ingress" });
    return await new DeploymentRuntime().ensure(wanted.plane, signal, home);
  };
  await assert.rejects(asking("NotFound"), { code: "Unsupported", remedy: "remove spec.controlPlane.ingress" });
  await assert.rejects(asking("Forbidden"), { code: "Forbidden" });
  const { home } = clusterOf(wanted);
  const { objects } = await new DeploymentRuntime().ensure(wanted.plane, signal, home);
  assert.deepEqual(objects?.ingress, { name: "a", namespace: "default" });
  const { spec } = home.cache.get(Ingress, { namespace: "default", name: "a" })!;
  const backend = { service: { name: "a", port: { number: 6443 } } };
  assert.deepEqual(spec, {
    rules: [{ host: "a.example", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
  });
});

test("a plane has its Service in what is seen of it, and reports what has no effect", async () => {
  const wanted = await wantedOf({ controlPlane: { ingress: {}, gateway: {} } });
  const { home, put } = clusterOf(wanted);
  put(Service as unknown as Resource<KubeObject>, {});
  const { objects, ignored } = await new DeploymentRuntime().ensure(wanted.plane, signal, home);
  assert.deepEqual(objects?.service, { name: "a", namespace: "default", port: 6443 });
  assert.deepEqual(ignored, [
    "spec.controlPlane.ingress: without a hostname there is no Ingress",
    "spec.controlPlane.gateway: without a hostname there are no routes",
  ]);
});
