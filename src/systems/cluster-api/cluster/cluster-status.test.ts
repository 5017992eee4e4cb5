import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf } from "@slipway/kube";
import { LABELS } from "../../../cluster-api/names.ts";
import { ago, cluster, deployment, is, machine, machineSet, NOW, seen } from "../testing.ts";
import { descendantsLeft, descendantsToDelete } from "./cluster-deletion.ts";
import { type ClusterFacts, clusterStatus } from "./cluster-status.ts";

const REFS = {
  infrastructureRef: { apiGroup: "x", kind: "SimCluster", name: "m" },
  controlPlaneRef: { apiGroup: "x", kind: "SimPlane", name: "m" },
};
const ENDPOINT = { controlPlaneEndpoint: { host: "10.0.0.1", port: 6443 } };
const infra = seen("SimCluster", { status: { initialization: { provisioned: true } } });
const plane = seen("SimPlane", { status: { initialization: { controlPlaneInitialized: true } } });
const reached = { isReached: true, why: "" };
const facts = (of: Partial<ClusterFacts> = {}): ClusterFacts => ({
  ...{ cluster: cluster({ spec: { ...REFS, ...ENDPOINT } }), infrastructure: infra, controlPlane: plane },
  ...{ machines: [], sets: [], deployments: [], connection: reached, deleting: undefined, now: NOW },
  ...of,
});
const said = (of: Partial<ClusterFacts>, type: string) => {
  const { status, reason, message } = conditionOf(clusterStatus(facts(of)).conditions, type)!;
  return [status, reason, message];
};
const old = (of: Partial<ClusterFacts>, type: string) => {
  const { status, reason } = conditionOf(clusterStatus(facts(of)).deprecated?.v1beta1?.conditions, type)!;
  return [status, reason];
};
const controlPlane = { labels: { [LABELS.controlPlane]: "" } };
const owned = (uid: string) => ({
  ownerReferences: [{ apiVersion: "v1", kind: "X", name: uid, uid, controller: true }],
});

test("a cluster whose infrastructure and control plane are there is Provisioned and Available", () => {
  const status = clusterStatus(facts());
  assert.deepEqual(status.initialization, { infrastructureProvisioned: true, controlPlaneInitialized: true });
  assert.equal(status.phase, "Provisioned");
  assert.deepEqual(said({}, "Available").slice(0, 2), ["True", "Available"]);
  assert.deepEqual(old({}, "Ready")[0], "True");
});

test("the phase is Pending without references, Provisioning until there is an endpoint, Deleting to the end", () => {
  const phase = (spec: object, metadata = {}) => clusterStatus(facts({ cluster: cluster({ spec, metadata }) })).phase;
  assert.equal(phase({}), "Pending");
  assert.equal(phase({ infrastructureRef: REFS.infrastructureRef }), "Provisioning");
  assert.equal(phase({ controlPlaneRef: REFS.controlPlaneRef }), "Provisioning");
  assert.equal(phase(ENDPOINT), "Provisioned");
  assert.equal(phase({ ...REFS, ...ENDPOINT }, { deletionTimestamp: ago(1) }), "Deleting");
  const waiting = facts({ infrastructure: seen("SimCluster", {}) });
  assert.equal(clusterStatus(waiting).phase, "Provisioning");
});

test("without references, a cluster has its infrastructure, and its control plane with the first Node of one", () => {
  const bare = cluster();
  const first = (machines: ClusterFacts["machines"]) =>
    clusterStatus(facts({ cluster: bare, infrastructure: undefined, controlPlane: undefined, machines }));
  const up = machine("p", { metadata: controlPlane, status: { nodeRef: { name: "n" } } });
  assert.deepEqual(first([]).initialization, { infrastructureProvisioned: true });
  assert.deepEqual(
    first([machine("p", { metadata: controlPlane }), machine("w", { status: up.status! })]).initialization,
    {
      infrastructureProvisioned: true,
    },
  );
  assert.deepEqual(first([up]).initialization, { infrastructureProvisioned: true, controlPlaneInitialized: true });
  const of = { cluster: bare, infrastructure: undefined, controlPlane: undefined };
  assert.deepEqual(said(of, "InfrastructureReady"), ["True", "NoInfrastructure", ""]);
  assert.deepEqual(said({ ...of, machines: [up] }, "ControlPlaneAvailable"), ["True", "Available", ""]);
  assert.deepEqual(said(of, "ControlPlaneAvailable"), ["False", "NotAvailable", "Control plane not yet initialized"]);
  assert.deepEqual(said(of, "ControlPlaneInitialized").slice(0, 2), ["False", "NotInitialized"]);
  assert.deepEqual(old(of, "ControlPlaneInitialized"), ["False", "WaitingForControlPlaneProviderInitialized"]);
  assert.deepEqual(old(of, "InfrastructureReady")[0], "True");
});

