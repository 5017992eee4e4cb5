import assert from "node:assert/strict";
import { test } from "node:test";
import { hostAndPort, tenantOf, versionText } from "./tenant-of.ts";
import { aControlPlane } from "./testing.ts";

/** What is read below a path of a value. */
const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((of, name) => (of as Record<string, unknown> | undefined)?.[name], value);
const specOf = (spec: object, network?: Parameters<typeof tenantOf>[1]) => tenantOf(aControlPlane(spec), network).spec;

test("the shortest control plane decides on few fields of its tenant; others keep Kamaji's defaults", () => {
  assert.deepEqual(specOf({}), {
    controlPlane: { deployment: { replicas: 2 }, service: { serviceType: "LoadBalancer" } },
    kubernetes: { version: "v1.34.2" },
  });
});

test("labels and annotations are the tenant's too, without what kubectl keeps there for itself", () => {
  const annotations = { a: "1", "kubectl.kubernetes.io/last-applied-configuration": "{}" };
  const plane = aControlPlane({}, { annotations });
  plane.metadata.labels = { l: "2" };
  const { labels, annotations: kept } = tenantOf(plane, undefined);
  assert.deepEqual([labels, kept], [{ l: "2" }, { a: "1" }]);
});

test("the Cluster decides on port, ranges and domain", () => {
  const network = {
    apiServerPort: 8443,
    services: { cidrBlocks: ["172.26.0.0/16"] },
    pods: { cidrBlocks: ["192.168.0.0/16"] },
    serviceDomain: "shop.local",
  };
  assert.deepEqual(at(specOf({}, network), "networkProfile"), {
    port: 8443,
    serviceCidr: "172.26.0.0/16",
    podCidr: "192.168.0.0/16",
    clusterDomain: "shop.local",
  });
});

test("B7 one component's probe counts by itself, beside those of all", () => {
  const deployment = { probes: { liveness: { periodSeconds: 5 } } };
  const spec = specOf({ deployment, apiServer: { probes: { liveness: { periodSeconds: 30 } } } });
  assert.deepEqual(at(spec, "controlPlane.deployment.probes"), {
    liveness: { periodSeconds: 5 },
    apiServer: { liveness: { periodSeconds: 30 } },
  });
});

test("arguments, resources, images, mounts and kine's reach their component", () => {
  const spec = specOf({
    registry: "registry.test",
    apiServer: { extraArgs: ["--a"], containerImageName: "api", extraVolumeMounts: [{ name: "v", mountPath: "/v" }] },
    controllerManager: { resources: { limits: { cpu: "1" } }, containerImageName: "manager" },
    scheduler: { extraArgs: ["--s"], containerImageName: "sched" },
    kine: { extraArgs: ["--k"], resources: { limits: { cpu: "2" } } },
  });
  assert.deepEqual(at(spec, "controlPlane.deployment"), {
    replicas: 2,
    registrySettings: {
      ...{
        registry: "registry.test",
        apiServerImage: "api",
        controllerManagerImage: "manager",
        schedulerImage: "sched",
      },
    },
    extraArgs: { apiServer: ["--a"], scheduler: ["--s"], kine: ["--k"] },
    resources: { controllerManager: { limits: { cpu: "1" } }, kine: { limits: { cpu: "2" } } },
    additionalVolumeMounts: { apiServer: [{ name: "v", mountPath: "/v" }] },
  });
});

test("what the deployment is to be like reaches it under Kamaji's names", () => {
  const deployment = {
    ...{
      nodeSelector: { a: "b" },
      runtimeClassName: "gvisor",
      serviceAccountName: "sa",
      strategy: { type: "Recreate" },
    },
    ...{ affinity: { x: 1 }, tolerations: [{ key: "t" }], topologySpreadConstraints: [{ maxSkew: 1 }] },
    ...{ extraInitContainers: [{ name: "i" }], extraContainers: [{ name: "c" }], extraVolumes: [{ name: "v" }] },
    ...{ additionalMetadata: { labels: { m: "1" } }, podAdditionalMetadata: { labels: { p: "1" } } },
  };
  const { extraInitContainers, extraContainers, extraVolumes, ...same } = deployment;
  assert.deepEqual(at(specOf({ deployment }), "controlPlane.deployment"), {
    ...{ replicas: 2, ...same },
    additionalInitContainers: extraInitContainers,
    additionalContainers: extraContainers,
    additionalVolumes: extraVolumes,
  });
});

