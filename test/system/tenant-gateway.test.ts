/** Tenants behind a Gateway of the management cluster, whichever version of the Gateway API that has. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { type TlsRoute, tlsRouteAt } from "../../src/tenants/deployment/tls-route.ts";
import { NAMESPACE, stateOf, type TenantsWorld, tenantsWorld } from "./tenants-world.ts";

const A = { namespace: NAMESPACE, name: "a" };
const gateway = { hostname: "a.example", parentRefs: [{ name: "shared", namespace: "gateways" }] };
const behind = (of: object = { gateway }) => ({
  controlPlane: { deployment: { replicas: 1 }, service: { serviceType: "LoadBalancer" }, ...of },
});

async function serveRoutes({ client }: TenantsWorld, version: string): Promise<void> {
  const { group, kind, plural } = tlsRouteAt(version);
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  await client.create(CustomResourceDefinition, {
    // The group is one of Kubernetes' own.
    metadata: { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved, a test" } },
    spec: {
      ...{ group, scope: "Namespaced", names: { kind, plural, singular: "tlsroute", listKind: "TLSRouteList" } },
      versions: [
        {
          ...{ name: version, served: true, storage: true, subresources: { status: {} } },
          schema: { openAPIV3Schema: { type: "object", properties: { spec: open, status: open } } },
        },
      ],
    },
  } as never);
}

async function until<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  const { signal, done } = deadline(clock, 60_000);
  try {
    for (;;) {
      const found = await find();
      if (found !== undefined) return found;
      assert.ok(!signal.aborted, `not in time: ${what}`);
      await clock.sleep(25);
    }
  } finally {
    done();
  }
}

async function poke({ client }: TenantsWorld): Promise<void> {
  const body = { metadata: { labels: { poked: String(clock.now()) } } };
  await client.patch(TenantControlPlane, A, { type: "merge", body });
}

async function lives(t: TestContext, version: string): Promise<void> {
  const world = await tenantsWorld(t, "deployment");
  const { client, apply } = world;
  await serveRoutes(world, version);
  const TLSRoute = tlsRouteAt(version);
  await apply("a", { ...behind(), addons: { konnectivity: { server: { port: 8132 } } } });
  await world.until("a", (one) => stateOf(one) === "Ready");
  const route = await client.get(TLSRoute, A);
  const uid = (await client.get(TenantControlPlane, A)).metadata.uid;
  assert.equal(route.metadata.ownerReferences![0]!.uid, uid);
  assert.deepEqual(route.spec!.rules, [{ backendRefs: [{ name: "a", port: 36_443 }] }]);
  const tunnel = await client.get(TLSRoute, { ...A, name: "a-konnectivity" });
  assert.deepEqual(tunnel.spec!.hostnames, ["a.example"]);
  const condition = { type: "Accepted", status: "True", reason: "Accepted", message: "" };
  const conditions = [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" }];
  const parentRef = { group: "gateway.networking.k8s.io", kind: "Gateway", ...gateway.parentRefs[0]! };
  const status = { parents: [{ parentRef, controllerName: "gateways.example/one", conditions }] };
  await client.updateStatus(TLSRoute, { ...route, status } as TlsRoute);
  await poke(world);
  const seen = await world.until("a", (one) => one.status?.kubernetesResources?.gateway?.accessPoints !== undefined);
  assert.deepEqual(seen.status!.kubernetesResources!.gateway!.accessPoints![0]!.urls, ["https://a.example:36443"]);
  assert.equal(seen.status!.addons!.konnectivity!.gateway!.routeRef!.name, "a-konnectivity");
  const { resourceVersion } = (await client.get(TLSRoute, A)).metadata;
  await poke(world);
  await apply("a", { ...behind(), addons: { coreDNS: {} } });
  await until("the tunnel's route goes", async () =>
    (await client.find(TLSRoute, { ...A, name: "a-konnectivity" })) === undefined ? true : undefined,
  );
  assert.equal(
    (await client.get(TLSRoute, A)).metadata.resourceVersion,
    resourceVersion,
    "B26 it is not written again",
  );
  await apply("a", behind({}));
  await until("the route goes", async () => ((await client.find(TLSRoute, A)) === undefined ? true : undefined));
  await world.until("a", (one) => stateOf(one) === "Ready" && one.status?.kubernetesResources?.gateway === undefined);
}

for (const version of ["v1", "v1alpha2"])
  test(`a tenant's routes are made, accepted, kept and removed (${version})`, async (t) => await lives(t, version));

test("B13 a cluster without TLSRoutes is said, and heals when they are there", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  await world.apply("a", behind());
  const held = await world.until("a", (one) => /TLSRoute/.test(one.status?.waitingFor ?? ""));
  assert.match(held.status!.waitingFor!, /install the Gateway API with TLSRoute, or remove spec.controlPlane.gateway/);
  await serveRoutes(world, "v1");
  await world.until("a", (one) => stateOf(one) === "Ready");
});
