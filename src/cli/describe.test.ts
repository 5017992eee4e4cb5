import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client, Transport } from "@slipway/kube";
import { TenantControlPlane } from "../kinds/kamaji/tenant-control-plane.ts";
import { createAuthority, issueClient } from "../pki/authority.ts";
import { kubeconfig } from "../pki/kubeconfig.ts";
import { describedBy } from "./describe.ts";
import { readTenant } from "./tenant-description.ts";
import { tenantLines } from "./tenant-lines.ts";

const NOW = Date.UTC(2026, 0, 1);
const encoded = (text: string): string => Buffer.from(text).toString("base64");

/** A cluster with one tenant that has its administrator's kubeconfig, and a way into the tenant that answers so. */
async function scene(
  status: object,
  answers: Readonly<Record<string, object>> = {},
  annotations: object = { "slipway.dev/runs-on": "process" },
  storeConditions: readonly object[] = [
    { type: "V", status: "False", reason: "Unavailable", message: "connection refused" },
  ],
) {
  const clock = new VirtualClock(NOW);
  const authority = await createAuthority({ commonName: "kubernetes", clock });
  const admin = await issueClient(authority, { commonName: "admin", organizations: [], clock });
  const server = "https://10.0.0.1:6443";
  const { certificatePem: clientCertPem, keyPem: clientKeyPem } = admin;
  const conf = kubeconfig({ name: "a", server, caPem: authority.certificatePem, clientCertPem, clientKeyPem });
  const tenant = {
    metadata: {
      ...{ namespace: "tenants", name: "a", creationTimestamp: "2025-12-31T21:00:00Z" },
      annotations,
    },
    spec: { dataStore: "default", kubernetes: { version: "v1.36.3" } },
    status: { kubeconfig: { admin: { secretName: "a-admin-kubeconfig" } }, ...status },
  };
  const secrets = [
    { metadata: { name: "a-admin-kubeconfig" }, data: { "admin.conf": encoded(conf) } },
    {
      metadata: { name: "a-ca" },
      data: { "ca.crt": encoded(authority.certificatePem), "tls.crt": encoded(authority.certificatePem) },
    },
    { metadata: { name: "a-broken" }, data: { "x.crt": encoded("-----BEGIN CERTIFICATE-----\nno") } },
  ];
  const store = {
    metadata: { name: "default" },
    status: { ready: false, conditions: storeConditions },
  };
  const client = {
    find: async ({ kind }: { kind: string }, { name }: { name: string }) => {
      if (kind === TenantControlPlane.kind) return name === "a" ? tenant : undefined;
      return store;
    },
    list: async () => ({ items: secrets }),
  } as unknown as Client;
  let closed = 0;
  const open = (): Transport =>
    ({
      async request({ path }: { path: string }) {
        const body = answers[path];
        if (body === undefined) throw new Fault("Unavailable", server, "connection refused");
        return { status: 200, body };
      },
      close: async () => void closed++,
    }) as unknown as Transport;
  const facts = await readTenant(client, { namespace: "tenants", name: "a" }, { clock, open });
  return { client, clock, open, closed, lines: tenantLines(facts, NOW) };
}

const READY = {
  ...{
    controlPlaneEndpoint: "10.0.0.1:6443",
    storage: { driver: "etcd", dataStoreName: "default", setup: { schema: "s", user: "u" } },
  },
  kubernetesResources: { version: { version: "v1.35.0", status: "Upgrading" } },
};
const lease = (name: string, renewTime: string) => ({
  metadata: { name },
  spec: { renewTime, leaseDurationSeconds: 15 },
});
const ANSWERS = {
  "/version": { gitVersion: "v1.35.0" },
  "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases": {
    items: [lease("kube-scheduler", "2025-12-31T23:59:59Z"), lease("kube-controller-manager", "2025-12-31T23:58:00Z")],
  },
  "/apis/apps/v1/namespaces/kube-system/deployments": {
    items: [
      {
        metadata: { name: "coredns" },
        spec: { replicas: 2, template: { spec: { containers: [{ image: "mirror.example:5000/coredns:v1.13.1" }] } } },
        status: { readyReplicas: 1 },
      },
      { metadata: { name: "theirs" } },
    ],
  },
  "/apis/apps/v1/namespaces/kube-system/daemonsets": {
    items: [
      {
        metadata: { name: "kube-proxy" },
        spec: { template: { spec: { containers: [{ image: "mirror.example/kube-proxy:v1.34.0@sha256:ab" }] } } },
        status: { desiredNumberScheduled: 3, numberReady: 3 },
      },
      { metadata: { name: "konnectivity-agent" } },
    ],
  },
  "/api/v1/nodes": {
    items: [
      {
        metadata: { name: "n1" },
        status: { nodeInfo: { kubeletVersion: "v1.34.1" }, conditions: [{ type: "Ready", status: "True" }] },
      },
      { metadata: { name: "n2" }, status: { conditions: [{ type: "Ready", status: "False", message: "no CNI" }] } },
    ],
  },
};

