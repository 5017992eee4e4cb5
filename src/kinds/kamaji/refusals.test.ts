import assert from "node:assert/strict";
import { after, test } from "node:test";
import { kamajiApi, overlaid, shortestTenant } from "./testing.ts";

const V = "/apis/kamaji.clastix.io/v1alpha1";
const PATHS = {
  DataStore: `${V}/datastores`,
  TenantControlPlane: `${V}/namespaces/default/tenantcontrolplanes`,
  KubeconfigGenerator: `${V}/kubeconfiggenerators`,
};
type Kind = keyof typeof PATHS;

let made = 0;
const object = (kind: Kind, spec: unknown, name = `a${made++}`) => ({
  ...{ apiVersion: "kamaji.clastix.io/v1alpha1", kind, metadata: { name } },
  spec,
});

interface Causes {
  details?: { causes?: { field: string; message: string }[] };
  message?: string;
}
const api = await kamajiApi();
after(() => api.close());

/** What the API says of a body: "taken", or field and message of each cause, without the value that it repeats. */
async function verdict(method: "POST" | "PUT", path: string, body: unknown): Promise<string[]> {
  const answer = await api.send({ method, path, body });
  if (answer.status < 400) return ["taken"];
  const { details } = answer.body as Causes;
  return (details?.causes ?? []).map(
    ({ field, message }) => `${field}: ${message.replace(/^(?!Duplicate).*?: (?=[a-z])/, "")}`,
  );
}

const bytes = { content: "eA==" };
const etcd = {
  driver: "etcd",
  endpoints: ["10.0.0.1:2379"],
  tlsConfig: {
    certificateAuthority: { certificate: bytes, privateKey: bytes },
    clientCertificate: { certificate: bytes, privateKey: { secretReference: { keyPath: "tls.key" } } },
  },
};
const sql = { driver: "PostgreSQL", endpoints: ["db:5432"], basicAuth: { username: bytes, password: bytes } };
const withoutBasicAuth = { basicAuth: undefined };

const stores: [name: string, spec: unknown, field: string][] = [
  ["etcd with all it needs", etcd, ""],
  ["etcd without TLS", { ...etcd, tlsConfig: undefined }, "certificateAuthority.privateKey"],
  [
    "etcd without the CA's key",
    overlaid(etcd, { tlsConfig: { certificateAuthority: { privateKey: undefined } } }),
    "certificateAuthority.privateKey",
  ],
  [
    "etcd with an empty key of the CA",
    overlaid(etcd, { tlsConfig: { certificateAuthority: { privateKey: { content: undefined } } } }),
    "certificateAuthority.privateKey",
  ],
  [
    "etcd without a client certificate",
    overlaid(etcd, { tlsConfig: { clientCertificate: undefined } }),
    "clientCertificate.certificate",
  ],
  [
    "etcd with an empty key of the client",
    overlaid(etcd, { tlsConfig: { clientCertificate: { privateKey: { secretReference: undefined } } } }),
    "clientCertificate.privateKey",
  ],
  ["PostgreSQL with a password", sql, ""],
  ["PostgreSQL with TLS alone", overlaid(sql, { ...withoutBasicAuth, tlsConfig: etcd.tlsConfig }), ""],
  [
    "PostgreSQL with TLS without a client certificate",
    overlaid(sql, { tlsConfig: { certificateAuthority: { certificate: bytes } } }),
    "",
  ],
  ["PostgreSQL with neither", overlaid(sql, withoutBasicAuth), "tlsConfig, basicAuth or both"],
  [
    "PostgreSQL with an empty user",
    overlaid(sql, { basicAuth: { username: { content: undefined } } }),
    "basicAuth.username",
  ],
  [
    "PostgreSQL with an empty password",
    overlaid(sql, { basicAuth: { password: { content: undefined } } }),
    "basicAuth.password",
  ],
  [
    "PostgreSQL with an empty client certificate",
    overlaid(sql, {
      tlsConfig: overlaid(etcd.tlsConfig, { clientCertificate: { certificate: { content: undefined } } }),
    }),
    "clientCertificate.certificate",
  ],
  ["no endpoint", { ...etcd, endpoints: [] }, "should have at least 1 items"],
  ["an unknown driver", { ...sql, driver: "SQLite" }, "etcd"],
];

