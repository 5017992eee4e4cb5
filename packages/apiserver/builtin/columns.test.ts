/** Columns of `kubectl get -o wide`, kind by kind, with what they show while a field is missing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toTable } from "./table.ts";
import { builtin } from "./testing.ts";

const NOW = Date.parse("2024-01-01T01:00:00Z");
const BORN = "2024-01-01T00:55:00Z";
const HOUR_AGO = "2024-01-01T00:00:00Z";

/** The cells of one object, by column. */
function cells(kind: string, parts: object = {}, more: object = {}) {
  const { group, ...metadata } = more as { group?: string };
  const resource = builtin(kind, group);
  const body = { apiVersion: "v1", kind, metadata: { name: "x", creationTimestamp: BORN, ...metadata }, ...parts };
  const table = toTable(resource, [body as never], { now: NOW });
  return Object.fromEntries(table.columnDefinitions!.map(({ name }, i) => [name, table.rows[0]!.cells[i]]));
}
const template = {
  spec: {
    containers: [
      { name: "a", image: "i:1" },
      { name: "b", image: "i:2" },
    ],
  },
};
const selector = { matchLabels: { app: "x" }, matchExpressions: [{ key: "tier", operator: "Exists" }] };
const SELECTOR = "app=x,tier";

test("workloads show their counts, their containers and whom they select", () => {
  const [Containers, Images] = ["a,b", "i:1,i:2"];
  const usual = { Name: "x", Age: "5m", Containers, Images };
  assert.deepEqual(
    cells("ReplicaSet", { spec: { replicas: 3, selector, template }, status: { replicas: 2, readyReplicas: 1 } }),
    { ...usual, Desired: 3, Current: 2, Ready: 1, Selector: SELECTOR },
  );
  assert.deepEqual(cells("StatefulSet", { spec: { template }, status: { readyReplicas: 1 } }), {
    ...usual,
    Ready: "1/1",
  });
  const status = {
    ...{ desiredNumberScheduled: 5, currentNumberScheduled: 4, numberReady: 3 },
    ...{ updatedNumberScheduled: 2, numberAvailable: 1 },
  };
  const nodeSelector = { b: "2", a: "1" };
  assert.deepEqual(
    cells("DaemonSet", { spec: { selector, template: { spec: { ...template.spec, nodeSelector } } }, status }),
    {
      ...{ ...usual, Desired: 5, Current: 4, Ready: 3, "Up-to-date": 2, Available: 1 },
      ...{ "Node Selector": "a=1,b=2", Selector: SELECTOR },
    },
  );
  assert.equal(cells("DaemonSet", { spec: { template } })["Node Selector"], "<none>");
  assert.deepEqual(
    cells("ReplicationController", {
      spec: { replicas: 1, selector: { app: "x" }, template },
      status: { replicas: 1 },
    }),
    { ...usual, Desired: 1, Current: 1, Ready: 0, Selector: "app=x" },
  );
  assert.deepEqual(cells("Deployment", { spec: { selector, template } }), {
    ...{ ...usual, Ready: "0/1", "Up-to-date": 0, Available: 0, Selector: SELECTOR },
  });
});

test("a selector is shown by its labels, then by its expressions", () => {
  const shown = (of: object) => cells("ReplicaSet", { spec: { selector: of, template } }).Selector;
  const expression = (operator: string, values?: string[]) => ({ matchExpressions: [{ key: "k", operator, values }] });
  assert.equal(shown(expression("In", ["b", "a"])), "k in (a,b)");
  assert.equal(shown(expression("NotIn", ["a"])), "k notin (a)");
  assert.equal(shown(expression("Exists")), "k");
  assert.equal(shown(expression("DoesNotExist")), "!k");
  assert.equal(shown({ matchLabels: { b: "2", a: "1" } }), "a=1,b=2");
  assert.equal(cells("ReplicaSet", { spec: { template } }).Selector, "<none>");
});

