/** Which changes of which objects wake the core's controllers, and whom they leave alone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { type Controller, controllerReference, type KubeObject, ownerReference, type Ref } from "@slipway/kube";
import { ANNOTATIONS, FINALIZERS, LABELS } from "../../cluster-api/names.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { MachineDeployment } from "../../kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../kinds/cluster-api/machine-set.ts";
import { clusterController } from "./cluster/cluster-controller.ts";
import { machineController } from "./machine/machine-controller.ts";
import { machineDeploymentController } from "./machine-deployment/machine-deployment-controller.ts";
import { machineHealthCheckController } from "./machine-health-check/machine-health-check-controller.ts";
import { MachineInterests } from "./machine-interests.ts";
import { machineSetController } from "./machine-set/machine-set-controller.ts";
import type { CoreParts } from "./parts.ts";
import {
  ago,
  cluster,
  contextOver,
  deployment,
  externalOver,
  holding,
  is,
  machine,
  machineSet,
  machineSpec,
} from "./testing.ts";

const ref = (name: string): Ref => ({ namespace: "default", name });

/** A cache of these objects, with the index of objects by their cluster. */
function cacheOf(...objects: KubeObject[]) {
  const list = ({ kind }: { kind: string }) => objects.filter((object) => object.kind === kind);
  return {
    list,
    get: (of: { kind: string }, { name }: Ref) => list(of).find(({ metadata }) => metadata.name === name),
    byIndex: (of: { kind: string }, index: string, key: string) =>
      index !== "cluster"
        ? []
        : list(of).filter((object) => {
            const { clusterName } = (object as unknown as { spec: { clusterName: string } }).spec;
            return `${object.metadata.namespace}/${clusterName}` === key;
          }),
  };
}

/** Whom a change of an object wakes, with these others in the cache: names; undefined: the change is none. */
const waking =
  (of: Controller, ...cached: KubeObject[]) =>
  (kind: string, object: KubeObject, before?: KubeObject) => {
    const source = of.sources.find(({ resource }) => resource.kind === kind)!;
    if (before !== undefined && source.when?.(object, before) === false) return undefined;
    const keys = source.keys?.(object, before, cacheOf(object, ...cached) as never) ?? [ref(object.metadata.name)];
    return keys.map(({ namespace, name }) => `${namespace}/${name}`);
  };

function parts(of: { foreign?: string } = {}) {
  const asked: string[] = [];
  const here = {
    foreign: { found: async () => of.foreign },
    workloads: { drop: async ({ name }: Ref) => void asked.push(`drop ${name}`), onChange: () => () => {} },
    external: { forget: (who: string) => void asked.push(`forget ${who}`) },
    interests: new MachineInterests(),
  } as unknown as CoreParts;
  return { parts: here, asked };
}
const CORE = parts().parts;

const paused = (of: Cluster, isPaused: boolean): Cluster => ({ ...of, spec: { ...of.spec, paused: isPaused } });
const initialized = (of: Cluster, initialization: object): Cluster =>
  ({ ...of, status: { initialization } }) as unknown as Cluster;

test("a Cluster is woken by itself, and by its objects where what it sums up changes", () => {
  const controller = clusterController(CORE);
  const woken = waking(controller);
  assert.deepEqual(woken("Cluster", cluster()), ["default/quay"]);
  const before = machine("m", {
    status: { conditions: [is("Ready", "True", { message: "a" })], nodeRef: { name: "n" } },
  });
  const after = (status: object) => machine("m", { status: { ...before.status, ...status } });
  assert.deepEqual(woken("Machine", before), ["default/quay"], "a new one");
  assert.equal(woken("Machine", after({ phase: "Running" }), before), undefined);
  assert.equal(
    woken(
      "Machine",
      after({ conditions: [is("Ready", "True", { message: "a", lastTransitionTime: ago(1) })] }),
      before,
    ),
    undefined,
  );
  for (const status of [
    { conditions: [is("Ready", "False", { message: "a" })] },
    { conditions: [is("Ready", "True", { message: "b" })] },
    { nodeRef: { name: "o" } },
  ])
    assert.deepEqual(woken("Machine", after(status), before), ["default/quay"], JSON.stringify(status));
  const leaving = machine("m", { metadata: { deletionTimestamp: ago(0) }, status: before.status! });
  assert.deepEqual(woken("Machine", leaving, before), ["default/quay"]);
  const set = machineSet("s", { status: { replicas: 1, readyReplicas: 1, availableReplicas: 1, upToDateReplicas: 1 } });
  for (const name of ["replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"]) {
    const next = machineSet("s", { status: { ...set.status, [name]: 2 } });
    assert.deepEqual(woken("MachineSet", next, set), ["default/quay"], name);
  }
  const wider = deployment({ spec: { replicas: 9 } });
  assert.deepEqual(woken("MachineDeployment", wider, deployment()), ["default/quay"]);
  assert.equal(woken("MachineDeployment", deployment(), deployment()), undefined);
});

