import assert from "node:assert/strict";
import { test } from "node:test";
import type { Service } from "@slipway/kube/core";
import { placeOf, serviceOf } from "./service.ts";
import { wantedOf } from "./testing.ts";

const found = (of: Partial<Service>): Service =>
  ({ apiVersion: "v1", kind: "Service", metadata: { name: "a" }, ...of }) as Service;
const spec = async (type: string, networkProfile: object = {}) =>
  (await wantedOf({ controlPlane: { service: { serviceType: type } }, networkProfile })).spec;

test("a tenant waits for its Service's address, and says what gives it", async () => {
  const balanced = { spec: await spec("LoadBalancer") };
  const waiting = { waitsFor: "Service a to get an address from a load balancer" };
  assert.deepEqual(placeOf(balanced, found({})), waiting);
  assert.deepEqual(placeOf(balanced, found({ status: { loadBalancer: { ingress: [{}] } } })), waiting);
  const given = [{ hostname: "lb.example" }, { ip: "192.0.2.1" }];
  const at = (host: string) => ({ host, port: 6443, local: "127.0.0.1" });
  assert.deepEqual(placeOf(balanced, found({ status: { loadBalancer: { ingress: given } } })), at("192.0.2.1"));
  const internal = { spec: await spec("ClusterIP") };
  assert.deepEqual(placeOf(internal, undefined), { waitsFor: "Service to be created to get a cluster IP" });
  assert.deepEqual(placeOf(internal, found({ spec: { clusterIP: "10.0.0.5" } })), at("10.0.0.5"));
  assert.match(JSON.stringify(placeOf({ spec: await spec("NodePort") }, found({}))), /spec.networkProfile.address/);
});

test("A10 a load balancer that gives a name is as good as one that gives an address", async () => {
  const status = { loadBalancer: { ingress: [{ hostname: "lb.example" }] } };
  const place = placeOf({ spec: await spec("LoadBalancer") }, found({ status }));
  assert.deepEqual(place, { host: "lb.example", port: 6443, local: "127.0.0.1" });
});

test("an address that is named is the tenant's, whatever the Service has", async () => {
  for (const type of ["LoadBalancer", "NodePort", "ClusterIP"]) {
    const place = placeOf({ spec: await spec(type, { address: "198.51.100.7" }) }, undefined);
    assert.deepEqual(place, { host: "198.51.100.7", port: 6443, local: "127.0.0.1" });
  }
});

test("each type of Service has the fields that the API takes with it", async () => {
  const profile = { address: "198.51.100.7", allowAddressAsExternalIP: true, port: 31_443 };
  const of = async (type: string, more: object = {}) => {
    const wanted = await wantedOf({
      controlPlane: { service: { serviceType: type } },
      networkProfile: { ...profile, ...more },
    });
    const { type: _, selector: __, ports, ...rest } = serviceOf(wanted).spec!;
    return { nodePort: ports![0]!.nodePort, ...rest };
  };
  assert.deepEqual(await of("NodePort"), { nodePort: 31_443, externalIPs: ["198.51.100.7"] });
  assert.deepEqual(await of("ClusterIP"), { nodePort: undefined, externalIPs: ["198.51.100.7"] });
  assert.deepEqual(await of("LoadBalancer", { loadBalancerClass: "x", loadBalancerSourceRanges: ["192.0.2.0/24"] }), {
    nodePort: undefined,
    allocateLoadBalancerNodePorts: true,
    loadBalancerIP: "198.51.100.7",
    loadBalancerClass: "x",
    loadBalancerSourceRanges: ["192.0.2.0/24"],
  });
  const allocateLoadBalancerNodePorts = false;
  const service = { serviceType: "LoadBalancer", allocateLoadBalancerNodePorts };
  assert.equal(serviceOf(await wantedOf({ controlPlane: { service } })).spec!.ports![0]!.nodePort, 0);
});
