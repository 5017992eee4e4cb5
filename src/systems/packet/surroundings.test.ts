import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cache } from "@slipway/kube";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../kinds/cluster-api/machine.ts";
import {
  clusterNameOf,
  gateOf,
  hasJoined,
  isExternallyManaged,
  type Surroundings,
  surroundingsOf,
  wantedOf,
} from "./surroundings.ts";
import { aPacketCluster, aPacketMachine } from "./testing.ts";

const LABEL = "cluster.x-k8s.io/cluster-name";
const machine = (more: object = {}) =>
  ({
    metadata: { name: "m", namespace: "shop", uid: "uid-m" },
    spec: { clusterName: "c1", bootstrap: { dataSecretName: "data" }, failureDomain: "ny" },
    ...more,
  }) as unknown as Machine;
const cluster = (more: object = {}) =>
  ({
    metadata: { name: "c1", namespace: "shop", uid: "uid-c1" },
    spec: { infrastructureRef: { kind: "PacketCluster", name: "cluster-1" } },
    status: { initialization: { infrastructureProvisioned: true } },
    ...more,
  }) as unknown as Cluster;
const around = (more: Partial<Surroundings> = {}): Surroundings => ({
  owner: machine(),
  cluster: cluster(),
  packetCluster: aPacketCluster(),
  ...more,
});

test("A1 a machine waits for its Machine, Cluster, infrastructure, bootstrap data and PacketCluster, in this order", () => {
  const gate = (more: Partial<Surroundings>) => gateOf(around(more));
  assert.equal(gate({}), undefined);
  assert.deepEqual(gate({ owner: undefined, cluster: undefined }), {
    reason: "WaitingForMachine",
    what: "a Machine to own it",
  });
  assert.deepEqual(gate({ cluster: undefined, packetCluster: undefined }), {
    reason: "WaitingForCluster",
    what: "Cluster c1 to exist",
  });
  const bare = machine({ spec: { clusterName: "c1", bootstrap: {} } });
  for (const status of [undefined, {}, { initialization: { infrastructureProvisioned: false } }])
    assert.equal(gate({ cluster: cluster({ status }), owner: bare })?.reason, "WaitingForClusterInfrastructure");
  assert.equal(gate({ owner: bare, packetCluster: undefined })?.reason, "WaitingForBootstrapData");
  assert.equal(gate({ packetCluster: undefined })?.reason, "WaitingForPacketCluster");
});

test("an object belongs to the cluster of its label, else of its Machine, else of its owner", () => {
  const owners = [{ apiVersion: "cluster.x-k8s.io/v1beta1", kind: "Cluster", name: "owner", uid: "u" }];
  const labelled = aPacketMachine({}, undefined, { labels: { [LABEL]: "label" }, ownerReferences: owners });
  assert.equal(clusterNameOf(labelled, machine()), "label");
  assert.equal(clusterNameOf(aPacketMachine({}, undefined, { ownerReferences: owners }), machine()), "c1");
  assert.equal(clusterNameOf(aPacketMachine({}, undefined, { ownerReferences: owners }), undefined), "owner");
  assert.equal(clusterNameOf(aPacketMachine(), undefined), undefined);
});

/** A cache of these objects, by kind and name. */
function cacheOf(objects: Record<string, unknown>, indexed: Record<string, unknown[]> = {}): Cache {
  return {
    get: ({ kind }: { kind: string }, { namespace, name }: { namespace: string; name: string }) =>
      objects[`${kind} ${namespace}/${name}`],
    byIndex: ({ kind }: { kind: string }, index: string, key: string) => indexed[`${kind} ${index} ${key}`] ?? [],
  } as unknown as Cache;
}

test("B37 the PacketCluster is the one that the Cluster refers to, else the one that says it is of the cluster", () => {
  const byReference = aPacketCluster();
  const byLabel = aPacketCluster({}, undefined, { name: "other" });
  const owned = [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Machine", name: "m", uid: "uid-m" }];
  const object = aPacketMachine({}, undefined, { labels: { [LABEL]: "c1" }, ownerReferences: owned });
  const objects = {
    "Machine shop/m": machine(),
    "Cluster shop/c1": cluster(),
    "PacketCluster shop/cluster-1": byReference,
  };
  const indexed = { "PacketCluster cluster shop/c1": [byLabel] };
  const all = surroundingsOf(cacheOf(objects, indexed), object);
  assert.deepEqual([all.owner?.metadata.name, all.cluster?.metadata.name, all.packetCluster], ["m", "c1", byReference]);
  const foreign = cluster({ spec: { infrastructureRef: { kind: "OtherCluster", name: "cluster-1" } } });
  assert.equal(
    surroundingsOf(cacheOf({ ...objects, "Cluster shop/c1": foreign }, indexed), object).packetCluster,
    byLabel,
  );
  const alone = surroundingsOf(cacheOf({ "PacketCluster shop/cluster-1": byReference }, indexed), object);
  assert.deepEqual([alone.owner, alone.cluster, alone.packetCluster], [undefined, undefined, byLabel]);
  assert.equal(surroundingsOf(cacheOf({}, indexed), aPacketMachine()).packetCluster, undefined);
});

test("what is ordered: by the Machine's failure domain, and as control plane by the label of Machine or object", () => {
  const wanted = wantedOf(aPacketMachine(), around());
  assert.deepEqual(
    [wanted.names, wanted.isControlPlane, wanted.failureDomain],
    [{ namespace: "shop", cluster: "c1", machine: "worker-1" }, false, "ny"],
  );
  const label = { "cluster.x-k8s.io/control-plane": "" };
  const head = machine({ metadata: { name: "m", namespace: "shop", uid: "u", labels: label } });
  assert.equal(wantedOf(aPacketMachine(), around({ owner: head })).isControlPlane, true);
  assert.equal(
    wantedOf(aPacketMachine({}, undefined, { labels: label }), around({ owner: undefined })).isControlPlane,
    true,
  );
  assert.equal(wantedOf(aPacketMachine(), around({ owner: undefined })).names.cluster, "");
});

test("a Machine has joined once it has its Node; a PacketCluster is another's by its annotation alone", () => {
  assert.equal(hasJoined(around()), false);
  assert.equal(hasJoined(around({ owner: undefined })), false);
  assert.equal(hasJoined(around({ owner: machine({ status: { nodeRef: { name: "n" } } }) })), true);
  assert.equal(isExternallyManaged(aPacketCluster()), false);
  assert.equal(
    isExternallyManaged(aPacketCluster({}, undefined, { annotations: { "cluster.x-k8s.io/managed-by": "" } })),
    true,
  );
});