test("a tenant is shown with its state, datastore, components, nodes, and its certificates by their end", async () => {
  const { lines } = await scene(READY, ANSWERS);
  const text = lines.join("\n");
  assert.match(text, /^TenantControlPlane tenants\/a\n {2}State {7}Upgrading, v1.35.0, v1.36.3 is wanted\n/);
  assert.match(text, /Runs on {5}process\n {2}Endpoint {4}10.0.0.1:6443\n {2}Age {9}3h\n/);
  assert.match(text, /DataStore {5}default \(etcd\): not ready: connection refused\n {2}Schema {6}s\n {2}User {8}u\n/);
  assert.match(
    text,
    /kube-apiserver {11}ready, v1.35.0\n {2}kube-controller-manager {2}was last seen 120 s ago, v1.35.0\n {2}kube-scheduler {11}ready, v1.35.0\n/,
  );
  assert.match(
    text,
    /Add-ons\n {2}coredns {18}1 of 2 ready, v1.13.1\n {2}kube-proxy {15}3 of 3 ready, v1.34.0\n {2}konnectivity-agent {7}0 of 0 ready\nNodes\n/,
  );
  assert.match(text, /n1 +Ready +v1.34.1\n {2}n2 +NotReady: no CNI\n/);
  const certificates = lines.slice(lines.findIndex((line) => line.startsWith("Certificates")) + 2);
  assert.deepEqual(certificates.map((line) => line.trim().split(/ {2,}/).slice(0, 2)).sort(), [
    ["a-admin-kubeconfig", "admin.conf"],
    ["a-broken", "x.crt"],
    ["a-ca", "ca.crt"],
  ]);
  assert.match(certificates.join("\n"), /a-broken +x.crt +can't be read/);
});

test("what it waits for and since when comes first, and an API that does not answer is said", async () => {
  const { lines } = await scene({
    waitingFor: "DataStore/default: there is none",
    waitingSince: "2025-12-31T23:00:00Z",
    conditions: [{ type: "Stalled", status: "True", reason: "x", message: "" }],
  });
  assert.match(
    lines.join("\n"),
    /State {7}not started, no version, v1.36.3 is wanted\n {2}Stalled {5}since 1h: DataStore\/default: there is none\n/,
  );
  assert.match(lines.join("\n"), /Components {4}https:\/\/10.0.0.1:6443 does not answer: .*connection refused/);
  assert.match(lines.join("\n"), /DataStore {5}default: nothing of the tenant is there yet/);
});

test("why a datastore is not ready is the first condition that is false and says so; that it is used is no reason", async () => {
  const because = async (...conditions: object[]) => {
    const { lines } = await scene(READY, ANSWERS, {}, conditions);
    return lines.find((line) => line.startsWith("DataStore"));
  };
  const [used, silent, told] = [
    { type: "A", status: "False", reason: "Used", message: "tenants use it" },
    { type: "B", status: "False", reason: "Down", message: "" },
    { type: "C", status: "False", reason: "Down", message: "no route" },
  ];
  assert.equal(await because(used, silent, told), "DataStore     default (etcd): not ready: no route");
  assert.equal(await because(used, silent), "DataStore     default (etcd): not ready");
  assert.equal(await because({ ...told, status: "True" }), "DataStore     default (etcd): not ready");
});

test("one that is not there, and what is no tenant, is refused with what to write", async () => {
  const { client, clock, open } = await scene({});
  await assert.rejects(readTenant(client, { namespace: "tenants", name: "b" }, { clock, open }), (error) =>
    isFault(error, "NotFound"),
  );
  assert.equal(describedBy("tcp/a").name, "a");
  assert.equal(describedBy("TenantControlPlane/tenants/a").name, "tenants/a");
  assert.equal(describedBy("cluster/a").name, "a");
  for (const wrong of ["a", "pod/a", "tcp"])
    assert.throws(
      () => describedBy(wrong),
      (error) => isFault(error, "BadRequest") && /write tcp\/NAME/.test(error.advice),
    );
});

test("the way into the tenant is closed again, whether it answers or not", async () => {
  assert.equal((await scene(READY, ANSWERS)).closed, 1);
  assert.equal((await scene(READY)).closed, 1);
});

test("what a tenant's database has not set up yet is left empty", async () => {
  const { lines } = await scene({ storage: { driver: "etcd", dataStoreName: "default" } });
  assert.ok(lines.includes("  Schema      ") && lines.includes("  User        "), lines.join("\n"));
});

test("a component that does not say how long its lease lasts is ready for twice Kubernetes' 15 seconds", async () => {
  const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  const led = (renewTime: string) => ({ metadata: { name: "kube-scheduler" }, spec: { renewTime } });
  const line = async (renewTime: string) => {
    const { lines } = await scene(READY, { ...ANSWERS, [path]: { items: [led(renewTime)] } });
    return lines.find((one) => one.includes("kube-scheduler"))?.replace(/.*kube-scheduler +/, "");
  };
  assert.equal(await line("2025-12-31T23:59:30Z"), "ready, v1.35.0");
  assert.equal(await line("2025-12-31T23:59:29Z"), "was last seen 31 s ago, v1.35.0");
});

test("an embedded tenant has no other programs, one that sleeps is not asked, and one that never started says why by its fields", async () => {
  const embedded = (state: string) => ({
    kubernetesResources: { version: { version: "v1.36.3", status: state } },
  });
  const annotations = { "slipway.dev/runs-on": "embedded" };
  const { lines } = await scene(embedded("Ready"), ANSWERS, annotations);
  assert.ok(lines.includes("  kube-scheduler           none: an embedded API has no such program"));
  assert.ok(lines.includes("DataStore     none: the runtime keeps its objects"));
  const asleep = await scene(embedded("Sleeping"), ANSWERS, annotations);
  assert.ok(
    asleep.lines.includes(
      "Components    none run: it sleeps; kubectl scale tcp a --namespace tenants --replicas 1 wakes it",
    ),
  );
  const waitingFor = "TenantControlPlane/a: spec.networkProfile.certSANs[0]: no DNS name; correct the specification";
  const never = await scene({ waitingFor }, {}, annotations);
  assert.deepEqual(never.lines.slice(1, 3), [
    "  State       not started, no version, v1.36.3 is wanted",
    "  Waiting     spec.networkProfile.certSANs[0]: no DNS name; correct the specification",
  ]);
});

test("each certificate has the time when it ends, and how long that is away", async () => {
  const { lines } = await scene(READY, ANSWERS);
  const [head, ...rows] = lines.slice(lines.findIndex((line) => line.startsWith("Certificates")) + 1);
  assert.deepEqual(head?.trim().split(/ {2,}/), ["SECRET", "KEY", "ENDS", "LEFT"]);
  const row =
    rows
      .find((line) => line.includes("a-ca"))
      ?.trim()
      .split(/ {2,}/) ?? [];
  assert.match(row[2] ?? "", /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(row[3] ?? "", /^\d+d(\d+h)?$/);
});

test("a tenant's nodes are a table with what each column is", async () => {
  const { lines } = await scene(READY, ANSWERS);
  const head = lines[lines.indexOf("Nodes") + 1];
  assert.deepEqual(head?.trim().split(/ {2,}/), ["NAME", "STATUS", "KUBELET"]);
});

test("a tenant that has no kubeconfig yet is not asked, and says so", async () => {
  const { lines, closed } = await scene({ kubeconfig: {} });
  assert.ok(lines.includes("Components    it has no kubeconfig yet"), lines.join("\n"));
  assert.equal(closed, 0);
});
