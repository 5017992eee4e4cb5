import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import fc from "fast-check";
import { converter } from "../conversion.ts";
import { crdOf } from "../crd.ts";
import { GROUP, type KamajiControlPlane } from "./kamaji-control-plane.ts";
import { KAMAJI_CONTROL_PLANE_KINDS } from "./kinds.ts";
import { controlPlaneApi, pathIn } from "./testing.ts";

const [VERSIONS, TEMPLATES] = KAMAJI_CONTROL_PLANE_KINDS as [
  (typeof KAMAJI_CONTROL_PLANE_KINDS)[number],
  (typeof KAMAJI_CONTROL_PLANE_KINDS)[number],
];
const convert = converter(VERSIONS);
type Fields = Record<string, unknown>;

const endpoint = {
  v1alpha1: fc.record({
    host: fc.constantFrom("", "a.example", "192.0.2.7"),
    port: fc.integer({ min: 0, max: 65535 }),
  }),
  v1alpha2: fc.record(
    { host: fc.constantFrom("a.example", "192.0.2.7"), port: fc.integer({ min: 1, max: 65535 }) },
    { requiredKeys: [] },
  ),
};
const status = {
  v1alpha1: fc.record(
    {
      initialized: fc.boolean(),
      ready: fc.boolean(),
      updatedReplicas: fc.nat(9),
      unavailableReplicas: fc.nat(9),
      replicas: fc.nat(9),
    },
    { requiredKeys: [] },
  ),
  v1alpha2: fc.record(
    {
      initialization: fc.record({ controlPlaneInitialized: fc.boolean() }),
      ready: fc.boolean(),
      upToDateReplicas: fc.nat(9),
      availableReplicas: fc.nat(9),
      replicas: fc.nat(9),
    },
    { requiredKeys: [] },
  ),
};
const controlPlane = fc.constantFrom("v1alpha1" as const, "v1alpha2" as const).chain((version) =>
  fc.record({
    apiVersion: fc.constant(`${GROUP}/${version}`),
    kind: fc.constant("KamajiControlPlane"),
    metadata: fc.constant({ name: "a" }),
    spec: fc.record(
      {
        version: fc.constant("1.27.0"),
        controlPlaneEndpoint: endpoint[version] as fc.Arbitrary<object>,
        any: fc.json(),
      },
      { requiredKeys: ["version"] },
    ),
    status: fc.option(status[version] as fc.Arbitrary<object>, { nil: undefined }),
  }),
);

test("B1 what is written in one version and read in the other has lost nothing", () => {
  fc.assert(
    fc.property(controlPlane, (given) => {
      const object = JSON.parse(JSON.stringify(given)) as KubeObject & { spec: Fields; status?: Fields };
      const other = `${GROUP}/${object.apiVersion.endsWith("1") ? "v1alpha2" : "v1alpha1"}`;
      const there = convert(object, other);
      const back = convert(there, object.apiVersion) as typeof object;
      assert.deepEqual(back.spec, object.spec);
      assert.deepEqual({ ...back.status, ...object.status }, { ...back.status });
      assert.deepEqual(convert(back, other), there, "a second way there and back changes nothing");
    }),
  );
});

test("B2 each version reports under the names of its contract what was reported under the other's", () => {
  const read = (version: string, status: object) =>
    (
      convert(
        { apiVersion: `${GROUP}/${version}`, kind: "KamajiControlPlane", metadata: { name: "a" }, status } as never,
        `${GROUP}/${version === "v1alpha1" ? "v1alpha2" : "v1alpha1"}`,
      ) as KamajiControlPlane
    ).status;
  assert.deepEqual(read("v1alpha1", { initialized: true, replicas: 3, updatedReplicas: 2, unavailableReplicas: 1 }), {
    initialization: { controlPlaneInitialized: true },
    upToDateReplicas: 2,
    availableReplicas: 2,
    ...{ initialized: true, replicas: 3, updatedReplicas: 2, unavailableReplicas: 1 },
  });
  assert.deepEqual(
    read("v1alpha2", {
      initialization: { controlPlaneInitialized: true },
      replicas: 3,
      upToDateReplicas: 3,
      availableReplicas: 1,
    }),
    {
      initialized: true,
      updatedReplicas: 3,
      unavailableReplicas: 2,
      ...{ initialization: { controlPlaneInitialized: true }, replicas: 3, upToDateReplicas: 3, availableReplicas: 1 },
    },
  );
});

