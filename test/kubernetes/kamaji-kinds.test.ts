/** Kamaji's kinds on kube-apiserver: the definitions, put in place of Kamaji's own too, and their rules as the embedded API has them. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import type { ApiAnswer, ApiRequest } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { installCrds } from "../../src/kinds/install.ts";
import { KAMAJI_KINDS } from "../../src/kinds/kamaji/kinds.ts";
import { kamajiApi, overlaid, shortestTenant } from "../../src/kinds/kamaji/testing.ts";
import { type Cluster, startCluster, whyNotHere } from "./cluster.ts";
import { until } from "./live.ts";

const skip = (await whyNotHere()) ?? false;
const DATA = `${process.env.SLIPWAY_REFERENCE ?? "../shared/reference"}/data`;
const V = "/apis/kamaji.clastix.io/v1alpha1";
const STORES = `${V}/datastores`;
const TENANTS = `${V}/namespaces/default/tenantcontrolplanes`;
const GENERATORS = `${V}/kubeconfiggenerators`;

const documents = (folder: string): { kind: string; metadata: { name: string } }[] =>
  readdirSync(folder).flatMap((file) => loadAll(readFileSync(`${folder}/${file}`, "utf8")) as never[]);

let cluster: Cluster;
before(async () => {
  if (skip) return;
  cluster = await startCluster();
  // Where they are at hand, Kamaji's own definitions are there first, as on a cluster that moves to Slipway.
  if (existsSync(DATA))
    for (const crd of documents(`${DATA}/crds/kamaji`))
      await cluster.client.create(CustomResourceDefinition, crd as never);
  await installCrds(cluster.client, clock, new AbortController().signal, KAMAJI_KINDS);
  await until(
    "our rules are served",
    async () => {
      const wrong = tenant({ kubernetes: { version: "1" } });
      const { body } = await cluster.transport.request({ ...wrong, query: { dryRun: "All" } });
      return JSON.stringify(body).includes("not a version of Kubernetes");
    },
    60_000,
  );
});
after(() => cluster?.close());

type Post = Pick<ApiRequest, "method" | "path" | "body">;
const post = (path: string, kind: string, spec: unknown, name = "a"): Post => ({
  ...{ method: "POST", path },
  body: { apiVersion: "kamaji.clastix.io/v1alpha1", kind, metadata: { name }, spec },
});
const tenant = (over: object, name?: string): Post =>
  post(TENANTS, "TenantControlPlane", overlaid(shortestTenant, over), name);
const net = (networkProfile: object): Post => tenant({ networkProfile });
const nodePort = { controlPlane: { service: { serviceType: "NodePort" } } };
const bytes = { content: "eA==" };

const requests: Post[] = [
  tenant({}),
  tenant({}, "1a"),
  tenant({ kubernetes: { version: "v1.34" } }),
  tenant({ addons: { konnectivity: {} } }),
  tenant({ addons: { konnectivity: { agent: { replicas: 2 } } } }),
  tenant({ controlPlane: { ingress: {}, gateway: {} } }),
  tenant({ controlPlane: { deployment: { resources: { apiServer: { limits: { cpu: "much" } } } } } }),
  tenant({ controlPlane: { deployment: { additionalContainers: [{ name: "a", image: "b", ports: [{}] }] } } }),
  tenant({ kubernetes: { kubelet: { preferredAddressTypes: ["Hostname", "Hostname"] } } }),
  tenant({ ...nodePort, networkProfile: { loadBalancerClass: "x", loadBalancerSourceRanges: ["192.0.2.0/24"] } }),
  tenant({ controlPlane: { service: { serviceType: "ClusterIP", allocateLoadBalancerNodePorts: true } } }),
  net({ serviceCidr: "", podCidr: "" }),
  net({ serviceCidr: "10.96.0.1", podCidrs: ["a"] }),
  net({ podCidr: "10.0.0.0/8" }),
  net({ serviceCidrs: ["10.96.0.0/16", "fd00::/108"], dnsServiceIPs: ["fd00::10", "10.97.0.1"] }),
  net({ serviceCidr: "", dnsServiceIPs: ["10.96.0.10"] }),
  net({ advertiseAddress: "a.example.com", clusterDomain: "local" }),
  net({ loadBalancerSourceRanges: ["192.0.2.1"] }),
  post(STORES, "DataStore", { driver: "etcd", endpoints: ["a:1"] }),
  post(STORES, "DataStore", { driver: "MySQL", endpoints: ["a:1"] }),
  post(STORES, "DataStore", { driver: "NATS", endpoints: ["a:1"], basicAuth: { username: bytes, password: bytes } }),
  post(STORES, "DataStore", { driver: "NATS", endpoints: [], basicAuth: { username: {}, password: {} } }),
  post(GENERATORS, "KubeconfigGenerator", { user: { stringValue: "a" } }),
  post(GENERATORS, "KubeconfigGenerator", { user: {}, groups: [{ stringValue: "a", fromDefinition: "b" }] }),
];

/** What an answer says of the body: its spec as it would be stored, or the causes of the refusal. */
function said({ status, body }: ApiAnswer): unknown {
  const { spec, details } = body as { spec?: unknown; details?: { causes?: { field: string; message: string }[] } };
  return status < 400 ? spec : (details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`).sort();
}

test("kube-apiserver takes and refuses what the embedded API does, with the same defaults and the same words", {
  skip,
}, async () => {
  const api = await kamajiApi();
  for (const request of requests) {
    const [real, embedded] = await Promise.all(
      [cluster.transport.request, api.send].map((send) => send({ ...request, query: { dryRun: "All" } })),
    );

    assert.deepEqual(said(real!), said(embedded!), JSON.stringify(request.body));
  }
  await api.close();
});

test("Kamaji's examples apply on kube-apiserver", { skip: skip || !existsSync(DATA) }, async () => {
  const paths: Record<string, string> = { DataStore: STORES, TenantControlPlane: TENANTS };
  const answers = new Map<string, number>();
  for (const body of documents(`${DATA}/examples/kamaji`)) {
    const path = paths[body.kind];
    if (path === undefined) continue;
    answers.set(body.metadata.name, (await cluster.transport.request({ method: "POST", path, body })).status);
  }

  // The last is of an earlier shape, which Kamaji's own definition refuses too.
  assert.deepEqual(Object.fromEntries(answers), { etcd: 201, "k8s-133": 201, "konnectivity-addon": 422 });
});