test("a Job shows what it has become, how much is done, and for how long it ran", () => {
  const job = (status: object, spec: object = {}, metadata: object = {}) =>
    cells("Job", { spec: { template, selector, ...spec }, status }, metadata);
  const word = (...types: string[]) => job({ conditions: types.map((type) => ({ type, status: "True" })) }).Status;
  for (const type of ["Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"])
    assert.equal(word(type), type);
  assert.equal(word(), "Running");
  assert.equal(job({ conditions: [{ type: "Complete", status: "False" }] }).Status, "Running");
  assert.equal(word("Failed", "Complete"), "Complete");
  assert.equal(word("FailureTarget", "Suspended"), "Suspended");
  const leaving = { deletionTimestamp: BORN };
  assert.equal(job({}, {}, leaving).Status, "Terminating");
  assert.equal(job({ conditions: [{ type: "Failed", status: "True" }] }, {}, leaving).Status, "Failed");
  assert.equal(job({ conditions: [{ type: "Suspended", status: "True" }] }, {}, leaving).Status, "Terminating");
  assert.equal(job({ succeeded: 2 }, { completions: 3 }).Completions, "2/3");
  assert.equal(job({ succeeded: 1 }, { parallelism: 1 }).Completions, "1/1");
  assert.equal(job({}, { parallelism: 2 }).Completions, "0/1 of 2");
  assert.equal(job({ startTime: HOUR_AGO }).Duration, "60m");
  assert.equal(job({ startTime: HOUR_AGO, completionTime: "2024-01-01T00:10:00Z" }).Duration, "10m");
  assert.equal(job({}).Duration, "");
  assert.deepEqual([job({}).Containers, job({}).Images, job({}).Selector], ["a,b", "i:1,i:2", SELECTOR]);
  assert.equal(builtin("Job").selectableFields!["status.successful"]!({ status: { succeeded: 3 } } as never), "3");
});

test("a CronJob shows its schedule, where it is, and when it ran last", () => {
  const shown = (spec: object, status: object = {}) =>
    cells("CronJob", {
      spec: { schedule: "0 3 * * *", jobTemplate: { spec: { template, selector } }, ...spec },
      status,
    });
  assert.deepEqual(shown({}), {
    ...{ Name: "x", Schedule: "0 3 * * *", Timezone: "<none>", Suspend: "False", Active: 0, "Last Schedule": "<none>" },
    ...{ Age: "5m", Containers: "a,b", Images: "i:1,i:2", Selector: SELECTOR },
  });
  const other = shown({ timeZone: "Etc/UTC", suspend: true }, { active: [{}, {}], lastScheduleTime: HOUR_AGO });
  assert.deepEqual(
    [other.Timezone, other.Suspend, other.Active, other["Last Schedule"]],
    ["Etc/UTC", "True", 2, "60m"],
  );
});

test("a Pod shows where it is, and the gates that it has passed", () => {
  const { IP, Node, "Nominated Node": nominated, "Readiness Gates": gates } = cells("Pod", { spec: {}, status: {} });
  assert.deepEqual([IP, Node, nominated, gates], Array(4).fill("<none>"));
  const there = cells("Pod", {
    spec: { nodeName: "n", readinessGates: [{ conditionType: "a" }, { conditionType: "b" }] },
    status: {
      ...{ podIP: "10.0.0.1", nominatedNodeName: "m" },
      conditions: [
        { type: "a", status: "True" },
        { type: "b", status: "False" },
      ],
    },
  });
  assert.deepEqual(
    [there.IP, there.Node, there["Nominated Node"], there["Readiness Gates"]],
    ["10.0.0.1", "n", "m", "1/2"],
  );
});

