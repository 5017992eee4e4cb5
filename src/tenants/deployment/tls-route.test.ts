import assert from "node:assert/strict";
import { test } from "node:test";
import { wantedOf } from "./testing.ts";
import { gatewayStatusOf, type TlsRoute, tlsRoutesOf } from "./tls-route.ts";

const gateway = { hostname: "a.example", parentRefs: [{ name: "shared", namespace: "gateways" }] };

test("a tenant behind a Gateway has a route to kube-apiserver, and with konnectivity one to its server", async () => {
  const network = { controlPlane: { gateway }, networkProfile: { port: 7443 } };
  const [route, ...more] = tlsRoutesOf(await wantedOf(network));
  assert.deepEqual(more, []);
  assert.deepEqual(
    [route!.apiVersion, route!.kind, route!.metadata.name],
    ["gateway.networking.k8s.io/v1", "TLSRoute", "a"],
  );
  const parent = { group: "gateway.networking.k8s.io", kind: "Gateway", ...gateway.parentRefs[0] };
  assert.deepEqual(route!.spec, {
    parentRefs: [{ ...parent, port: 7443, sectionName: "kube-apiserver" }],
    hostnames: ["a.example"],
    rules: [{ backendRefs: [{ name: "a", port: 7443 }] }],
  });
  const both = tlsRoutesOf(await wantedOf({ ...network, addons: { konnectivity: { server: { port: 8132 } } } }));
  assert.deepEqual(
    both.map(({ metadata, spec }) => [
      metadata.name,
      spec!.parentRefs![0]!.sectionName,
      spec!.rules[0]!.backendRefs[0],
    ]),
    [
      ["a", "kube-apiserver", { name: "a", port: 7443 }],
      ["a-konnectivity", "konnectivity-server", { name: "a", port: 8132 }],
    ],
  );
});

test("a listener that is named is taken as it is named", async () => {
  const parentRefs = [{ name: "shared", port: 443, sectionName: "tls" }];
  const [route] = tlsRoutesOf(await wantedOf({ controlPlane: { gateway: { ...gateway, parentRefs } } }));
  const [{ port, sectionName } = {}] = route!.spec!.parentRefs!;
  assert.deepEqual([port, sectionName], [443, "tls"]);
  assert.deepEqual(tlsRoutesOf(await wantedOf({ controlPlane: { gateway: { parentRefs } } })), []);
  assert.deepEqual(tlsRoutesOf(await wantedOf()), []);
});

test("where a tenant is reached is said once a Gateway has accepted its route", async () => {
  const [route] = tlsRoutesOf(await wantedOf({ controlPlane: { gateway } })) as [TlsRoute];
  assert.deepEqual(gatewayStatusOf(route), { parents: [], routeRef: { name: "a" } });
  const condition = { type: "Accepted", status: "True", reason: "Accepted", message: "", lastTransitionTime: "" };
  const parentRef = { group: "", kind: "Gateway", name: "shared" };
  const parent = (of: object) => ({ parentRef, controllerName: "x.example/y", conditions: [{ ...condition, ...of }] });
  const seen = (parents: object[]): object =>
    gatewayStatusOf({ ...route, status: { parents: parents as never } }) as object;
  const refused = parent({ status: "False" });
  assert.deepEqual(seen([refused]), { parents: [refused], routeRef: { name: "a" } });
  assert.deepEqual(seen([{ ...refused, conditions: [] }]), { parents: [], routeRef: { name: "a" } });
  const accessPoints = [{ type: "Hostname", value: "a.example", port: 6443, urls: ["https://a.example:6443"] }];
  assert.deepEqual(seen([refused, parent({})]), {
    ...{ parents: [refused, parent({})], routeRef: { name: "a" } },
    accessPoints,
  });
  const many = { ...route, spec: { ...route.spec!, hostnames: ["*.example"] } };
  assert.equal(gatewayStatusOf({ ...many, status: { parents: [parent({})] as never } })!.accessPoints, undefined);
  const bare = { ...route, spec: { ...route.spec!, hostnames: ["a.example"] } };
  delete bare.spec.parentRefs;
  assert.deepEqual(gatewayStatusOf({ ...bare, status: { parents: [parent({})] as never } }), {
    parents: [parent({})],
    routeRef: { name: "a" },
  });
  const twice = [{ name: "x", port: 443 }, { name: "y", port: 443 }, { name: "z" }];
  const shared = { ...route, spec: { ...route.spec!, parentRefs: twice } };
  const { accessPoints: points } = gatewayStatusOf({ ...shared, status: { parents: [parent({})] as never } })!;
  assert.deepEqual(
    points?.map(({ port }) => port),
    [443, 0],
  );
});
