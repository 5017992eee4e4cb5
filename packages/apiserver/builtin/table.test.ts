import assert from "node:assert/strict";
import { test } from "node:test";
import { EXTRAS } from "../extras.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { builtinResources } from "./resources.ts";

/** The core's, and those of the extras. */
const ALL = [...builtinResources(), ...EXTRAS.flatMap(({ resources = [] }) => resources)];

import { toTable } from "./table.ts";

const NOW = Date.parse("2024-01-01T01:00:00Z");
const BORN = "2024-01-01T00:55:00Z";

function served(kind: string, group?: string): ServedResource {
  return ALL.find((r) => r.kind === kind && (group === undefined || r.group === group))!;
}

function object(kind: string, parts: Record<string, unknown>, metadata: Record<string, unknown> = {}): Body {
  return {
    apiVersion: "v1",
    kind,
    metadata: { name: "x", creationTimestamp: BORN, ...metadata },
    ...parts,
  } as unknown as Body;
}

/** What `kubectl get` shows: column names and one row of cells. `wide` adds the others. */
function printed(resource: ServedResource, body: Body, wide = false): Record<string, unknown> {
  const table = toTable(resource, [body], { now: NOW });
  const shown = table.columnDefinitions!.map((c, i) => [c.name, table.rows[0]!.cells[i], c.priority] as const);
  return Object.fromEntries(
    shown.filter(([, , priority]) => wide || priority === 0).map(([name, cell]) => [name, cell]),
  );
}

const ROWS: [rule: string, resource: ServedResource, body: Body, cells: Record<string, unknown>][] = [
  [
    "a ready Node with a role, cordoned",
    served("Node"),
    object(
      "Node",
      {
        spec: { unschedulable: true },
        status: { conditions: [{ type: "Ready", status: "True" }], nodeInfo: { kubeletVersion: "v1.30.0" } },
      },
      { labels: { "node-role.kubernetes.io/worker": "" } },
    ),
    { Name: "x", Status: "Ready,SchedulingDisabled", Roles: "worker", Age: "5m", Version: "v1.30.0" },
  ],
  [
    "a Node that says nothing yet",
    served("Node"),
    object("Node", {}),
    { Name: "x", Status: "Unknown", Roles: "<none>", Age: "5m", Version: "" },
  ],
  [
    "a Secret counts its keys",
    served("Secret"),
    object("Secret", { type: "Opaque", data: { a: "", b: "" } }),
    { Name: "x", Type: "Opaque", Data: 2, Age: "5m" },
  ],
  [
    "a Service lists ports with node ports",
    served("Service"),
    object("Service", {
      spec: {
        type: "LoadBalancer",
        clusterIP: "10.96.0.9",
        ports: [
          { port: 80, nodePort: 30080, protocol: "TCP" },
          { port: 53, protocol: "UDP" },
        ],
      },
    }),
    {
      Name: "x",
      Type: "LoadBalancer",
      "Cluster-IP": "10.96.0.9",
      "External-IP": "<pending>",
      "Port(s)": "80:30080/TCP,53/UDP",
      Age: "5m",
    },
  ],
  [
    "a Deployment shows ready of wanted",
    served("Deployment"),
    object("Deployment", {
      spec: { replicas: 3 },
      status: { readyReplicas: 1, updatedReplicas: 3, availableReplicas: 1 },
    }),
    { Name: "x", Ready: "1/3", "Up-to-date": 3, Available: 1, Age: "5m" },
  ],
  [
    "an Event has no name in front",
    served("Event", ""),
    object("Event", {
      type: "Normal",
      reason: "Bought",
      message: "m\n",
      lastTimestamp: "2024-01-01T00:59:00Z",
      firstTimestamp: BORN,
      count: 3,
      involvedObject: { kind: "Node", name: "n" },
    }),
    { "Last Seen": "60s", Type: "Normal", Reason: "Bought", Object: "node/n", Message: "m" },
  ],
  [
    "an Event of events.k8s.io prints the same",
    served("Event", "events.k8s.io"),
    object("Event", {
      type: "Normal",
      reason: "Bought",
      note: "m",
      eventTime: BORN,
      series: { count: 4, lastObservedTime: "2024-01-01T00:59:30.000000Z" },
      regarding: { kind: "Node", name: "n" },
    }),
    { "Last Seen": "30s (x4 over 5m)", Type: "Normal", Reason: "Bought", Object: "node/n", Message: "m" },
  ],
  [
    "a Lease names its holder",
    served("Lease"),
    object("Lease", { spec: { holderIdentity: "me" } }),
    { Name: "x", Holder: "me", Age: "5m" },
  ],
  [
    "a budget prints what is not set as N/A",
    served("PodDisruptionBudget"),
    object("PodDisruptionBudget", { spec: { maxUnavailable: "50%" }, status: { disruptionsAllowed: 2 } }),
    { Name: "x", "Min Available": "N/A", "Max Unavailable": "50%", "Allowed Disruptions": 2, Age: "5m" },
  ],
  [
    "a role prints when it was made",
    served("ClusterRole"),
    object("ClusterRole", {}),
    { Name: "x", "Created At": BORN },
  ],
];