test("a Pod's word is the most specific that is known of it", () => {
  const word = (status: object, spec: object = {}, metadata: object = {}) =>
    cells("Pod", { spec, status }, metadata).Status;
  const ended = (exitCode: number, more: object = {}) => ({ state: { terminated: { exitCode, ...more } } });
  const ready = { ready: true, state: { running: {} } };
  const init = (...initContainerStatuses: object[]) => ({ phase: "Pending", initContainerStatuses });
  const two = { initContainers: [{ name: "a" }, { name: "b", restartPolicy: "Always" }] };
  for (const [said, status, spec] of [
    ["Unknown", {}, {}],
    ["Running", { phase: "Running" }, {}],
    ["Evicted", { phase: "Failed", reason: "Evicted" }, {}],
    ["SchedulingGated", { phase: "Pending", conditions: [{ type: "PodScheduled", reason: "SchedulingGated" }] }, {}],
    ["Init:0/2", init({ name: "a", state: { running: {} } }), two],
    ["Init:0/2", init({ name: "a", state: { waiting: { reason: "PodInitializing" } } }), two],
    ["Init:ErrImagePull", init({ name: "a", state: { waiting: { reason: "ErrImagePull" } } }), two],
    ["Init:ExitCode:2", init({ name: "a", ...ended(2) }), two],
    ["Init:Signal:9", init({ name: "a", ...ended(2, { signal: 9 }) }), two],
    ["Init:OOMKilled", init({ name: "a", ...ended(2, { reason: "OOMKilled" }) }), two],
    ["Pending", init({ name: "a", ...ended(0) }, { name: "b", started: true }), two],
    ["Init:1/2", init({ name: "a", ...ended(0) }, { name: "b", started: false }), two],
    ["Completed", { phase: "Running", containerStatuses: [ended(0, { reason: "Completed" })] }, {}],
    ["NotReady", { phase: "Running", containerStatuses: [ended(0, { reason: "Completed" }), ready] }, {}],
    [
      "Running",
      {
        ...{ phase: "Running", containerStatuses: [ended(0, { reason: "Completed" }), ready] },
        conditions: [{ type: "Ready", status: "True" }],
      },
      {},
    ],
    ["CrashLoopBackOff", { containerStatuses: [{ state: { waiting: { reason: "CrashLoopBackOff" } } }, ready] }, {}],
  ] as const)
    assert.equal(word(status, spec), said, JSON.stringify(status));
  const leaving = { deletionTimestamp: BORN };
  assert.equal(word({ phase: "Running" }, {}, leaving), "Terminating");
  assert.equal(word({ phase: "Running", reason: "NodeLost" }, {}, leaving), "Unknown");
  assert.equal(word({ phase: "Succeeded" }, {}, leaving), "Succeeded");
  assert.equal(word({ phase: "Failed" }, {}, leaving), "Failed");
});

test("a Node shows its roles, addresses and what it runs", () => {
  const node = (parts: object, labels: object = {}) => cells("Node", parts, { labels });
  const none = node({});
  assert.deepEqual(
    ["Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"].map((name) => none[name]),
    ["<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"],
  );
  const addresses = [
    { type: "InternalIP", address: "10.0.0.1" },
    { type: "ExternalIP", address: "192.0.2.1" },
  ];
  const nodeInfo = { osImage: "Debian", kernelVersion: "6.1", containerRuntimeVersion: "containerd://2" };
  const there = node(
    { status: { addresses, nodeInfo, conditions: [{ type: "Ready", status: "False" }] } },
    { "node-role.kubernetes.io/b": "", "kubernetes.io/role": "a", "node-role.kubernetes.io/": "" },
  );
  assert.deepEqual(
    ["Status", "Roles", "Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"].map(
      (name) => there[name],
    ),
    ["NotReady", "a,b", "10.0.0.1", "192.0.2.1", "Debian", "6.1", "containerd://2"],
  );
  const { "spec.unschedulable": unschedulable } = builtin("Node").selectableFields!;
  assert.deepEqual(
    [{ unschedulable: true }, {}].map((spec) => unschedulable!({ spec } as never)),
    ["true", "false"],
  );
});

test("a Service shows where it is reached from outside", () => {
  const outside = (spec: object, ingress: object[] = []) =>
    cells("Service", { spec, status: { loadBalancer: { ingress } } })["External-IP"];
  assert.equal(outside({ type: "ClusterIP" }), "<none>");
  assert.equal(outside({ type: "ClusterIP", externalIPs: ["192.0.2.1", "192.0.2.2"] }), "192.0.2.1,192.0.2.2");
  assert.equal(outside({ type: "ExternalName", externalName: "a.example" }), "a.example");
  assert.equal(outside({ type: "LoadBalancer" }), "<pending>");
  assert.equal(
    outside({ type: "LoadBalancer", externalIPs: ["192.0.2.9"] }, [{ ip: "192.0.2.1" }, { hostname: "h" }]),
    "192.0.2.1,h,192.0.2.9",
  );
  const bare = cells("Service", { spec: {} });
  assert.deepEqual([bare["Cluster-IP"], bare["Port(s)"], bare.Selector], ["<none>", "<none>", "<none>"]);
  assert.equal(cells("Service", { spec: { selector: { b: "2", a: "1" } } }).Selector, "a=1,b=2");
  const { "spec.clusterIP": address, "spec.type": type } = builtin("Service").selectableFields!;
  const service = { spec: { clusterIP: "10.96.0.1", type: "NodePort" } } as never;
  assert.deepEqual([address!(service), type!(service)], ["10.96.0.1", "NodePort"]);
});