test("what was there once stays so, and objects that are gone are called deleted", () => {
  const initialization = { infrastructureProvisioned: true, controlPlaneInitialized: true };
  const of = {
    cluster: cluster({ spec: REFS, status: { initialization } }),
    infrastructure: seen("SimCluster"),
    controlPlane: seen("SimPlane"),
  };
  assert.deepEqual(clusterStatus(facts(of)).initialization, initialization);
  assert.deepEqual(said(of, "InfrastructureReady"), ["False", "ObjectDeleted", "SimCluster has been deleted"]);
  assert.deepEqual(said(of, "ControlPlaneAvailable")[1], "ObjectDeleted");
  const never = { ...of, cluster: cluster({ spec: REFS }) };
  assert.deepEqual(clusterStatus(facts(never)).initialization, {});
  assert.deepEqual(said(never, "InfrastructureReady")[1], "ObjectDoesNotExist");
  assert.deepEqual(old(never, "ControlPlaneReady"), ["False", "WaitingForControlPlane"]);
  assert.deepEqual(old(never, "InfrastructureReady"), ["False", "WaitingForInfrastructure"]);
});

test("failure domains are the infrastructure's, from when it is there", () => {
  const failureDomains = [{ name: "a" }];
  const domains = (of: Partial<ClusterFacts>) => clusterStatus(facts(of)).failureDomains;
  const domained = (provisioned: boolean, list: object[]) => ({
    infrastructure: seen("SimCluster", { status: { initialization: { provisioned }, failureDomains: list } }),
  });
  assert.deepEqual(domains(domained(true, failureDomains)), failureDomains);
  assert.equal(domains(domained(false, failureDomains)), undefined);
  assert.equal(domains(domained(true, [])), undefined);
});

test("control plane and workers are counted, workers over deployments, sets and Machines of neither", () => {
  const conditions = [is("Ready", "True"), is("Available", "True"), is("UpToDate", "False")];
  const counts = { replicas: 2, readyReplicas: 1, availableReplicas: 1, upToDateReplicas: 2 };
  const status = clusterStatus(
    facts({
      controlPlane: seen("SimPlane", { spec: { replicas: 3 }, status: { replicas: 2, readyReplicas: 1 } }),
      deployments: [deployment({ status: counts })],
      sets: [machineSet("s", { status: counts }), machineSet("new")],
      machines: [
        machine("alone", { status: { conditions } }),
        machine("p", { metadata: controlPlane, status: { conditions } }),
        machine("of-a-set", { metadata: owned("s"), status: { conditions } }),
      ],
    }),
  );
  assert.deepEqual(status.controlPlane, { desiredReplicas: 3, replicas: 2, readyReplicas: 1 });
  assert.deepEqual(status.workers, {
    ...{ desiredReplicas: 10, replicas: 5, readyReplicas: 3, availableReplicas: 3, upToDateReplicas: 4 },
  });
  const counted = (of: Partial<ClusterFacts>) => clusterStatus(facts(of)).controlPlane;
  assert.equal(counted({ controlPlane: seen("SimPlane", {}) }), undefined);
  assert.equal(counted({ controlPlane: seen("SimPlane") }), undefined);
  assert.equal(counted({ cluster: cluster() }), undefined);
  const own = [machine("p", { metadata: controlPlane, status: { conditions } }), machine("w")];
  assert.deepEqual(counted({ cluster: cluster(), machines: own }), {
    ...{ desiredReplicas: 1, replicas: 1, readyReplicas: 1, availableReplicas: 1, upToDateReplicas: 0 },
  });
});

test("Machines of the control plane and workers are distinguished, and need not say whether they are up to date", () => {
  const machines = [
    machine("p", { metadata: controlPlane, status: { conditions: [is("Ready", "False"), is("UpToDate", "True")] } }),
    machine("w", { status: { conditions: [is("Ready", "True")] } }),
  ];
  const of = (type: string) => said({ machines }, type).slice(0, 2);
  assert.deepEqual(of("ControlPlaneMachinesReady"), ["False", "NotReady"]);
  assert.deepEqual(of("ControlPlaneMachinesUpToDate"), ["True", "UpToDate"]);
  assert.deepEqual(of("WorkerMachinesReady"), ["True", "Ready"]);
  assert.deepEqual(of("WorkerMachinesUpToDate"), ["True", "NoReplicas"]);
  assert.deepEqual(said({}, "WorkersAvailable"), ["True", "NoWorkers", ""]);
  const poor = deployment({ status: { conditions: [is("Available", "False", { message: "1 of 3" })] } });
  assert.deepEqual(said({ deployments: [poor] }, "WorkersAvailable"), [
    "False",
    "NotAvailable",
    "* MachineDeployment berth: 1 of 3",
  ]);
});