test("datastore, kubelet and admission controllers are passed on; an empty name counts as none", () => {
  const spec = specOf({
    ...{ dataStoreName: "etcd", dataStoreSchema: "s", dataStoreUsername: "u" },
    dataStoreOverrides: [{ resource: "/events", dataStore: "other" }],
    ...{ kubelet: { cgroupfs: "systemd" }, admissionControllers: ["NamespaceLifecycle"] },
  }) as Record<string, unknown>;
  assert.deepEqual([spec.dataStore, spec.dataStoreSchema, spec.dataStoreUsername], ["etcd", "s", "u"]);
  assert.deepEqual(spec.dataStoreOverrides, [{ resource: "/events", dataStore: "other" }]);
  assert.deepEqual(spec.kubernetes, {
    ...{ version: "v1.34.2", kubelet: { cgroupfs: "systemd" }, admissionControllers: ["NamespaceLifecycle"] },
  });
  const empty = specOf({ dataStoreName: "", dataStoreSchema: "", dataStoreUsername: "" });
  for (const name of ["dataStore", "dataStoreSchema", "dataStoreUsername"]) assert.ok(!(name in empty), name);
});

test("the Service has its type, labels, annotations and further ports", () => {
  const network = {
    ...{ serviceType: "NodePort", serviceLabels: { l: "1" }, serviceAnnotations: { a: "1" } },
    additionalServicePorts: [{ name: "x", port: 1 }],
  };
  assert.deepEqual(at(specOf({ network }), "controlPlane.service"), {
    serviceType: "NodePort",
    additionalMetadata: { labels: { l: "1" }, annotations: { a: "1" } },
    additionalPorts: [{ name: "x", port: 1 }],
  });
});

test("a Gateway's and an Ingress's host is the routes' and in the certificate, without its port", () => {
  const extras = { extraLabels: { l: "1" }, extraAnnotations: { a: "1" } };
  const additionalMetadata = { labels: { l: "1" }, annotations: { a: "1" } };
  const gateway = { name: "g", namespace: "ns", hostname: "api.test:8443", sectionName: "tls", port: 443, ...extras };
  const byGateway = specOf({ network: { serviceType: "ClusterIP", gateway, certSANs: ["x.test", "api.test"] } });
  assert.deepEqual(at(byGateway, "controlPlane.gateway"), {
    ...{ hostname: "api.test", additionalMetadata },
    parentRefs: [{ name: "g", namespace: "ns", sectionName: "tls", port: 443 }],
  });
  assert.deepEqual(at(byGateway, "networkProfile.certSANs"), ["x.test", "api.test"]);
  const ingress = { hostname: "in.test", className: "nginx", ...extras };
  const byIngress = specOf({ network: { serviceType: "ClusterIP", ingress } });
  assert.deepEqual(at(byIngress, "controlPlane.ingress"), {
    ...{ hostname: "in.test", additionalMetadata },
    ingressClassName: "nginx",
  });
  assert.deepEqual(at(byIngress, "networkProfile.certSANs"), ["in.test"]);
});

test("addresses and the load balancer's fields are the tenant's network profile", () => {
  const network = {
    ...{ serviceType: "LoadBalancer", serviceAddress: "203.0.113.5", advertiseAddress: "10.0.0.5" },
    loadBalancerConfig: { loadBalancerClass: "metal", loadBalancerSourceRanges: ["192.0.2.0/24"] },
  };
  assert.deepEqual(at(specOf({ network }), "networkProfile"), {
    ...{ address: "203.0.113.5", advertiseAddress: "10.0.0.5" },
    ...{ loadBalancerClass: "metal", loadBalancerSourceRanges: ["192.0.2.0/24"] },
  });
});

test("B11 the DNS service's addresses are the add-on's, else the network's", () => {
  const network = { serviceType: "LoadBalancer", dnsServiceIPs: ["10.0.0.10"] };
  const ips = (coreDNS?: object) =>
    at(specOf({ network, ...(coreDNS && { addons: { coreDNS } }) }), "networkProfile.dnsServiceIPs");
  assert.deepEqual(ips(), ["10.0.0.10"]);
  assert.deepEqual(ips({}), ["10.0.0.10"]);
  assert.deepEqual(ips({ dnsServiceIPs: [] }), ["10.0.0.10"]);
  assert.deepEqual(ips({ dnsServiceIPs: ["10.0.0.11"] }), ["10.0.0.11"]);
});

test("an add-on that is given is installed, also if it is empty, and its addresses stand elsewhere", () => {
  const addons = { coreDNS: { dnsServiceIPs: ["10.0.0.11"], imageTag: "v1" }, kubeProxy: {}, konnectivity: {} };
  assert.deepEqual(at(specOf({ addons }), "addons"), { coreDNS: { imageTag: "v1" }, kubeProxy: {}, konnectivity: {} });
  assert.deepEqual(at(specOf({ addons: { coreDNS: {} } }), "addons"), { coreDNS: {} });
  assert.equal(at(specOf({ addons: {} }), "addons"), undefined);
});

test("a version has its v once; a host has the port that it names, else that of HTTPS", () => {
  assert.deepEqual([versionText("1.34.2"), versionText("v1.34.2")], ["v1.34.2", "v1.34.2"]);
  assert.deepEqual(hostAndPort("api.test"), { host: "api.test", port: 443 });
  assert.deepEqual(hostAndPort("api.test:6443"), { host: "api.test", port: 6443 });
  assert.deepEqual(hostAndPort("[2001:db8::1]:6443"), { host: "[2001:db8::1]", port: 6443 });
});