test("addresses behind a Service are listed up to three", () => {
  const addresses = (...ips: string[]) => ips.map((ip) => ({ ip }));
  const shown = (...subsets: object[]) => cells("Endpoints", { subsets }).Endpoints;
  assert.equal(shown(), "<none>");
  assert.equal(shown({ addresses: addresses("a", "b") }), "a,b");
  assert.equal(shown({ addresses: addresses("a", "b"), ports: [{ port: 1 }, { port: 2 }] }), "a:1,b:1,a:2 + 1 more...");
  assert.equal(shown({ addresses: addresses("a", "b", "c") }), "a,b,c");
  const slice = cells("EndpointSlice", {
    ...{ addressType: "IPv4", ports: [{ port: 80 }, {}] },
    endpoints: [{ addresses: ["a", "b"] }, { addresses: ["c", "d", "e"] }],
  });
  assert.deepEqual([slice.AddressType, slice.Ports, slice.Endpoints], ["IPv4", "80,*", "a,b,c + 2 more..."]);
  const empty = cells("EndpointSlice");
  assert.deepEqual([empty.AddressType, empty.Ports, empty.Endpoints], ["", "<unset>", "<unset>"]);
});

test("an Event shows when it was first and last seen, how often, and by whom", () => {
  const shown = (parts: object, group = "") => cells("Event", parts, { group });
  const old = shown({
    ...{ firstTimestamp: HOUR_AGO, lastTimestamp: BORN, count: 2, source: { component: "c", host: "h" } },
    involvedObject: { name: "n", fieldPath: "spec" },
  });
  assert.deepEqual(
    [old["Last Seen"], old["First Seen"], old.Count, old.Source, old.Object, old.Subobject, old.Name],
    ["5m", "60m", 2, "c, h", "n", "spec", "x"],
  );
  const bare = shown({ eventTime: HOUR_AGO });
  assert.deepEqual([bare["Last Seen"], bare["First Seen"], bare.Count, bare.Source], ["60m", "60m", 1, ""]);
  const once = shown({ eventTime: HOUR_AGO, series: { count: 1, lastObservedTime: BORN }, reportingComponent: "r" });
  assert.deepEqual([once["Last Seen"], once.Count, once.Source], ["5m", 1, "r"]);
  const newer = shown(
    {
      eventTime: HOUR_AGO,
      series: { count: 4, lastObservedTime: BORN },
      reportingController: "r",
      reportingInstance: "i",
    },
    "events.k8s.io",
  );
  assert.deepEqual([newer["Last Seen"], newer.Count, newer.Source], ["5m (x4 over 60m)", 4, "r, i"]);
});

test("a request for a certificate shows who wants it, for how long, and what became of it", () => {
  const shown = (...types: string[]) =>
    cells("CertificateSigningRequest", { status: { conditions: types.map((type) => ({ type })) } }).Condition;
  assert.equal(shown(), "Pending");
  assert.equal(shown("Approved"), "Approved");
  assert.equal(shown("Approved", "Denied"), "Denied");
  assert.equal(shown("Approved", "Failed"), "Approved,Failed");
  const issued = cells("CertificateSigningRequest", {
    spec: { signerName: "a.example/b", username: "bob", expirationSeconds: 3600 },
    status: { certificate: "eA==", conditions: [{ type: "Approved" }] },
  });
  assert.deepEqual(
    [issued.SignerName, issued.Requestor, issued.RequestedDuration, issued.Condition],
    ["a.example/b", "bob", "60m", "Approved,Issued"],
  );
  const bare = cells("CertificateSigningRequest");
  assert.deepEqual([bare.SignerName, bare.RequestedDuration], ["<none>", "<none>"]);
});

test("bindings show their role and subjects, sorted by kind", () => {
  const subjects = [
    ...[
      { kind: "User", name: "u" },
      { kind: "Group", name: "g" },
      { kind: "User", name: "v" },
    ],
    { kind: "ServiceAccount", namespace: "n", name: "a" },
  ];
  for (const kind of ["RoleBinding", "ClusterRoleBinding"]) {
    const { Role, Users, Groups, ServiceAccounts } = cells(kind, {
      roleRef: { kind: "ClusterRole", name: "r" },
      subjects,
    });
    assert.deepEqual([Role, Users, Groups, ServiceAccounts], ["ClusterRole/r", "u, v", "g", "n/a"], kind);
  }
});

