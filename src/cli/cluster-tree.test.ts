import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client, KubeObject } from "@slipway/kube";
import { readCluster } from "./cluster-description.ts";
import { clusterLines } from "./cluster-tree.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const CHANGED = "2026-01-01T00:57:00Z";

interface Shown {
  type?: string;
  status?: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
}
const conditions = ({ type = "Ready", status = "True", reason = "Ready", message = "" }: Shown = {}) => [
  { type, status, reason, message, lastTransitionTime: CHANGED },
];
const reference = (kind: string, name: string) => ({ apiGroup: "infrastructure.cluster.x-k8s.io", kind, name });
const owner = (kind: string, name: string) => [
  { apiVersion: "cluster.x-k8s.io/v1beta2", kind, name, uid: `uid-${name}`, controller: true },
];
const named = (name: string, more: object = {}) => ({ name, namespace: "default", uid: `uid-${name}`, ...more });

function machine(name: string, shown: Shown = {}, metadata: object = { ownerReferences: owner("MachineSet", "a-x") }) {
  return {
    metadata: named(name, metadata),
    spec: {
      infrastructureRef: reference("PacketMachine", name),
      bootstrap: { configRef: reference("KubeadmConfig", name) },
    },
    status: { conditions: conditions(shown) },
  };
}

const DEFINITIONS = ["packetclusters", "kamajicontrolplanes", "packetmachines"];
const waits = (name: string, waitingFor?: string) => ({ metadata: named(name), spec: {}, status: { waitingFor } });

/** A cluster with one MachineDeployment, and these Machines; its providers' objects are these. */
async function drawn(machines: readonly object[], external: Readonly<Record<string, readonly object[]>>, each = false) {
  const counts = { replicas: 2, availableReplicas: 1, readyReplicas: 2, upToDateReplicas: 2 };
  const cluster = {
    metadata: named("quick"),
    spec: {
      infrastructureRef: reference("PacketCluster", "quick"),
      controlPlaneRef: reference("KamajiControlPlane", "plane"),
    },
    status: {
      conditions: conditions({ type: "Available", reason: "Available" }),
      controlPlane: { desiredReplicas: 2, ...counts },
      workers: { desiredReplicas: 3, ...counts },
    },
  };
  const deployment = {
    metadata: named("a"),
    spec: { replicas: 3 },
    status: {
      ...counts,
      conditions: conditions({
        type: "Available",
        status: "False",
        reason: "NotAvailable",
        message: "1 of 3\n* two more",
      }),
    },
  };
  const set = { metadata: named("a-x", { ownerReferences: owner("MachineDeployment", "a") }), spec: {} };
  const lists: Readonly<Record<string, readonly object[]>> = {
    MachineDeployment: [deployment],
    MachineSet: [set],
    Machine: machines,
    ...external,
  };
  const client = {
    find: async ({ kind }: { kind: string }, { name }: { name: string }) => {
      if (kind === "Cluster") return name === "quick" ? cluster : undefined;
      if (!DEFINITIONS.includes(name.split(".")[0]!)) return undefined;
      return { metadata: { name, labels: { "cluster.x-k8s.io/v1beta1": "v1beta1" } } };
    },
    list: async ({ kind }: { kind: string }) => ({ items: (lists[kind] ?? []) as KubeObject[] }),
  } as unknown as Client;
  return clusterLines(await readCluster(client, { namespace: "default", name: "quick" }), NOW, { each });
}

const PLANE = {
  metadata: named("plane"),
  spec: { replicas: 2 },
  status: {
    ...{ replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2 },
    conditions: conditions({ type: "Available" }),
  },
};

test("a cluster is a tree: Machines in the same state share a row, and what is waited for is said", async () => {
  const failing = { status: "False", reason: "NotReady", message: "* InfrastructureReady: no machine yet" } as const;
  const lines = await drawn([machine("m3", failing), machine("m1"), machine("m2")], {
    PacketCluster: [waits("quick")],
    KamajiControlPlane: [PLANE],
    PacketMachine: [waits("m1"), waits("m2"), waits("m3", "a machine of plan c3: none is free in sv")],
  });
  assert.deepEqual(
    lines.map((line) => line.replaceAll(/(?<=\S) {3,}/g, "  ")),
    [
      "NAME  REPLICAS  AVAILABLE  READY  UP TO DATE  STATUS  REASON  SINCE  MESSAGE",
      "Cluster/quick  4/5  2  4  4  Available: True  Available  3m",
      "├─ClusterInfrastructure - PacketCluster/quick",
      "├─ControlPlane - KamajiControlPlane/plane  2/2  2  2  2  Available: True  Ready  3m",
      "└─Workers",
      "  └─MachineDeployment/a  2/3  1  2  2  Available: False  NotAvailable  3m  1 of 3",
      "    │  * two more",
      "    ├─2 Machines...  Ready: True  Ready  3m  See m1, m2",
      "    └─Machine/m3  Ready: False  NotReady  3m  * InfrastructureReady: no machine yet",
      "      ├─MachineInfrastructure - PacketMachine/m3  a machine of plan c3: none is free in sv",
      "      └─BootstrapConfig - KubeadmConfig/m3  CustomResourceDefinition/kubeadmconfigs.infrastructure.cluster.x-k8s.io: there is none",
    ],
  );
});

test("with --each every Machine has a row, and its objects below it", async () => {
  const lines = await drawn([machine("m1"), machine("m2")], { PacketMachine: [waits("m1")] }, true);
  assert.deepEqual(
    lines.map((line) => line.trim().split(/ {3,}/)[0]).slice(5),
    [
      "└─MachineDeployment/a",
      "│",
      "├─Machine/m1",
      "│ ├─MachineInfrastructure - PacketMachine/m1",
      "│ └─BootstrapConfig - KubeadmConfig/m1",
      "└─Machine/m2",
      "  ├─MachineInfrastructure - PacketMachine/m2",
      "  └─BootstrapConfig - KubeadmConfig/m2",
    ].map((line) => line.trim()),
  );
  assert.match(lines.find((line) => line.includes("PacketMachine/m2"))!, /there is no such object$/);
});

test("Machines of nobody and of the control plane have places of their own; of many the first three are named", async () => {
  const plane = ["p1", "p2", "p3", "p4"].map((name) =>
    machine(name, {}, { labels: { "cluster.x-k8s.io/control-plane": "" } }),
  );
  const lines = await drawn([...plane, machine("alone", {}, { deletionTimestamp: CHANGED })], {
    KamajiControlPlane: [PLANE],
  });
  const at = (text: string) => lines.findIndex((line) => line.includes(text));
  assert.ok(at("ControlPlane - ") < at("4 Machines...") && at("4 Machines...") < at("Workers"));
  assert.match(lines[at("4 Machines...")]!, /See p1, p2, p3, …$/);
  assert.match(lines[at("Machine/alone")]!, /it is being deleted$/);
  assert.ok(at("Other") > at("Workers"));
});

test("a Cluster that does not exist is said with where to look", async () => {
  const client = { find: async () => undefined } as unknown as Client;
  await assert.rejects(readCluster(client, { namespace: "a", name: "b" }), /a\/b: there is no such Cluster/);
});