test("Machines are woken by a Cluster that is paused, deleted, or is up by now; not by its sets", () => {
  const controller = machineController(CORE);
  const woken = waking(controller);
  const cached = [machine("a"), machine("b"), machine("c", { spec: { clusterName: "other" } })];
  const wakes = (after: Cluster, before?: Cluster) => waking(controller, ...cached)("Cluster", after, before);
  const all = ["default/a", "default/b"];
  assert.deepEqual(wakes(cluster()), all);
  assert.equal(wakes(cluster(), cluster()), undefined);
  assert.equal(wakes(cluster({ metadata: { labels: { a: "b" } } }), cluster()), undefined);
  assert.deepEqual(wakes(paused(cluster(), true), cluster()), all);
  assert.deepEqual(wakes(cluster({ metadata: { deletionTimestamp: ago(0) } }), cluster()), all);
  assert.deepEqual(wakes(initialized(cluster(), { infrastructureProvisioned: true }), cluster()), all);
  assert.deepEqual(wakes(initialized(cluster(), { controlPlaneInitialized: true }), cluster()), all);
  assert.deepEqual(woken("MachineSet", machineSet("s")), []);
  assert.deepEqual(woken("MachineDeployment", deployment()), []);
});

test("a set is woken by its Machines, by orphans that it selects, by its deployment, and by a pause of its Cluster", () => {
  const controller = machineSetController(CORE);
  const set = machineSet("s", { spec: { selector: { matchLabels: { app: "x" } } } });
  const other = machineSet("o", { spec: { selector: { matchLabels: { app: "y" } } } });
  const owned = (kind: string) =>
    machine("m", {
      metadata: { labels: { app: "x" }, ownerReferences: [{ ...controllerReference(MachineSet, set), kind }] },
    });
  const among = waking(controller, set, other);
  assert.deepEqual(among("Machine", owned("MachineSet")), ["default/s"]);
  assert.deepEqual(among("Machine", owned("KamajiControlPlane")), []);
  const orphan = machine("m", { metadata: { labels: { app: "y" } } });
  assert.deepEqual(among("Machine", orphan), ["default/o"]);
  const berth = deployment();
  const ofBerth = machineSet("s", { metadata: { ownerReferences: [controllerReference(MachineDeployment, berth)] } });
  assert.deepEqual(waking(controller, ofBerth, other)("MachineDeployment", berth), ["default/s"]);
  assert.deepEqual(waking(controller, set)("Cluster", cluster()), ["default/s"], "it came before its Cluster");
  assert.deepEqual(waking(controller, set)("Cluster", paused(cluster(), true), cluster()), ["default/s"]);
  assert.equal(waking(controller, set)("Cluster", cluster(), cluster()), undefined);
});