for (const [rule, resource, body, cells] of ROWS)
  test(`kubectl get: ${rule}`, () => assert.deepEqual(printed(resource, body), cells));

const running = { name: "a", ready: true, restartCount: 0, state: { running: {} } };
const PODS: [
  rule: string,
  spec: object,
  status: object,
  metadata: object,
  cells: [ready: string, status: string, restarts: string],
][] = [
  ["pending", { containers: [{}] }, { phase: "Pending" }, {}, ["0/1", "Pending", "0"]],
  ["running", { containers: [{}] }, { phase: "Running", containerStatuses: [running] }, {}, ["1/1", "Running", "0"]],
  [
    "waiting for a reason",
    { containers: [{}] },
    { phase: "Pending", containerStatuses: [{ state: { waiting: { reason: "ImagePullBackOff" } } }] },
    {},
    ["0/1", "ImagePullBackOff", "0"],
  ],
  [
    "ended with a code",
    { containers: [{}] },
    { phase: "Failed", containerStatuses: [{ state: { terminated: { exitCode: 3 } } }] },
    {},
    ["0/1", "ExitCode:3", "0"],
  ],
  [
    "restarted a minute ago",
    { containers: [{}] },
    {
      phase: "Running",
      containerStatuses: [
        { ...running, restartCount: 2, lastState: { terminated: { finishedAt: "2024-01-01T00:59:00Z" } } },
      ],
    },
    {},
    ["1/1", "Running", "2 (60s ago)"],
  ],
  [
    "at its second init container",
    { containers: [{}], initContainers: [{}, {}] },
    {
      phase: "Pending",
      initContainerStatuses: [{ state: { terminated: { exitCode: 0 } } }, { state: { running: {} } }],
    },
    {},
    ["0/1", "Init:1/2", "0"],
  ],
  [
    "being deleted",
    { containers: [{}] },
    { phase: "Running", containerStatuses: [running] },
    { deletionTimestamp: BORN },
    ["1/1", "Terminating", "0"],
  ],
  ["evicted", { containers: [{}] }, { phase: "Failed", reason: "Evicted" }, {}, ["0/1", "Evicted", "0"]],
];

for (const [rule, spec, status, metadata, [ready, word, restarts]] of PODS) {
  test(`kubectl get pods: a Pod ${rule}`, () => {
    const { Ready, Status, Restarts } = printed(
      served("Pod"),
      object("Pod", { spec, status }, metadata as Record<string, unknown>),
    );
    assert.deepEqual([Ready, Status, Restarts], [ready, word, restarts]);
  });
}

const custom: ServedResource = {
  ...served("Lease"),
  columns: [
    { name: "Ready", type: "string", value: { jsonPath: '.status.conditions[?(@.type=="Ready")].status' } },
    { name: "Count", type: "integer", value: { jsonPath: ".spec.count" } },
    { name: "On", type: "boolean", value: { jsonPath: ".spec.on" }, priority: 1 },
    { name: "Since", type: "date", value: { jsonPath: ".metadata.creationTimestamp" } },
    { name: "Odd", type: "date", value: { jsonPath: ".spec.count" } },
    { name: "Tags", type: "string", value: { jsonPath: ".spec.tags" } },
  ],
};

test("columns of a CustomResourceDefinition are found by JSONPath and printed by type", () => {
  const body = object("X", {
    spec: { count: 3, on: false, tags: ["a"] },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  });
  assert.deepEqual(printed(custom, body, true), {
    Name: "x",
    Ready: "True",
    Count: 3,
    On: false,
    Since: "5m",
    Odd: null,
    Tags: '["a"]',
  });
  assert.deepEqual(printed(custom, object("X", {})), {
    Name: "x",
    Ready: null,
    Count: null,
    Since: "5m",
    Odd: null,
    Tags: null,
  });
});

test("kubectl get apiservices: whether a service answers, and why it does not", () => {
  const available = (...conditions: object[]): unknown =>
    printed(served("APIService"), object("APIService", { status: { conditions } })).Available;
  assert.equal(available(), "Unknown");
  assert.equal(available({ type: "Available", status: "True", reason: "Passed" }), "True");
  assert.equal(
    available({ type: "Available", status: "False", reason: "MissingEndpoints" }),
    "False (MissingEndpoints)",
  );
});

test("a number that is not there yet is printed as 0", () => {
  const { Desired, Ready } = printed(served("DaemonSet"), object("DaemonSet", { status: { numberReady: 2 } }));
  assert.deepEqual([Desired, Ready], [0, 2]);
});