test("a DataStore is taken, or refused with the field that is to be given", async () => {
  for (const [name, spec, missing] of stores) {
    const said = await verdict("POST", PATHS.DataStore, object("DataStore", spec));
    if (missing === "") assert.deepEqual(said, ["taken"], name);
    else assert.match(said.join("\n"), new RegExp(missing.replaceAll(".", "\\.")), name);
  }
});

test("a DataStore keeps its driver", async () => {
  const held = await api.ask("POST", PATHS.DataStore, object("DataStore", sql));

  const said = await verdict("PUT", `${PATHS.DataStore}/${held.metadata?.name}`, {
    ...held,
    spec: { ...sql, driver: "MySQL" },
  });

  assert.deepEqual(said, [
    "spec.driver: the driver can't be changed: create another DataStore and move the tenants to it",
  ]);
});

test("a KubeconfigGenerator takes each value from one place", async () => {
  const both = { stringValue: "a", fromDefinition: "metadata.name" };
  const spec = { user: {}, groups: [{ stringValue: "a" }, both] };

  assert.deepEqual(await verdict("POST", PATHS.KubeconfigGenerator, object("KubeconfigGenerator", spec)), [
    "spec.user: give exactly one of stringValue and fromDefinition",
    "spec.groups[1]: give exactly one of stringValue and fromDefinition",
  ]);
  const good = object("KubeconfigGenerator", { user: { fromDefinition: "metadata.name" } });
  assert.deepEqual(await verdict("POST", PATHS.KubeconfigGenerator, good), ["taken"]);
});

const net = (networkProfile: object) => ({ networkProfile });
const service = (more: object) => ({ controlPlane: { service: more } });
const agent = (more: object) => ({ addons: { konnectivity: { agent: more } } });

const OVERLAP = "spec.networkProfile: service and pod CIDRs overlap: choose prefixes that share no address";
const DNS =
  "spec.networkProfile: dnsServiceIPs must be addresses inside the service CIDRs: correct them, or remove them to have them chosen";
const WRITE_PREFIX = "write an address, a slash and a prefix length, such as 10.96.0.0/16 or fd00::/108";
const NEEDS_LB = "needs controlPlane.service.serviceType LoadBalancer: set that type, or remove the field";
const REPLICAS =
  "spec.addons.konnectivity.agent: replicas must be above 0 with mode Deployment, and 0 or absent with mode DaemonSet";
const dual = { serviceCidrs: ["10.96.0.0/16", "fd00::/108"], podCidrs: ["fd01::/56", "10.244.0.0/16"] };