test("a deployment is woken by its sets, by Machines with its label, and by a pause of its Cluster", () => {
  const controller = machineDeploymentController(CORE);
  const woken = waking(controller);
  const berth = deployment();
  const set = machineSet("s", { metadata: { ownerReferences: [controllerReference(MachineDeployment, berth)] } });
  assert.deepEqual(woken("MachineSet", set), ["default/berth"]);
  assert.deepEqual(woken("MachineSet", machineSet("s")), []);
  const other = machineSet("s", {
    metadata: { ownerReferences: [{ ...controllerReference(MachineDeployment, berth), kind: "X" }] },
  });
  assert.deepEqual(woken("MachineSet", other), []);
  const labelled = machine("m", { metadata: { labels: { [LABELS.deploymentName]: "berth" } } });
  assert.deepEqual(woken("Machine", labelled), ["default/berth"]);
  assert.deepEqual(woken("Machine", machine("m")), []);
  assert.deepEqual(waking(controller, berth)("Cluster", cluster()), ["default/berth"], "the Cluster came later");
  assert.deepEqual(waking(controller, berth)("Cluster", paused(cluster(), true), cluster()), ["default/berth"]);
  assert.equal(waking(controller, berth)("Cluster", cluster(), cluster()), undefined);
});

test("a health check is woken by Machines of its cluster that it selects, and by a Cluster that is paused or comes up", () => {
  const controller = machineHealthCheckController(CORE);
  const check = (name: string, spec: object): KubeObject =>
    ({
      ...{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "MachineHealthCheck" },
      metadata: { name, namespace: "default" },
      spec: { clusterName: "quay", selector: {}, ...spec },
    }) as unknown as KubeObject;
  const checks = [
    check("all", {}),
    check("some", { selector: { matchLabels: { app: "x" } } }),
    check("other", { clusterName: "other" }),
  ];
  const woken = waking(controller, ...checks);
  const wakes = (labels: Record<string, string>) => woken("Machine", machine("m", { metadata: { labels } }));
  assert.deepEqual(wakes({ app: "x" }), ["default/all", "default/some"]);
  assert.deepEqual(wakes({}), ["default/all"]);
  const both = ["default/all", "default/some"];
  assert.deepEqual(woken("Cluster", paused(cluster(), true), cluster()), both);
  const up = initialized(cluster(), { controlPlaneInitialized: true });
  assert.deepEqual(woken("Cluster", up, cluster()), both);
  assert.equal(woken("Cluster", up, up), undefined);
});

/** Conditions and finalizer of an object that the core runs already. */
const run = (finalizer: string, more: object = {}) => ({
  finalizers: [finalizer],
  labels: { [LABELS.clusterName]: "quay" },
  ...more,
});
const SHOWN = { conditions: [is("Paused", "False", { reason: "NotPaused" })] };

const CONTROLLERS = [
  ["Cluster", clusterController, cluster()],
  ["Machine", machineController, machine("m")],
  ["MachineSet", machineSetController, machineSet("s")],
  ["MachineDeployment", machineDeploymentController, deployment()],
] as const;

for (const [kind, make, object] of CONTROLLERS) {
  test(`a ${kind} that is gone is forgotten, and one that upstream's core or nobody of ours runs is left alone`, async () => {
    const run = async (of: { foreign?: string }, ...cached: KubeObject[]) => {
      const { parts: here, asked } = parts(of);
      const held = holding(...cached);
      const context = { ...contextOver(held).context, cache: cacheOf(...cached) };
      const outcome = await make(here).reconcile(
        { namespace: "default", name: object.metadata.name },
        context as never,
      );
      assert.deepEqual([outcome, held.asked], [{ done: true }, []]);
      return asked;
    };
    const forgotten = await run({});
    if (kind === "Cluster") assert.deepEqual(forgotten, ["drop quay", "forget Cluster/default/quay"]);
    else if (kind !== "MachineDeployment")
      assert.deepEqual(forgotten, [`forget ${kind}/default/${object.metadata.name}`]);
    assert.deepEqual(await run({ foreign: "upstream" }, object, cluster()), []);
    if (kind !== "Cluster") assert.deepEqual(await run({}, object), [], "of no Cluster of ours");
  });

  test(`a ${kind} that is paused says so, and nothing else is done`, async () => {
    const annotations = { [ANNOTATIONS.paused]: "" };
    const stopped = { ...object, metadata: { ...object.metadata, annotations } };
    const held = holding(stopped);
    const cached = kind === "Cluster" ? [stopped] : [stopped, cluster()];
    const context = { ...contextOver(held).context, cache: cacheOf(...cached) };
    const reconcile = () =>
      make(parts().parts).reconcile({ namespace: "default", name: object.metadata.name }, context as never);
    assert.deepEqual(await reconcile(), { done: true });
    assert.deepEqual(held.asked, [`status ${kind}/${object.metadata.name}`]);
    const { conditions } = held.bodies.get(held.asked[0]!) as { conditions: { type: string; status: string }[] };
    assert.deepEqual(
      conditions.map(({ type, status }) => `${type} ${status}`),
      ["Paused True"],
    );
  });
}

