import assert from "node:assert/strict";
import { test } from "node:test";
import { type Condition, conditionOf } from "@slipway/kube";
import { ago, deployment, is, machine, machineSet, NOW, node, seen } from "../testing.ts";
import {
  availableInMs,
  CONNECTION_DOWN_MS,
  type MachineFacts,
  machineStatus,
  type NodeSeen,
} from "./machine-status.ts";

const made = { spec: { providerID: "sim://1" }, status: { initialization: { provisioned: true } } };
const HEALTHY = [
  is("Ready", "True"),
  is("MemoryPressure", "False"),
  is("DiskPressure", "False"),
  is("PIDPressure", "False"),
];
const there = (conditions: Condition[] = HEALTHY, status: object = {}): NodeSeen => ({
  is: "there",
  node: node("n", { status: { conditions, ...status } }),
});
const none: NodeSeen = { is: "awaited", reason: "NodeDoesNotExist", message: "Waiting for a Node" };
const facts = (of: Partial<MachineFacts> = {}): MachineFacts => ({
  machine: machine("m", { spec: { providerID: "sim://1" } }),
  bootstrap: undefined,
  infrastructure: seen("SimMachine", made),
  ...{ node: there(), deleting: undefined, deployed: undefined, now: NOW },
  paused: { type: "Paused", status: "False", reason: "NotPaused", message: "" },
  ...of,
});
const said = (of: Partial<MachineFacts>, type: string) => {
  const { status, reason, message } = conditionOf(machineStatus(facts(of)).conditions, type)!;
  return [status, reason, message];
};
const old = (of: Partial<MachineFacts>, type: string) => {
  const { status, reason, severity } = conditionOf(machineStatus(facts(of)).deprecated?.v1beta1?.conditions, type)!;
  return [status, reason, severity];
};
const phase = (of: Partial<MachineFacts>) => machineStatus(facts(of)).phase;

test("a Machine is Running when its infrastructure and its Node are there, and is Ready and Available then", () => {
  const status = machineStatus(facts());
  assert.deepEqual(status.initialization, { bootstrapDataSecretCreated: true, infrastructureProvisioned: true });
  assert.deepEqual([status.phase, status.nodeRef], ["Running", { name: "n" }]);
  for (const type of ["Ready", "Available", "NodeReady", "NodeHealthy", "InfrastructureReady", "BootstrapConfigReady"])
    assert.equal(conditionOf(status.conditions, type)?.status, "True", type);
  assert.deepEqual(old({}, "Ready")[0], "True");
});

test("the phase follows what there is: data, infrastructure, Node, and the deletion before all", () => {
  const nothing = seen("SimMachine", {});
  const bare = machine("m", { spec: { bootstrap: {} } });
  assert.equal(phase({ machine: bare, infrastructure: nothing, node: none }), "Pending");
  assert.equal(phase({ machine: machine("m"), infrastructure: nothing, node: none }), "Provisioning");
  assert.equal(phase({ infrastructure: nothing, node: none }), "Provisioned");
  assert.equal(phase({ node: none }), "Provisioned");
  assert.equal(phase({ machine: machine("m"), infrastructure: nothing }), "Provisioning");
  const known = { spec: { providerID: "sim://1" }, status: { nodeRef: { name: "n" } } };
  assert.equal(phase({ machine: machine("m", known), node: none }), "Running");
  assert.equal(phase({ machine: machine("m", { metadata: { deletionTimestamp: ago(1) } }) }), "Deleting");
});

test("a Machine says whether it is as its deployment wants it, by the kubelet that is seen now; one that leaves does not", () => {
  const of = (version: string) => ({
    set: machineSet("s", { template: { version } }),
    deployment: deployment({ template: { version: "v2" } }),
  });
  const kubelet = (kubeletVersion: string) => there(HEALTHY, { nodeInfo: { kubeletVersion } });
  assert.deepEqual(said({ deployed: of("v2") }, "UpToDate"), ["True", "UpToDate", ""]);
  assert.deepEqual(said({ deployed: of("v2"), node: kubelet("v2") }, "UpToDate"), ["True", "UpToDate", ""]);
  assert.deepEqual(said({ deployed: of("v1") }, "UpToDate").slice(0, 2), ["False", "NotUpToDate"]);
  assert.match(said({ deployed: of("v2"), node: kubelet("v1") }, "UpToDate")[2]!, /Kubelet version is v1, v2 required/);
  const leaving = machine("m", { metadata: { deletionTimestamp: ago(1) } });
  for (const none of [{}, { deployed: of("v1"), machine: leaving }])
    assert.equal(conditionOf(machineStatus(facts(none)).conditions, "UpToDate"), undefined);
});

test("the first status says that the Machine is not paused", () => {
  assert.deepEqual(said({}, "Paused"), ["False", "NotPaused", ""]);
});