const tenants: [name: string, over: object, ...said: string[]][] = [
  ["the shortest", {}],
  ["without a network profile and of type ClusterIP", service({ serviceType: "ClusterIP" })],
  ["empty single CIDRs", net({ serviceCidr: "", podCidr: "" })],
  ["dual-stack, the families in different orders", net(dual)],
  [
    "a prefix without its length",
    net({ serviceCidr: "10.96.0.1" }),
    `spec.networkProfile.serviceCidr: not a prefix: ${WRITE_PREFIX}`,
  ],
  ["no prefix for Pods", net({ podCidr: "not-a-cidr" }), `spec.networkProfile.podCidr: not a prefix: ${WRITE_PREFIX}`],
  [
    "a list with a wrong prefix",
    net({ serviceCidrs: ["10.96.0.0/16", "fd00::"] }),
    `spec.networkProfile.serviceCidrs: not all are prefixes: ${WRITE_PREFIX}`,
  ],
  [
    "three prefixes",
    net({ podCidrs: ["10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"] }),
    "spec.networkProfile.podCidrs: must have at most 2 items",
  ],
  ["Pods inside the Services' prefix", net({ serviceCidr: "10.0.0.0/8" }), OVERLAP],
  ["Services inside the Pods' prefix, in the lists", net({ ...dual, podCidrs: ["10.0.0.0/8"] }), OVERLAP],
  ["DNS addresses inside", net({ ...dual, dnsServiceIPs: ["fd00::53", "10.96.0.53", "10.96.0.54"] })],
  ["DNS address inside the single prefix", net({ serviceCidr: "10.97.0.0/16", dnsServiceIPs: ["10.97.0.10"] })],
  ["DNS address outside", net({ dnsServiceIPs: ["10.97.0.10"] }), DNS],
  ["DNS address that is none", net({ dnsServiceIPs: ["dns"] }), DNS],
  [
    "DNS address inside the single prefix, which the list replaces",
    net({ serviceCidrs: ["10.1.0.0/16"], dnsServiceIPs: ["10.96.0.10"] }),
    DNS,
  ],
  ["source ranges", net({ loadBalancerSourceRanges: ["192.0.2.0/24"] })],
  [
    "a source range that is an address",
    net({ loadBalancerSourceRanges: ["192.0.2.1"] }),
    `spec.networkProfile.loadBalancerSourceRanges: not all are prefixes: ${WRITE_PREFIX}`,
  ],
  [
    "source ranges without a load balancer",
    { ...service({ serviceType: "NodePort" }), ...net({ loadBalancerSourceRanges: ["192.0.2.0/24"] }) },
    `spec: networkProfile.loadBalancerSourceRanges ${NEEDS_LB}`,
  ],
  [
    "no source ranges, and no load balancer",
    { ...service({ serviceType: "NodePort" }), ...net({ loadBalancerSourceRanges: [] }) },
  ],
  [
    "a class without a load balancer",
    { ...service({ serviceType: "NodePort" }), ...net({ loadBalancerClass: "x" }) },
    `spec: networkProfile.loadBalancerClass ${NEEDS_LB}`,
  ],
  [
    "node ports without a load balancer",
    service({ serviceType: "ClusterIP", allocateLoadBalancerNodePorts: false }),
    `spec: controlPlane.service.allocateLoadBalancerNodePorts ${NEEDS_LB}`,
  ],
  ["an advertised address", net({ advertiseAddress: "fd00::1" })],
  [
    "an advertised name",
    net({ advertiseAddress: "api.example.com" }),
    "spec.networkProfile.advertiseAddress: not an IP address: write one such as 192.0.2.10",
  ],
  [
    "ingress and gateway",
    { controlPlane: { ingress: {}, gateway: {} } },
    "spec.controlPlane: ingress and gateway exclude each other: remove one of them",
  ],
  ["empty konnectivity", { addons: { konnectivity: {} } }],
  ["a number of agents with mode Deployment", agent({ mode: "Deployment", replicas: 2 })],
  ["no agent with mode Deployment", agent({ mode: "Deployment", replicas: 0 }), REPLICAS],
  ["a number of agents with mode DaemonSet", agent({ replicas: 2 }), REPLICAS],
  ["a version without v", { kubernetes: { version: "1.27.16" } }],
  ["a version with a suffix", { kubernetes: { version: "v1.34.2-rc.0+k3s1" } }],
  [
    "a version of two numbers",
    { kubernetes: { version: "v1.34" } },
    "spec.kubernetes.version: not a version of Kubernetes: write all three numbers, such as v1.34.2",
  ],
  [
    "an address type twice",
    { kubernetes: { kubelet: { preferredAddressTypes: ["Hostname", "Hostname"] } } },
    'spec.kubernetes.kubelet.preferredAddressTypes[1]: Duplicate value: "Hostname"',
  ],
  [
    "an address type that is none",
    { kubernetes: { kubelet: { preferredAddressTypes: ["Other"] } } },
    'spec.kubernetes.kubelet.preferredAddressTypes[0]: supported values: "Hostname", "InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS"',
  ],
];

for (const [name, over, ...said] of tenants)
  test(`a tenant is ${said.length === 0 ? "taken" : "refused with what to do"}: ${name}`, async () => {
    const body = object("TenantControlPlane", overlaid(shortestTenant, over));

    const found = await verdict("POST", PATHS.TenantControlPlane, body);
    assert.deepEqual(
      found.filter((cause) => !cause.startsWith("<nil>")),
      said.length === 0 ? ["taken"] : said,
    );
  });

test("a tenant's name is one that a Service may have", async () => {
  for (const name of ["1a", "a.b", "a".repeat(64)])
    assert.match(
      (await verdict("POST", PATHS.TenantControlPlane, object("TenantControlPlane", shortestTenant, name))).join(),
      /the name becomes that of a Service/,
    );
});

