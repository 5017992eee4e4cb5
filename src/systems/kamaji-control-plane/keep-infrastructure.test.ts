import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { keepInfrastructure } from "./keep-infrastructure.ts";
import { aControlPlane } from "./testing.ts";

const ENDPOINT = { host: "203.0.113.5", port: 6443 };
const REFERENCE = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PacketCluster", name: "infra" };
const DEFINITION = { metadata: { labels: { "cluster.x-k8s.io/v1beta2": "v1beta1" } } };
const INFRA = { kind: "PacketCluster", metadata: { name: "infra", resourceVersion: "7" } };

/** Lets the infrastructure know, with these objects on the API by name; `patched`: what was sent. */
async function kept(objects: Record<string, object>, infrastructureRef: object | undefined = REFERENCE) {
  const patched: unknown[] = [];
  const client = {
    find: async (_: unknown, { name }: { name: string }) => objects[name],
    async patch(
      _: unknown,
      { namespace, name }: { namespace: string; name: string },
      { body }: { body: object },
      options?: { subresource: string },
    ) {
      patched.push([`${namespace}/${name}`, options?.subresource, body]);
      return { ...INFRA, metadata: { ...INFRA.metadata, resourceVersion: "8" } };
    },
  };
  const cluster = { metadata: { name: "c1", namespace: "shop" }, spec: { infrastructureRef } } as unknown as Cluster;
  const state = await keepInfrastructure({ client } as unknown as Context, aControlPlane(), cluster, ENDPOINT);
  return { state, patched };
}
const CRD = "packetclusters.infrastructure.cluster.x-k8s.io";

test("a provider that is not installed, and an object that is not there, are waited for by name", async () => {
  assert.deepEqual((await kept({})).state, {
    is: "waits",
    for: `CustomResourceDefinition ${CRD}: install the provider`,
  });
  assert.deepEqual((await kept({ [CRD]: DEFINITION })).state, {
    is: "waits",
    for: "PacketCluster/infra, which the Cluster names",
  });
});

test("B14 a Cluster without infrastructure, and one that is to be left alone, have no such step", async () => {
  const cluster = { metadata: { name: "c1", namespace: "shop" }, spec: {} } as unknown as Cluster;
  assert.equal(await keepInfrastructure({} as Context, aControlPlane(), cluster, ENDPOINT), undefined);
  const annotations = { "slipway.dev/control-plane-endpoint": "skip" };
  const left = await kept({ [CRD]: DEFINITION, infra: { ...INFRA, metadata: { ...INFRA.metadata, annotations } } });
  assert.deepEqual(left, { state: undefined, patched: [] });
});

test("B9 endpoint and readiness are two writes, each guarded by the version that was decided on", async () => {
  const { state, patched } = await kept({ [CRD]: DEFINITION, infra: INFRA });
  assert.deepEqual(state, { is: "done" });
  assert.deepEqual(patched, [
    ["shop/infra", undefined, { metadata: { resourceVersion: "7" }, spec: { controlPlaneEndpoint: ENDPOINT } }],
    [
      "shop/infra",
      "status",
      { metadata: { resourceVersion: "8" }, status: { ready: true, initialization: { provisioned: true } } },
    ],
  ]);
  const status = { ready: true, initialization: { provisioned: true } };
  const done = await kept({ [CRD]: DEFINITION, infra: { ...INFRA, spec: { controlPlaneEndpoint: ENDPOINT }, status } });
  assert.deepEqual(done, { state: { is: "done" }, patched: [] });
});

test("B14 what must be corrected by hand is a fault with the remedy, on the object", async () => {
  const annotations = { "slipway.dev/control-plane-endpoint": "check" };
  await assert.rejects(
    kept({ [CRD]: DEFINITION, infra: { ...INFRA, metadata: { ...INFRA.metadata, annotations } } }),
    (error) =>
      isFault(error, "Invalid") &&
      error.on === "PacketCluster/infra" &&
      /has no endpoint; set its spec\.controlPlaneEndpoint/.test(error.advice),
  );
});