test("B1 the definitions say which versions fulfil which contract, and the template's do, too", () => {
  const labels = {
    ...{ "cluster.x-k8s.io/v1beta1": "v1alpha1", "cluster.x-k8s.io/v1beta2": "v1alpha2" },
    "clusterctl.cluster.x-k8s.io": "",
  };
  assert.deepEqual(crdOf(VERSIONS).metadata.labels, labels);
  assert.deepEqual(crdOf(TEMPLATES).metadata.labels, labels);
});

/** As the shape of v0.3 has it, and as its users wrote it: a deployment that says nothing. */
const OLD = {
  apiVersion: `${GROUP}/v1alpha1`,
  kind: "KamajiControlPlane",
  metadata: { name: "old", namespace: "default" },
  spec: {
    dataStoreName: "default",
    addons: { coreDNS: {}, kubeProxy: {} },
    kubelet: { cgroupfs: "systemd", preferredAddressTypes: ["ExternalIP", "InternalIP", "Hostname"] },
    network: { serviceType: "LoadBalancer" },
    deployment: null,
    replicas: 2,
    version: "1.27.0",
  },
};

test("A11 a control plane that was written as v1alpha1 is read and changed as v1alpha2, and the other way round", async () => {
  const api = await controlPlaneApi();
  await api.ask("POST", pathIn("v1alpha1"), OLD);
  const read = (await api.ask("GET", pathIn("v1alpha2", "old"))) as unknown as KamajiControlPlane;
  assert.equal(read.spec.version, "1.27.0");
  assert.deepEqual(read.spec.kubelet.preferredAddressTypes, ["ExternalIP", "InternalIP", "Hostname"]);
  assert.equal(read.spec.controlPlaneEndpoint, undefined);
  await api.ask("PUT", pathIn("v1alpha2", "old"), {
    ...read,
    spec: { ...read.spec, controlPlaneEndpoint: { host: "192.0.2.7", port: 40000 } },
  });
  const old = (await api.ask("GET", pathIn("v1alpha1", "old"))) as unknown as KamajiControlPlane;
  assert.deepEqual(old.spec.controlPlaneEndpoint, { host: "192.0.2.7", port: 40000 });
  await api.ask(
    "PATCH",
    `${pathIn("v1alpha1", "old")}/scale`,
    { spec: { replicas: 3 } },
    {
      contentType: "application/merge-patch+json",
    },
  );
  const scaled = (await api.ask("GET", pathIn("v1alpha2", "old"))) as unknown as KamajiControlPlane;
  assert.equal(scaled.spec.replicas, 3);
  await api.server.close();
});

test("B8 source ranges need a load balancer, and its class can't be added later", async () => {
  const api = await controlPlaneApi();
  const withNetwork = (name: string, network: object) => ({
    ...OLD,
    ...{ metadata: { name }, spec: { ...OLD.spec, network } },
  });
  const refused = await api.refused(
    "POST",
    pathIn("v1alpha1"),
    withNetwork("a", { serviceType: "NodePort", loadBalancerConfig: { loadBalancerSourceRanges: ["192.0.2.0/24"] } }),
  );
  assert.match(refused.message!, /loadBalancerSourceRanges need serviceType LoadBalancer/);
  const made = await api.ask("POST", pathIn("v1alpha2"), {
    ...withNetwork("b", { loadBalancerConfig: { loadBalancerSourceRanges: ["192.0.2.0/24"] } }),
    apiVersion: `${GROUP}/v1alpha2`,
  });
  const later = await api.refused("PUT", pathIn("v1alpha2", "b"), {
    ...made,
    spec: {
      ...(made as unknown as KamajiControlPlane).spec,
      network: { loadBalancerConfig: { loadBalancerClass: "metallb" } },
    },
  });
  assert.match(later.message!, /can be neither added nor removed/);
  await api.server.close();
});
