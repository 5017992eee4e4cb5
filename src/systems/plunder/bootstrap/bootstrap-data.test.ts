import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Cache, Client, Context } from "@slipway/kube";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { Journal } from "../../../machines/lifecycle.ts";
import { createAuthority } from "../../../pki/authority.ts";
import type { Plunder } from "../shared.ts";
import { bootstrapDataOf, needsToken, ownDataGate } from "./bootstrap-data.ts";

const owner = (dataSecretName: string) => ({ spec: { bootstrap: { dataSecretName } } }) as unknown as Machine;
const cluster = (status: object) => ({ status }) as unknown as Cluster;
const ORDERED = { purchase: { state: "Made" } } as unknown as Journal;
const INITIALIZED = cluster({ initialization: { controlPlaneInitialized: true } });

test("N39 a machine's token is kept under upstream's core, too, which says by a condition alone that the control plane has begun", () => {
  const byCondition = cluster({ conditions: [{ type: "ControlPlaneInitialized", status: "True" }] });
  for (const begun of [INITIALIZED, byCondition])
    assert.equal(needsToken({ owner: owner(""), cluster: begun }, ORDERED), true);
  assert.equal(needsToken({ owner: owner(""), cluster: cluster({}) }, ORDERED), false, "there is nothing to join");
});

test("N39 no token is made for a machine whose data are its own, or before a host is ordered", () => {
  assert.equal(needsToken({ owner: owner("given"), cluster: INITIALIZED }, ORDERED), false);
  assert.equal(needsToken({ owner: owner(""), cluster: INITIALIZED }, { purchase: undefined } as Journal), false);
});

const CONTROL_PLANE = { "cluster.x-k8s.io/control-plane": "" };
const machineOf = (name: string, metadata: object = {}): Machine =>
  ({
    metadata: { namespace: "shop", name, uid: `uid-${name}`, creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
    spec: { clusterName: "c1", version: "v1.34.0", bootstrap: { dataSecretName: "" } },
  }) as unknown as Machine;
const ENDPOINT = { host: "10.0.0.9", port: 6443 };
const clusterOf = (spec: object = {}, status: object = {}): Cluster =>
  ({
    metadata: { namespace: "shop", name: "c1", uid: "uid-c" },
    spec: { controlPlaneEndpoint: ENDPOINT, ...spec },
    status,
  }) as unknown as Cluster;
const BEGUN = { initialization: { controlPlaneInitialized: true } };

/** The data of a worker: with what the workload cluster is given, and what is kept out of logs. */
async function worker(of: { cluster?: Cluster; ca?: string; why?: string; owner?: Machine } = {}) {
  const { cluster = clusterOf({}, BEGUN), ca, why, owner = machineOf("w1") } = of;
  const clock = new VirtualClock();
  const secrets: { type: string; stringData?: object; data?: object }[] = [];
  const hidden: string[] = [];
  const workload = {
    list: async () => ({ items: [] }),
    create: async (_: object, secret: (typeof secrets)[number]) => void secrets.push(secret),
  } as unknown as Client;
  const plunder = {
    workloads: { of: () => (why === undefined ? { client: workload } : { why }) },
    random: cryptoRandom,
    onSecret: (value: string) => void hidden.push(value),
  } as unknown as Plunder;
  const client = {
    find: async () => (ca === undefined ? undefined : { data: { "tls.crt": Buffer.from(ca).toString("base64") } }),
  } as unknown as Client;
  const context = { client, clock } as unknown as Context;
  const data = await bootstrapDataOf(plunder, context, { owner, cluster, address: undefined });
  return { data, secrets, hidden };
}

test("N39 a worker's data join the cluster by a token that is made there, and its secret is kept out of logs", async () => {
  const { certificatePem: ca } = await createAuthority({ commonName: "kubernetes", clock: new VirtualClock() });
  const { data, secrets, hidden } = await worker({ ca });
  assert.equal(secrets.length, 1);
  assert.equal(secrets[0]!.type, "bootstrap.kubernetes.io/token");
  assert.match(data, /kubeadm join/);
  assert.match(data, /10\.0\.0\.9:6443/);
  assert.match(data, /sha256:[0-9a-f]{64}/);
  assert.match(data, /kubeadm\.k8s\.io\/v1beta4/);
  const old = machineOf("w0");
  delete old.spec.version;
  assert.match((await worker({ ca, owner: old })).data, /kubeadm\.k8s\.io\/v1beta2/, "the version of 2019");
  assert.equal(hidden.length, 1);
  assert.ok(data.includes(`.${hidden[0]}`), "the token is in the data");
});

test("N39 a worker's data are not made without an endpoint, the authority's certificate or an API that answers", async () => {
  const { certificatePem: ca } = await createAuthority({ commonName: "kubernetes", clock: new VirtualClock() });
  for (const [of, code, message] of [
    [{ ca, cluster: clusterOf({ controlPlaneEndpoint: undefined }) }, "MissingInput", /controlPlaneEndpoint is empty/],
    [{}, "MissingInput", /^Secret\/shop\/c1-ca: there is no tls\.crt/],
    [{ ca, why: "it is new" }, "Unavailable", /its API can't be asked: it is new/],
  ] as const)
    await assert.rejects(worker(of), { code, message });
});

test("N39 the oldest machine that stays begins a control plane; others wait, and an object's control plane is its own", () => {
  const old = machineOf("z-old", { labels: CONTROL_PLANE });
  const young = machineOf("a-young", { labels: CONTROL_PLANE, creationTimestamp: "2026-01-02T00:00:00Z" });
  const cache = (...machines: Machine[]) => ({ list: () => machines }) as unknown as Cache;
  const waits = (owner: Machine, of: { cluster?: Cluster; machines?: Machine[] } = {}) =>
    ownDataGate(cache(...(of.machines ?? [young, old])), { owner, cluster: of.cluster ?? clusterOf() })?.reason;
  assert.equal(waits(old), undefined);
  assert.equal(waits(young), "WaitingForControlPlane");
  const leaving = machineOf("z-old", { labels: CONTROL_PLANE, deletionTimestamp: "2026-01-03T00:00:00Z" });
  assert.equal(waits(young, { machines: [leaving, young] }), undefined);
  const elder = { creationTimestamp: "2025-01-01T00:00:00Z" };
  const other = machineOf("of-another-cluster", { labels: CONTROL_PLANE, ...elder });
  other.spec.clusterName = "c2";
  assert.equal(waits(old, { machines: [other, machineOf("w0", elder), old] }), undefined);
  assert.equal(waits(machineOf("w1"), { machines: [machineOf("w1")] }), "WaitingForControlPlane");
  assert.equal(waits(machineOf("w1"), { cluster: clusterOf({}, BEGUN) }), undefined);
  const noEndpoint = clusterOf({ controlPlaneEndpoint: { host: "", port: 0 } });
  assert.equal(waits(old, { cluster: noEndpoint }), "WaitingForControlPlaneEndpoint");
  const controlPlaneRef = { kind: "KubeadmControlPlane", name: "cp" };
  assert.equal(waits(old, { cluster: clusterOf({ controlPlaneRef }) }), "WaitingForBootstrapData");
  assert.equal(waits(machineOf("w1"), { cluster: clusterOf({ controlPlaneRef }, BEGUN) }), undefined);
  assert.equal(waits(owner("given"), { cluster: noEndpoint }), undefined);
});