test("a Node that comes later with the Machine's id does not take the place of its own", () => {
  const held = machine("m", { status: { nodeRef: { name: "own" } } });
  assert.deepEqual(machineStatus(facts({ machine: held })).nodeRef, { name: "own" });
});

test("the time of the last change moves with the phase only", () => {
  const at = (held: string) =>
    machineStatus(facts({ machine: machine("m", { spec: { providerID: "x" }, status: { phase: held } }) })).lastUpdated;
  assert.deepEqual([at("Provisioned"), at("Running")], [ago(0), undefined]);
});

test("what was there once stays so, though the provider's objects are gone", () => {
  const held = { initialization: { infrastructureProvisioned: true, bootstrapDataSecretCreated: true } };
  const of = {
    machine: machine("m", { spec: { bootstrap: {} }, status: held }),
    bootstrap: seen("SimConfig"),
    infrastructure: seen("SimMachine"),
  };
  assert.deepEqual(machineStatus(facts(of)).initialization, held.initialization);
  assert.deepEqual(said(of, "BootstrapConfigReady"), ["True", "DataSecretProvided", ""]);
  assert.deepEqual(said(of, "InfrastructureReady"), ["False", "ObjectDeleted", "SimMachine has been deleted"]);
  assert.deepEqual(old(of, "BootstrapReady")[0], "True");
});

test("infrastructure counts as provisioned with an id that the Machine has, too", () => {
  const first = (of: Partial<MachineFacts>) => machineStatus(facts(of)).initialization?.infrastructureProvisioned;
  assert.equal(first({ machine: machine("m") }), undefined);
  assert.equal(first({ infrastructure: seen("SimMachine", { status: made.status }) }), undefined);
  assert.equal(first({ infrastructure: seen("SimMachine", { spec: made.spec }) }), undefined);
  assert.deepEqual(said({ infrastructure: seen("SimMachine", { spec: made.spec }) }, "InfrastructureReady"), [
    "False",
    "NotReady",
    "SimMachine status.initialization.provisioned is false",
  ]);
  assert.deepEqual(old({ infrastructure: seen("SimMachine", {}) }, "InfrastructureReady"), [
    "False",
    "WaitingForInfrastructure",
    "Info",
  ]);
});

test("bootstrap data counts when the configuration says so and the Machine names the Secret", () => {
  const first = (bootstrap: MachineFacts["bootstrap"], spec: object) =>
    machineStatus(facts({ bootstrap, machine: machine("m", { spec }) })).initialization?.bootstrapDataSecretCreated;
  const done = seen("SimConfig", { status: { initialization: { dataSecretCreated: true } } });
  assert.equal(first(done, {}), true);
  assert.equal(first(done, { bootstrap: {} }), undefined);
  assert.equal(first(seen("SimConfig", {}), {}), undefined);
  assert.equal(first(undefined, { bootstrap: {} }), undefined);
  assert.deepEqual(said({ bootstrap: seen("SimConfig", {}) }, "BootstrapConfigReady"), [
    "False",
    "NotReady",
    "SimConfig status.initialization.dataSecretCreated is false",
  ]);
  assert.deepEqual(old({ bootstrap: seen("SimConfig", {}) }, "BootstrapReady"), [
    "False",
    "WaitingForDataSecret",
    "Info",
  ]);
});

test("addresses and the failure domain are the provider's, from when the machine is there", () => {
  const addresses = [{ type: "InternalIP", address: "10.0.0.4" }];
  const object = { spec: made.spec, status: { ...made.status, addresses, failureDomain: "a" } };
  const status = machineStatus(facts({ infrastructure: seen("SimMachine", object) }));
  assert.deepEqual([status.addresses, status.failureDomain], [addresses, "a"]);
  const early = machineStatus(facts({ machine: machine("m"), infrastructure: seen("SimMachine", object) }));
  assert.deepEqual([early.addresses, early.failureDomain], [undefined, undefined]);
});

test("a Node's conditions are the Machine's NodeReady and NodeHealthy, bad ones before unknown ones", () => {
  assert.deepEqual(said({ node: there([is("Ready", "False", { message: "no network" })]) }, "NodeReady"), [
    "False",
    "NodeNotReady",
    "* Node.Ready: no network",
  ]);
  assert.deepEqual(said({ node: there([]) }, "NodeReady"), [
    "Unknown",
    "NodeReadyUnknown",
    "* Node.Ready: Condition not yet reported",
  ]);
  const pressed = [is("Ready", "True"), is("DiskPressure", "True", { reason: "Full" }), is("PIDPressure", "False")];
  assert.deepEqual(said({ node: there(pressed) }, "NodeHealthy"), [
    "False",
    "NodeNotHealthy",
    "* Node.DiskPressure: Full\n* Node.MemoryPressure: Condition not yet reported",
  ]);
  assert.deepEqual(old({ node: there(pressed) }, "NodeHealthy"), ["False", "NodeConditionsFailed", "Warning"]);
  assert.deepEqual(said({ node: there(HEALTHY.slice(1)) }, "NodeHealthy").slice(0, 2), [
    "Unknown",
    "NodeHealthUnknown",
  ]);
  assert.deepEqual(old({ node: there(HEALTHY.slice(1)) }, "NodeHealthy"), [
    "Unknown",
    "NodeConditionsFailed",
    undefined,
  ]);
  assert.deepEqual(said({ node: there(pressed) }, "Ready").slice(0, 2), ["False", "NotReady"]);
});

