import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import type { Home } from "../runtime.ts";
import { Applied } from "./applied.ts";
import { Routes } from "./routes.ts";
import { wantedOf } from "./testing.ts";
import type { Wanted } from "./wanted.ts";

const gateway = { hostname: "a.example", parentRefs: [{ name: "shared", namespace: "gateways" }] };
const ROUTED = { controlPlane: { gateway } };
const TUNNELLED = { ...ROUTED, addons: { konnectivity: { server: { port: 8132 } } } };

/** A cluster that serves TLSRoutes in these versions; `there` is what it has, each visible in every version. */
function clusterOf({ tenant }: Wanted, served: readonly string[], status?: object) {
  const asked: string[] = [];
  const there = new Map<string, KubeObject>();
  const serve = ({ version }: Resource<KubeObject>, what: string): void => {
    asked.push(`${what} ${version}`);
    if (!served.includes(version)) throw new Fault("NotFound", "TLSRoute", "no such resource");
  };
  const home = {
    tenant: { ...tenant, ...(status !== undefined && { status }) },
    cache: {},
    client: {
      async find(resource: Resource<KubeObject>, { name }: { name: string }) {
        if (!served.includes(resource.version)) return undefined;
        return there.get(name);
      },
      async patch(resource: Resource<KubeObject>, { name }: { name: string }, { body }: { body: KubeObject }) {
        serve(resource, `apply ${name}`);
        assert.equal(body.apiVersion, `gateway.networking.k8s.io/${resource.version}`);
        const applied = { ...body, metadata: { ...body.metadata, uid: `uid of ${name}`, resourceVersion: "1" } };
        there.set(name, applied);
        return applied;
      },
      async delete(resource: Resource<KubeObject>, { name }: { name: string }, { uid }: { uid: string }) {
        serve(resource, `delete ${name} ${uid}`);
        there.delete(name);
      },
    },
  } as unknown as Home;
  return { home, asked, there };
}

test("a tenant's routes are kept in the newest version that the cluster serves, which is remembered", async () => {
  const wanted = await wantedOf(TUNNELLED);
  const { home, asked } = clusterOf(wanted, ["v1alpha2"]);
  const routes = new Routes(new Applied());
  const { gateway: own, tunnel } = await routes.keep(home, wanted);
  assert.deepEqual([own?.routeRef?.name, tunnel?.routeRef?.name], ["a", "a-konnectivity"]);
  assert.deepEqual(
    asked.splice(0).sort(),
    ["a", "a-konnectivity"].flatMap((name) => ["v1", "v1alpha2", "v1alpha3"].map((at) => `apply ${name} ${at}`)),
  );
  const fresh = clusterOf(wanted, ["v1alpha2"]);
  await routes.keep(fresh.home, await wantedOf(ROUTED));
  assert.deepEqual(fresh.asked, ["apply a v1alpha2"]);
});

test("B26 routes that are as wanted cost no writing; without a host there are none", async () => {
  const wanted = await wantedOf(ROUTED);
  const { home, asked } = clusterOf(wanted, ["v1"]);
  const routes = new Routes(new Applied());
  assert.deepEqual(Object.keys(await routes.keep(home, wanted)), ["gateway"]);
  await routes.keep(home, wanted);
  assert.deepEqual(asked, ["apply a v1"]);
  const plain = await wantedOf();
  assert.deepEqual(await routes.keep(clusterOf(plain, []).home, plain), {});
});

test("a cluster without TLSRoutes is named with what to do, and any other refusal is passed on", async () => {
  const wanted = await wantedOf(ROUTED);
  await assert.rejects(
    new Routes(new Applied()).keep(clusterOf(wanted, []).home, wanted),
    (error) =>
      isFault(error, "Unsupported") &&
      error.message.includes("TLSRoute/a: this cluster serves no TLSRoutes") &&
      /remove spec.controlPlane.gateway/.test(error.remedy ?? ""),
  );
  const refusing = clusterOf(wanted, ["v1"]).home;
  refusing.client.patch = async () => {
    throw new Fault("Forbidden", "TLSRoute/a", "not allowed");
  };
  await assert.rejects(new Routes(new Applied()).keep(refusing, wanted), (error) => isFault(error, "Forbidden"));
});

test("routes that the status names and nobody wants any more are deleted, if they are the tenant's", async () => {
  const plain = await wantedOf();
  const { uid } = plain.tenant.metadata;
  const status = {
    kubernetesResources: { gateway: { routeRef: { name: "a" } } },
    addons: { konnectivity: { gateway: { routeRef: { name: "a-konnectivity" } } } },
  };
  const route = (name: string, owner: object) =>
    [name, { metadata: { name, namespace: "default", uid: `u-${name}`, ownerReferences: [owner] } }] as const;
  const dropped = async (owner: object, wanted = plain, seen: object | undefined = status): Promise<string[]> => {
    const { home, asked, there } = clusterOf(wanted, ["v1"], seen);
    for (const [name, live] of [route("a", owner), route("a-konnectivity", owner)])
      there.set(name, live as unknown as KubeObject);
    await new Routes(new Applied()).keep(home, wanted);
    return asked.filter((each) => each.startsWith("delete"));
  };
  const own = { uid, controller: true };
  assert.deepEqual(await dropped(own), ["delete a u-a v1", "delete a-konnectivity u-a-konnectivity v1"]);
  assert.deepEqual(await dropped(own, await wantedOf(ROUTED)), ["delete a-konnectivity u-a-konnectivity v1"]);
  for (const owner of [
    { uid, controller: false },
    { uid: "another", controller: true },
  ])
    assert.deepEqual(await dropped(owner), []);
  assert.deepEqual(await dropped(own, plain, {}), [], "the status names none");
});