test("a set says of its Machines whether they are up to date once they have a status of their own", async () => {
  const berth = deployment({ template: { version: "v2" } });
  const set = machineSet("s", {
    ...{ metadata: run(FINALIZERS.machineSet, { ownerReferences: [controllerReference(MachineDeployment, berth)] }) },
    ...{ status: SHOWN, spec: { replicas: 1 }, template: { version: "v1" } },
  });
  for (const [status, told] of [
    [undefined, []],
    [{ observedGeneration: 1 }, ["UpToDate False"]],
  ] as const) {
    const member = machine("m", {
      metadata: { ownerReferences: [controllerReference(MachineSet, set)] },
      ...(status && { status }),
    });
    const held = holding(set, member);
    const context = { ...contextOver(held).context, cache: cacheOf(set, berth, member, cluster()) };
    await machineSetController({ ...CORE, external: externalOver(held) }).reconcile(ref("s"), context as never);
    const { conditions = [] } = (held.bodies.get("status Machine/m") ?? {}) as {
      conditions?: { type: string; status: string }[];
    };
    assert.deepEqual(
      conditions.map(({ type, status: value }) => `${type} ${value}`),
      told,
    );
  }
});

test("what is leaving and no longer has the core's finalizer is left to go", async () => {
  for (const [kind, make, object] of CONTROLLERS) {
    const leaving = {
      ...object,
      metadata: { ...object.metadata, deletionTimestamp: ago(1), finalizers: ["other"] },
      status: { conditions: [is("Paused", "False", { reason: "NotPaused" })] },
    };
    const held = holding(leaving);
    const cached = kind === "Cluster" ? [leaving] : [leaving, cluster()];
    const context = { ...contextOver(held).context, cache: cacheOf(...cached) };
    const core = parts().parts;
    const seen = { ...core, external: { ...core.external, read: async () => ({ object: undefined }) } };
    const ref = { namespace: "default", name: object.metadata.name };
    assert.deepEqual(await make(seen as never).reconcile(ref, context as never), { done: true }, kind);
    assert.deepEqual(held.asked, [], kind);
  }
});

test("a set of many makes a hundred Machines in a pass, and the rest in the next ones", async () => {
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "SimMachineTemplate", name: "t" };
  const set = machineSet("s", {
    ...{ metadata: run(FINALIZERS.machineSet), status: SHOWN, spec: { replicas: 130 } },
    template: { infrastructureRef, bootstrap: { dataSecretName: "data" } },
  });
  const template = { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2", kind: "SimMachineTemplate" };
  const metadata = { name: "t", namespace: "default", uid: "t", ownerReferences: [ownerReference(Cluster, cluster())] };
  const held = holding(set, { ...template, metadata, spec: { template: { spec: {} } } } as unknown as KubeObject);
  const controller = machineSetController({ ...CORE, external: externalOver(held) });
  const made = () => [...held.asked].filter((line) => line.startsWith("create Machine/"));
  for (const count of [100, 130]) {
    const cached = made().map((line) => held.get("Machine", line.split("/")[1]!)!);
    const context = { ...contextOver(held).context, cache: cacheOf(set, cluster(), ...cached) };
    await controller.reconcile(ref("s"), context as never);
    assert.equal(made().length, count);
  }
});