test("a row carries what was asked for", () => {
  const body = object("Lease", { spec: {} });
  const carried = (includeObject: "None" | "Metadata" | "Object") =>
    toTable(custom, [body], { now: NOW, includeObject }).rows[0]!.object;
  assert.equal(carried("None"), null);
  assert.deepEqual(carried("Metadata"), {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: body.metadata,
  });
  assert.equal(carried("Object"), body);
});

test("no object is so odd that its list can't be printed", () => {
  for (const resource of ALL) {
    for (const odd of [1, "x", [], null, { conditions: {}, containers: [null, 1] }]) {
      const body = object(resource.kind, { spec: odd, status: odd, data: odd, subjects: odd, webhooks: odd });
      assert.equal(
        toTable(resource, [body], { now: NOW }).rows[0]!.cells.length,
        toTable(resource, [], { now: NOW }).columnDefinitions!.length,
      );
    }
  }
});

test("a Pod that has ended is marked in its row", () => {
  const table = toTable(served("Pod"), [object("Pod", { status: { phase: "Succeeded" } })], { now: NOW });
  assert.deepEqual(
    table.rows[0]!.conditions?.map((c) => (c as { reason: string }).reason),
    ["Succeeded"],
  );
});

test("kubectl get pv and pvc: where a volume is bound to, what was not chosen, and what is being deleted", () => {
  const spec = {
    ...{
      capacity: { storage: "5Gi" },
      accessModes: ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"],
    },
    ...{ persistentVolumeReclaimPolicy: "Retain", storageClassName: "fast", claimRef: { namespace: "bay", name: "c" } },
  };
  const bound = object("PersistentVolume", { spec, status: { phase: "Bound", reason: "r" } });
  assert.deepEqual(printed(served("PersistentVolume"), bound, true), {
    ...{ Name: "x", Capacity: "5Gi", "Access Modes": "RWO,ROX,RWX,RWOP", "Reclaim Policy": "Retain", Status: "Bound" },
    ...{ Claim: "bay/c", StorageClass: "fast", VolumeAttributesClass: "<unset>", Reason: "r", Age: "5m" },
    VolumeMode: "<unset>",
  });
  const chosen = { ...spec, volumeAttributesClassName: "gold", volumeMode: "Block", claimRef: undefined };
  const leaving = object("PersistentVolume", { spec: chosen, status: { phase: "Bound" } }, { deletionTimestamp: BORN });
  const { Status, Claim, VolumeAttributesClass, VolumeMode } = printed(served("PersistentVolume"), leaving, true);
  assert.deepEqual([Status, Claim, VolumeAttributesClass, VolumeMode], ["Terminating", "", "gold", "Block"]);

  const claim = (of: object, metadata = {}) =>
    printed(
      served("PersistentVolumeClaim"),
      object(
        "PersistentVolumeClaim",
        {
          spec: { volumeName: "v", storageClassName: "fast", ...of },
          status: { phase: "Bound", ...spec, capacity: spec.capacity },
        },
        metadata,
      ),
      true,
    );
  assert.deepEqual(claim({}), {
    ...{ Name: "x", Status: "Bound", Volume: "v", Capacity: "5Gi", "Access Modes": "RWO,ROX,RWX,RWOP" },
    ...{ StorageClass: "fast", VolumeAttributesClass: "<unset>", Age: "5m", VolumeMode: "<unset>" },
  });
  const other = claim({ volumeAttributesClassName: "gold", volumeMode: "Block" }, { deletionTimestamp: BORN });
  assert.deepEqual([other.Status, other.VolumeAttributesClass, other.VolumeMode], ["Terminating", "gold", "Block"]);
});

test("kubectl get sc and volumeattachments: what is left out has Kubernetes' defaults", () => {
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  const usual = object("StorageClass", { provisioner: "p" }, { annotations });
  assert.deepEqual(printed(served("StorageClass"), usual), {
    ...{ Name: "x (default)", Provisioner: "p", ReclaimPolicy: "Delete", VolumeBindingMode: "Immediate" },
    ...{ AllowVolumeExpansion: false, Age: "5m" },
  });
  const own = object("StorageClass", {
    ...{
      provisioner: "p",
      reclaimPolicy: "Retain",
      volumeBindingMode: "WaitForFirstConsumer",
      allowVolumeExpansion: true,
    },
  });
  const { Name, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion } = printed(served("StorageClass"), own);
  assert.deepEqual(
    [Name, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion],
    [...["x", "Retain", "WaitForFirstConsumer", true]],
  );
  const attached = {
    spec: { attacher: "csi", nodeName: "n", source: { persistentVolumeName: "v" } },
    status: { attached: true },
  };
  assert.deepEqual(printed(served("VolumeAttachment"), object("VolumeAttachment", attached)), {
    ...{ Name: "x", Attacher: "csi", PV: "v", Node: "n", Attached: true, Age: "5m" },
  });
});