test("a Node that is awaited or was deleted is said so", () => {
  assert.deepEqual(said({ node: none }, "NodeHealthy"), ["Unknown", "NodeDoesNotExist", "Waiting for a Node"]);
  assert.deepEqual(old({ node: none }, "NodeHealthy"), ["False", "WaitingForNodeRef", "Info"]);
  const gone: NodeSeen = { is: "deleted", name: "n" };
  assert.deepEqual(said({ node: gone }, "NodeReady"), [
    "False",
    "NodeDeleted",
    "Node n has been deleted while the Machine still exists",
  ]);
  const leaving = machine("m", { metadata: { deletionTimestamp: ago(1) } });
  assert.equal(said({ node: gone, machine: leaving }, "NodeReady")[2], "Node n has been deleted");
  assert.deepEqual(old({ node: gone }, "NodeHealthy"), ["False", "NodeNotFound", "Error"]);
});

test("a Node whose id another Node has, too, counts as unknown, and both are named", () => {
  const disputed: NodeSeen = { is: "disputed", message: "several Nodes: a, b" };
  for (const type of ["NodeReady", "NodeHealthy"])
    assert.deepEqual(said({ node: disputed }, type), ["Unknown", "InternalError", "several Nodes: a, b"]);
});

test("what was last seen of a Node is shown for five minutes after the connection was lost", () => {
  const lost = (ms: number): NodeSeen => ({ is: "unknown", since: NOW - ms, why: "refused" });
  const known = machine("m", { spec: { providerID: "x" }, status: { conditions: [is("NodeReady", "True")] } });
  assert.equal(said({ machine: known, node: lost(CONNECTION_DOWN_MS - 1) }, "NodeReady")[0], "True");
  const down = ["Unknown", "ConnectionDown", "Remote connection is down: refused"];
  assert.deepEqual(said({ machine: known, node: lost(CONNECTION_DOWN_MS) }, "NodeReady"), down);
  assert.deepEqual(said({ node: lost(0) }, "NodeReady"), down);
});

test("a Machine that is being deleted says how far it is, and is not Ready", () => {
  const deleting = { reason: "DrainingNode", message: "Pods: a" };
  assert.deepEqual(said({ deleting }, "Deleting"), ["True", "DrainingNode", "Pods: a"]);
  assert.deepEqual(said({ deleting }, "Ready"), ["False", "NotReady", "* Deleting: Pods: a"]);
  assert.deepEqual(said({ deleting }, "Available"), ["False", "NotReady", ""]);
});

test("readiness gates count, with the polarity that they name", () => {
  const gated = (conditions: Condition[]) =>
    machine("m", {
      spec: {
        providerID: "x",
        readinessGates: [{ conditionType: "Burnt" }, { conditionType: "Hot", polarity: "Negative" }],
      },
      status: { conditions },
    });
  const ready = (conditions: Condition[]) => said({ machine: gated(conditions) }, "Ready")[0];
  assert.equal(ready([is("Burnt", "True"), is("Hot", "False")]), "True");
  assert.equal(ready([is("Burnt", "False"), is("Hot", "False")]), "False");
  assert.equal(ready([is("Burnt", "True"), is("Hot", "True")]), "False");
  assert.equal(ready([is("Burnt", "True")]), "Unknown");
});

test("a Machine is available when it has been Ready for as long as it asks", () => {
  const ready = (seconds: number) => ({
    spec: { providerID: "x", minReadySeconds: 60 },
    status: { conditions: [is("Ready", "True", { lastTransitionTime: ago(seconds) })] },
  });
  const available = (seconds: number) => said({ machine: machine("m", ready(seconds)) }, "Available");
  assert.deepEqual(available(59), ["False", "WaitingForMinReadySeconds", "Ready for less than 60 s"]);
  assert.deepEqual(available(60), ["True", "Available", ""]);
  const left = (seconds: number) => {
    const one = machine("m", ready(seconds));
    return availableInMs(one.status?.conditions, one, NOW);
  };
  assert.deepEqual([left(59), left(61)], [1000, 0]);
  assert.equal(availableInMs([is("Ready", "False", { lastTransitionTime: ago(0) })], machine("m", ready(0)), NOW), 0);
});