test("the cluster repeats what its deployments, sets and control plane are doing", () => {
  const scaling = machineSet("s", { status: { conditions: [is("ScalingUp", "True"), is("RollingOut", "True")] } });
  assert.deepEqual(said({ sets: [scaling] }, "ScalingUp").slice(0, 2), ["True", "ScalingUp"]);
  assert.deepEqual(said({ sets: [scaling] }, "RollingOut"), ["False", "NotRollingOut", ""]);
  const rolling = seen("SimPlane", { status: { conditions: [is("RollingOut", "True", { message: "1 of 3" })] } });
  const busy = deployment({ status: { conditions: [is("RollingOut", "True", { message: "2 of 3" })] } });
  assert.equal(
    said({ controlPlane: rolling, deployments: [busy] }, "RollingOut")[2],
    "* MachineDeployment m: 1 of 3\n* MachineDeployment berth: 2 of 3",
  );
  assert.deepEqual(said({ controlPlane: rolling }, "ScalingDown")[0], "False");
});

test("a cluster that is not reached, or is being deleted, is not available and says why", () => {
  assert.deepEqual(
    said({ connection: undefined }, "RemoteConnectionProbe")[2],
    "Remote connection not established yet",
  );
  const lost = { connection: { isReached: false, why: "refused" } };
  assert.deepEqual(said(lost, "RemoteConnectionProbe"), ["False", "ProbeFailed", "Remote connection: refused"]);
  assert.deepEqual(said(lost, "Available"), [
    "False",
    "NotAvailable",
    "* RemoteConnectionProbe: Remote connection: refused",
  ]);
  const deleting = { reason: "WaitingForWorkers", message: "* Machines: a" };
  assert.deepEqual(said({ deleting }, "Deleting").slice(0, 2), ["True", "WaitingForWorkers"]);
  assert.deepEqual(said({ deleting }, "Available")[0], "False");
});

test("availability gates count, with the polarity that they name", () => {
  const gates = [{ conditionType: "Paid" }, { conditionType: "Frozen", polarity: "Negative" }];
  const available = (conditions: ReturnType<typeof is>[]) =>
    said({ cluster: cluster({ spec: { ...REFS, availabilityGates: gates }, status: { conditions } }) }, "Available")[0];
  assert.equal(available([is("Paid", "True"), is("Frozen", "False")]), "True");
  assert.equal(available([is("Paid", "True"), is("Frozen", "True")]), "False");
  assert.equal(available([is("Paid", "True")]), "Unknown");
});

test("a control plane of the older contract is Ready by its own word", () => {
  const v1 = (status: object) => {
    const of = seen("SimPlane", { status });
    return { controlPlane: { ...of, kind: { ...of.kind!, contract: "v1beta1" as const } } };
  };
  assert.deepEqual(old(v1({ initialized: true, ready: false }), "ControlPlaneReady")[0], "False");
  assert.deepEqual(old(v1({ initialized: true, ready: true }), "ControlPlaneReady")[0], "True");
  assert.deepEqual(old({}, "ControlPlaneReady")[0], "True");
});

test("a cluster is Ready as v1beta1 has it when its control plane and its infrastructure are", () => {
  const no = (kind: string) => seen(kind, {});
  assert.deepEqual(old({ infrastructure: no("SimCluster") }, "Ready"), ["False", "WaitingForInfrastructure"]);
  assert.deepEqual(old({ controlPlane: no("SimPlane") }, "Ready"), ["False", "WaitingForControlPlane"]);
});

test("what belongs to a cluster goes with it: each by whoever owns it, and none twice", () => {
  const leaving = { deletionTimestamp: ago(1) };
  const p = machine("p", { metadata: controlPlane });
  const all = {
    deployments: [deployment(), deployment({ metadata: leaving })],
    sets: [
      machineSet("own"),
      machineSet("of-berth", { metadata: owned("berth") }),
      machineSet("s", { metadata: leaving }),
    ],
    machines: [machine("own"), machine("of-set", { metadata: owned("own") }), machine("l", { metadata: leaving }), p],
  };
  const names = (of: object) =>
    Object.values(of).map((list: { metadata: { name: string } }[]) => list.map(({ metadata }) => metadata.name));
  assert.deepEqual(names(descendantsToDelete(cluster({ spec: REFS }), all)), [["berth"], ["own"], ["own"]]);
  assert.deepEqual(names(descendantsToDelete(cluster(), all)), [["berth"], ["own"], ["own", "p"]]);
});

test("what is left of a cluster is listed by name, the first five", () => {
  const none = { deployments: [], sets: [], machines: [] };
  const p = machine("p", { metadata: controlPlane });
  assert.equal(descendantsLeft(cluster({ spec: REFS }), { ...none, machines: [p] }), undefined);
  assert.equal(descendantsLeft(cluster(), { ...none, machines: [p] }), "* Machines: p");
  const machines = ["f", "e", "d", "c", "b", "a"].map((name) => machine(name));
  assert.equal(
    descendantsLeft(cluster(), { ...none, sets: [machineSet("s")], machines }),
    "* MachineSets: s\n* Machines: a, b, c, d, e, ... (1 more)",
  );
  assert.equal(descendantsLeft(cluster(), { ...none, machines: machines.slice(1) }), "* Machines: a, b, c, d, e");
});