test("a set and a deployment that are deleted take what they made with them, and wait for its end", async () => {
  const set = machineSet("s", { metadata: run(FINALIZERS.machineSet, { deletionTimestamp: ago(1) }), status: SHOWN });
  const member = machine("m", { metadata: { ownerReferences: [controllerReference(MachineSet, set)] } });
  const berth = deployment({
    metadata: run(FINALIZERS.machineDeployment, { deletionTimestamp: ago(1) }),
    status: SHOWN,
  });
  const own = machineSet("o", { metadata: { ownerReferences: [controllerReference(MachineDeployment, berth)] } });
  for (const [make, object, made] of [
    [machineSetController, set, member],
    [machineDeploymentController, berth, own],
  ] as const) {
    const { name } = object.metadata;
    const pass = async (fault?: Fault, ...cached: KubeObject[]) => {
      const held = holding(object, ...cached);
      if (fault !== undefined) held.faults.set(`delete ${made.kind}`, fault);
      const context = { ...contextOver(held).context, cache: cacheOf(object, cluster(), ...cached) };
      await make(CORE).reconcile(ref(name), context as never);
      return held;
    };
    const first = await pass(undefined, made);
    assert.equal(first.asked[0], `delete ${made.kind}/${made.metadata.name}`);
    assert.deepEqual(first.bodies.get(first.asked[0]), { uid: made.metadata.uid });
    assert.deepEqual(first.get(object.kind, name)?.metadata.finalizers, object.metadata.finalizers, "it waits");
    for (const code of ["NotFound", "Conflict"] as const) await pass(new Fault(code, "it", "meanwhile"), made);
    await assert.rejects(pass(new Fault("Forbidden", "it", "no right"), made), /no right/);
    const leaving = { ...made, metadata: { ...made.metadata, deletionTimestamp: ago(1) } };
    assert.ok(!(await pass(undefined, leaving)).asked.some((line) => line.startsWith("delete")), "it is asked once");
    assert.deepEqual((await pass()).get(object.kind, name)?.metadata.finalizers, []);
  }
});

test("empty sets of earlier templates go once all Machines of the current one are there", async () => {
  const labels = { [LABELS.deploymentName]: "berth", [LABELS.clusterName]: "quay" };
  const template = { metadata: { labels }, spec: machineSpec({ version: "v2" }) };
  const berth = deployment({
    metadata: run(FINALIZERS.machineDeployment, {
      annotations: { [ANNOTATIONS.revision]: "2" },
      ownerReferences: [ownerReference(Cluster, cluster())],
    }),
    spec: { selector: { matchLabels: labels }, template },
    status: SHOWN,
  });
  const set = (name: string, replicas: number, version: string, status?: object) =>
    machineSet(name, {
      metadata: {
        annotations: { [ANNOTATIONS.revision]: version === "v2" ? "2" : "1" },
        ownerReferences: [controllerReference(MachineDeployment, berth)],
      },
      ...{ spec: { replicas, template: { ...template, spec: machineSpec({ version }) } }, ...(status && { status }) },
    });
  const whole = set("new", 3, "v2", { replicas: 3, availableReplicas: 3 });
  const deleted = async (...sets: KubeObject[]) => {
    const held = holding(berth, ...sets);
    const context = { ...contextOver(held).context, cache: cacheOf(berth, cluster(), ...sets) };
    await machineDeploymentController(CORE).reconcile(ref("berth"), context as never);
    return held.asked.filter((line) => line.startsWith("delete"));
  };
  assert.deepEqual(await deleted(whole, set("old", 0, "v1", { replicas: 0 })), ["delete MachineSet/old"]);
  assert.deepEqual(await deleted(whole, set("old", 0, "v1")), ["delete MachineSet/old"], "one that never had any");
  assert.deepEqual(await deleted(whole, set("old", 0, "v1", { replicas: 1 })), [], "one still has a Machine");
  assert.deepEqual(await deleted(set("new", 3, "v2", { replicas: 3, availableReplicas: 2 }), set("old", 0, "v1")), []);
  assert.deepEqual(await deleted(set("new", 3, "v2", { replicas: 2, availableReplicas: 3 }), set("old", 0, "v1")), []);
  assert.deepEqual(await deleted(set("new", 3, "v2"), set("old", 0, "v1")), []);
});