const initial = overlaid(shortestTenant, {
  ...{ dataStore: "default", dataStoreSchema: "s", dataStoreUsername: "u" },
  networkProfile: { loadBalancerClass: "x" },
});
const changes: [name: string, over: object, ...said: string[]][] = [
  ["another DataStore", { dataStore: "other" }],
  ["a patch release back", { kubernetes: { version: "v1.34.1" } }],
  // Stepped by the controller: B16.
  ["several minors up", { kubernetes: { version: "v1.37.0" } }],
  [
    "no DataStore",
    { dataStore: undefined },
    "spec: dataStore can't be removed once it is set: leave it, or name another DataStore to move to",
  ],
  [
    "no schema",
    { dataStoreSchema: undefined },
    "spec: dataStoreSchema can't be removed once it is set: leave it as it is",
  ],
  [
    "another schema",
    { dataStoreSchema: "t" },
    "spec.dataStoreSchema: the schema can't be changed: the tenant's objects are in it",
  ],
  [
    "another user",
    { dataStoreUsername: "t" },
    "spec.dataStoreUsername: the user can't be changed: the tenant's objects belong to it",
  ],
  [
    "another domain",
    net({ clusterDomain: "other.local" }),
    "spec.networkProfile.clusterDomain: the cluster's domain can't be changed: nodes and certificates have it",
  ],
  [
    "another class",
    net({ loadBalancerClass: "y" }),
    "spec.networkProfile.loadBalancerClass: the class of a load balancer can't be changed",
  ],
  [
    "no class",
    net({ loadBalancerClass: undefined }),
    "spec: networkProfile.loadBalancerClass can be neither added nor removed while the type is LoadBalancer: change the type first",
  ],
  ["another type, and no class", { ...service({ serviceType: "NodePort" }), ...net({ loadBalancerClass: undefined }) }],
  ["B22 a DNS address outside", net({ dnsServiceIPs: ["10.97.0.10"] }), DNS],
];

for (const [name, over, ...said] of changes)
  test(`a change of a tenant is ${said.length === 0 ? "taken" : "refused with what to do"}: ${name}`, async () => {
    const held = await api.ask("POST", PATHS.TenantControlPlane, object("TenantControlPlane", initial));

    const body = { ...held, spec: overlaid(held.spec, over) };

    const found = await verdict("PUT", `${PATHS.TenantControlPlane}/${held.metadata?.name}`, body);
    assert.deepEqual(found, said.length === 0 ? ["taken"] : said);
  });

test("a minor version that was only asked for is taken back, and none goes below the one that is installed", async () => {
  const to = (version: string) => ({ kubernetes: { version } });
  const spec = overlaid(shortestTenant, to("v1.63.0"));
  const held = await api.ask("POST", PATHS.TenantControlPlane, object("TenantControlPlane", spec));
  const path = `${PATHS.TenantControlPlane}/${held.metadata?.name}`;
  const ask = async (version: string): Promise<string[]> => {
    const now = await api.ask("GET", path);
    return await verdict("PUT", path, { ...now, spec: overlaid(now.spec, to(version)) });
  };
  assert.deepEqual(await ask("v1.36.0"), ["taken"]);
  assert.deepEqual(await ask("v1.35.1"), ["taken"]);
  const status = { kubernetesResources: { version: { version: "v1.35.1", status: "Ready" } } };
  await api.ask("PUT", `${path}/status`, { ...(await api.ask("GET", path)), status });
  assert.deepEqual(await ask("v1.37.0"), ["taken"]);
  assert.deepEqual(await ask("v1.35.0"), ["taken"]);
  const [refusal, ...more] = await ask("v1.34.9");
  assert.match(refusal!, /the minor version can't go below the one that is installed/);
  assert.deepEqual(more, []);
});

test("B22 a wrong DNS address is repaired by an update, however wrong the old one is", async () => {
  const spec = overlaid(shortestTenant, net({ serviceCidr: "10.97.0.0/16", dnsServiceIPs: ["10.97.0.10"] }));
  const held = await api.ask("POST", PATHS.TenantControlPlane, object("TenantControlPlane", spec));

  const moved = {
    ...held,
    spec: overlaid(held.spec, net({ serviceCidr: "10.98.0.0/16", dnsServiceIPs: ["10.98.0.10"] })),
  };

  assert.deepEqual(await verdict("PUT", `${PATHS.TenantControlPlane}/${held.metadata?.name}`, moved), ["taken"]);
});