test("volumes, classes and drivers show what they are and what they can do", () => {
  const pv = cells("PersistentVolume", {
    spec: {
      ...{ capacity: { storage: "1Gi" }, persistentVolumeReclaimPolicy: "Retain", storageClassName: "fast" },
      accessModes: ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod", "Odd"],
      ...{ claimRef: { namespace: "n", name: "c" }, volumeMode: "Block", volumeAttributesClassName: "gold" },
    },
    status: { phase: "Bound", reason: "r" },
  });
  assert.deepEqual(pv, {
    ...{
      Name: "x",
      Capacity: "1Gi",
      "Access Modes": "RWO,ROX,RWX,RWOP,Odd",
      "Reclaim Policy": "Retain",
      Status: "Bound",
    },
    ...{
      Claim: "n/c",
      StorageClass: "fast",
      VolumeAttributesClass: "gold",
      Reason: "r",
      Age: "5m",
      VolumeMode: "Block",
    },
  });
  const driver = (spec: object) => {
    const { Name: _, Age: __, ...shown } = cells("CSIDriver", { spec });
    return Object.values(shown);
  };
  assert.deepEqual(driver({}), [true, false, false, "<unset>", false, "<none>"]);
  assert.deepEqual(
    driver({
      ...{ attachRequired: false, podInfoOnMount: true, storageCapacity: true, requiresRepublish: true },
      ...{ tokenRequests: [{ audience: "a" }, { audience: "b" }], volumeLifecycleModes: ["Persistent", "Ephemeral"] },
    }),
    [false, true, true, "a,b", true, "Persistent,Ephemeral"],
  );
  const defaultClass = (name: string) => ({
    annotations: { [`storageclass${name}.kubernetes.io/is-default-class`]: "true" },
  });
  assert.equal(cells("StorageClass", {}, defaultClass("")).Name, "x (default)");
  assert.equal(cells("StorageClass", {}, defaultClass(".beta")).Name, "x (default)");
  assert.equal(cells("StorageClass", { allowVolumeExpansion: true }).AllowVolumeExpansion, true);
  assert.equal(cells("CSINode", { spec: { drivers: [{}, {}] } }).Drivers, 2);
});

test("the lesser kinds show what they are about", () => {
  const only = (kind: string, column: string, parts: object) => cells(kind, parts)[column];
  const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "s", uid: "u", controller: true };
  const revision = cells(
    "ControllerRevision",
    { revision: 7 },
    { ownerReferences: [{ ...owner, controller: false }, owner] },
  );
  assert.deepEqual([revision.Controller, revision.Revision], ["statefulset.apps/v1/s", 7]);
  assert.equal(only("ControllerRevision", "Controller", {}), "<none>");
  assert.equal(only("RuntimeClass", "Handler", { handler: "h" }), "h");
  assert.equal(only("NetworkPolicy", "Pod-Selector", { spec: { podSelector: selector } }), SELECTOR);
  const priority = cells("PriorityClass", { value: 7, globalDefault: true, preemptionPolicy: "Never" });
  assert.deepEqual([priority.Value, priority["Global-Default"], priority.PreemptionPolicy], [7, true, "Never"]);
  assert.deepEqual(Object.values(cells("PriorityClass")).slice(1, 3), [0, false]);
  for (const kind of ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
    assert.equal(only(kind, "Webhooks", { webhooks: [{}, {}] }), 2, kind);
  assert.equal(only("Namespace", "Status", { status: { phase: "Active" } }), "Active");
  assert.equal(only("ConfigMap", "Data", { data: { a: "", b: "" }, binaryData: { c: "" } }), 3);
  assert.equal(only("PodDisruptionBudget", "Min Available", { spec: { minAvailable: "50%" } }), "50%");
  const api = (conditions: object[]) =>
    cells("APIService", { spec: { service: { namespace: "n", name: "s" } }, status: { conditions } });
  assert.deepEqual([api([]).Service, api([]).Available], ["n/s", "Unknown"]);
  assert.equal(api([{ type: "Available", status: "False", reason: "Down" }]).Available, "False (Down)");
  assert.equal(only("APIService", "Service", {}), "Local");
});
