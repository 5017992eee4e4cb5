/** What a simulated site writes, object by object, and when. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client, KubeObject } from "@slipway/kube";
import { CustomResourceDefinition, type Node, Pod } from "@slipway/kube/core";
import { isReady, stateOf } from "../../views/standing.ts";
import { CapiMachine, ensureMachineKind, isStandIn } from "./capi-machine.ts";
import { follow } from "./follow.ts";
import { heartbeats } from "./heartbeats.ts";
import {
  type JoinRequest,
  kubeletConditions,
  machineNameOf,
  nodeDraft,
  nodeStatus,
  silentConditions,
} from "./node-object.ts";
import { podKeeper } from "./pods.ts";
import { PromotionOrder } from "./promotion.ts";
import { SiteRig } from "./rig.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const TIME = "2026-01-01T00:00:00Z";
const ID = "00000000-0000-4000-8000-000000000001";
const request: JoinRequest = {
  ...{ hostname: "m", token: "t", serverUrl: "u", labels: { rack: "7" }, role: "default", nics: [], machineId: ID },
  addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
};

test("a Node is registered with the labels of its role, and the annotations that name its Machine", () => {
  const machine = machineNameOf(ID);
  assert.match(machine, /^custom-[0-9a-f]{12}$/);
  const labels = {
    ...{ rack: "7", "kubernetes.io/hostname": "m", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
    ...{ "node.kubernetes.io/instance-type": "rke2", "harvesterhci.io/managed": "true" },
  };
  const annotations = {
    "cluster.x-k8s.io/cluster-name": "local",
    "cluster.x-k8s.io/cluster-namespace": "fleet-local",
    "cluster.x-k8s.io/machine": machine,
  };
  assert.deepEqual(nodeDraft(request), {
    metadata: { name: "m", labels, annotations },
    spec: { providerID: "rke2://m" },
  });
  const control = ["control-plane", "etcd", "master"].map((role) => [`node-role.kubernetes.io/${role}`, "true"]);
  assert.deepEqual(nodeDraft({ ...request, role: "witness", cordoned: true, founder: true, arch: "arm64" }), {
    metadata: {
      name: "m",
      labels: {
        ...{ ...labels, "kubernetes.io/arch": "arm64", "node-role.harvesterhci.io/witness": "true" },
        ...Object.fromEntries(control),
      },
      annotations,
    },
    spec: { providerID: "rke2://m", unschedulable: true },
  });
});

const fine = [
  ["MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
].map(([type, reason, message]) => ({ type, status: "False", reason, message, lastHeartbeatTime: TIME }));

test("a kubelet reports four conditions, and the control plane four others where it is silent", () => {
  const ready = { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" };
  assert.deepEqual(kubeletConditions(undefined, NOW), [...fine, { ...ready, lastHeartbeatTime: TIME }]);
  const not = { type: "Ready", status: "False", reason: "KubeletNotReady", message: "why" };
  assert.deepEqual(kubeletConditions("why", NOW), [...fine, { ...not, lastHeartbeatTime: TIME }]);
  assert.deepEqual(
    silentConditions(NOW),
    ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
      ...{ type, status: "Unknown", reason: "NodeStatusUnknown", lastTransitionTime: TIME },
      message: "Kubelet stopped posting node status.",
    })),
  );
});

test("a Node's status says what the machine is, or that it is simulated", () => {
  const resources = { cpu: "16", memory: "64Gi", pods: "200", "ephemeral-storage": "200Gi" };
  const { nodeInfo, conditions, ...status } = nodeStatus(request, NOW);
  assert.deepEqual(status, {
    addresses: [...request.addresses, { type: "Hostname", address: "m" }],
    ...{ capacity: resources, allocatable: resources },
  });
  assert.deepEqual(
    conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
    ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => [type, TIME]),
  );
  const { bootID, ...info } = nodeInfo!;
  assert.match(String(bootID), /^[0-9a-f]{32}$/);
  const common = { machineID: ID.replaceAll("-", ""), systemUUID: ID, operatingSystem: "linux" };
  assert.deepEqual(info, {
    ...{ ...common, kernelVersion: "6.4.0-simulated", osImage: "Harvester v1.8.1", architecture: "amd64" },
    containerRuntimeVersion: "containerd://2.1.4-k3s1",
    ...{ kubeletVersion: "v1.34.3+rke2r1", kubeProxyVersion: "v1.34.3+rke2r1" },
  });
  assert.notEqual(nodeStatus(request, NOW + 1).nodeInfo?.bootID, bootID);
  const system = { kernel: "6.1", image: "Own", cpus: 2, memory: "4Gi" };
  const own = nodeStatus({ ...request, arch: "arm64", version: "v1.9.0", system }, NOW);
  assert.deepEqual(own.capacity, { ...resources, cpu: "2", memory: "4Gi" });
  assert.deepEqual(
    { ...own.nodeInfo, bootID: "" },
    {
      ...{ ...common, bootID: "", kernelVersion: "6.1", osImage: "Own", architecture: "arm64" },
      ...{ containerRuntimeVersion: "", kubeletVersion: "", kubeProxyVersion: "" },
    },
  );
  assert.equal(nodeStatus({ ...request, version: "v1.9.0" }, NOW).nodeInfo?.osImage, "Harvester v1.9.0");
});

test("a Machine is ready while its Node is, and says so at its generation, as the console's overview counts it", async () => {
  const rig = await SiteRig.create();
  const of = async () => {
    await rig.clock.run(1_000);
    const machine = await rig.client.get(CapiMachine, { namespace: "fleet-local", name: machineNameOf(ID) });
    return [
      isReady(machine),
      stateOf(machine),
      (machine as { status?: { nodeRef?: { name: string } } }).status?.nodeRef?.name,
    ];
  };
  try {
    await rig.join(1);
    assert.deepEqual(await of(), [true, "Running", "node-1"]);
    await rig.whileTimePasses(rig.site.sicken("node-1", true));
    assert.deepEqual(await of(), [false, "Running", "node-1"]);
    await rig.whileTimePasses(rig.site.sicken("node-1", false));
    assert.deepEqual(await of(), [true, "Running", "node-1"]);
  } finally {
    rig.site.close();
    await rig.api.close();
  }
});

test("a machine that joins has its Machine, of a kind that stands in for Cluster API's, which is told by its open schema", async () => {
  const rig = await SiteRig.create();
  try {
    await rig.join(1);
    const { metadata, spec } = await rig.client.get(CapiMachine, {
      ...{ namespace: "fleet-local", name: machineNameOf(ID) },
    });
    assert.deepEqual(metadata.labels, { "cluster.x-k8s.io/cluster-name": "local" });
    const ref = { name: machineNameOf(ID), namespace: "fleet-local" };
    assert.deepEqual(spec, {
      clusterName: "local",
      bootstrap: { configRef: { ...ref, apiVersion: "rke.cattle.io/v1", kind: "RKEBootstrap" } },
      infrastructureRef: { ...ref, apiVersion: "rke.cattle.io/v1", kind: "CustomMachine" },
    });
    const crd = await rig.client.get(CustomResourceDefinition, { name: "machines.cluster.x-k8s.io" });
    const { scope, names, group, versions } = crd.spec as unknown as Record<string, object>;
    assert.deepEqual(
      { scope, names, group },
      {
        ...{ scope: "Namespaced", group: "cluster.x-k8s.io" },
        names: {
          plural: "machines",
          singular: "machine",
          kind: "Machine",
          listKind: "MachineList",
          shortNames: ["ma"],
        },
      },
    );
    const [version] = versions as unknown as Record<string, unknown>[];
    assert.deepEqual(
      [version!.name, version!.served, version!.storage, version!.subresources],
      [...["v1beta1", true, true], { status: {} }],
    );
    assert.equal(isStandIn(crd), true);
    const with2 = { ...crd, spec: { ...crd.spec, versions: [version, version] } };
    assert.equal(isStandIn(with2 as never), false);
    assert.equal(isStandIn({ ...crd, spec: {} } as never), false);
  } finally {
    await rig.close();
  }
});

test("a kind that is there is not made anew, and is waited for: a hundred looks, a tenth of a second apart", async () => {
  const clock = new VirtualClock(0);
  let looks = 0;
  const client = {
    find: async () => ({}),
    create: () => assert.fail("it was made"),
    get: async () => {
      looks++;
      const conditions = [
        { type: "Established", status: "False" },
        { type: "NamesAccepted", status: "True" },
      ];
      return looks === 3 ? {} : { status: { conditions } };
    },
  } as unknown as Client;
  const waiting = ensureMachineKind(client, clock);
  await clock.run(60_000);
  await waiting;
  assert.deepEqual([looks, clock.now() - 60_000, clock.pending], [100, 0, 0]);
  looks = 0;
  let isDone = false;
  void ensureMachineKind(client, clock).then(() => {
    isDone = true;
  });
  await clock.run(9_999);
  assert.equal(isDone, false);
  await clock.run(1);
  assert.equal(isDone, true);
});

test("beats come once a period for each, spread over thirty slots; a slot that still beats is skipped", async () => {
  const clock = new VirtualClock(0);
  const beats: string[] = [];
  let blocked: Promise<void> | undefined;
  const all = heartbeats<string>({
    ...{ clock, everyMs: 30_000 },
    beat: async (members) => {
      beats.push(`${clock.now() / 1000} ${members.join("+")}`);
      if (beats.length === 2) throw new Error("it failed");
      await blocked;
    },
  });
  assert.equal(clock.pending, 0, "without members no timer is armed");
  for (const member of ["a", "b", "a"]) all.add(member);
  for (let n = 2; n < 30; n++) all.add(String(n));
  all.add("again");
  await clock.run(31_000);
  assert.deepEqual(
    [beats[0], beats[1], beats[29], beats[30], beats.length],
    ["1 a+again", "2 b", "30 29", "31 a+again", 31],
  );
  await clock.run(1_000);
  assert.equal(beats.at(-1), "32 b", "one that failed beats again");
  let free = (): void => {};
  blocked = new Promise((resolve) => {
    free = resolve;
  });
  all.remove("a");
  all.remove("never there");
  await clock.run(60_000);
  assert.equal(beats.filter((line) => line.endsWith("again")).length, 3, "a slot that still beats");
  blocked = undefined;
  free();
  await clock.run(30_000);
  assert.equal(beats.filter((line) => / again$/.test(line)).length, 2);
  for (let n = 2; n < 30; n++) all.remove(String(n));
  for (const member of ["b", "again"]) all.remove(member);
  assert.equal(clock.pending, 0);
  all.add("c");
  assert.equal(clock.pending, 1);
  all.close();
  assert.equal(clock.pending, 0);
});

const node = (
  name: string,
  created: string,
  { labels = {}, annotations = {}, ready = "True", ...more }: Record<string, unknown> = {},
): Node =>
  ({
    metadata: { name, uid: name, creationTimestamp: created, labels, annotations, ...more },
    status: {
      conditions: [{ type: "Other", status: "True" }, ...(ready === "" ? [] : [{ type: "Ready", status: ready }])],
    },
  }) as never;

test("of three nodes or more the oldest ready one is promoted, those meant for management first, up to three managers", () => {
  const next = (...nodes: Node[]): string | undefined => {
    const order = new PromotionOrder();
    for (const each of nodes) order.changed(each);
    return order.next();
  };
  const manager = (name: string) => node(name, "0", { labels: { "node-role.kubernetes.io/control-plane": "true" } });
  const role = (name: string) => ({ labels: { [`node-role.harvesterhci.io/${name}`]: "true" } });
  const [a, b] = [node("a", "2"), node("b", "1")];
  assert.equal(next(a, b), undefined);
  assert.equal(next(a, b, manager("m")), "b");
  assert.equal(next(a, node("c", "2"), manager("m")), "a");
  assert.equal(next(a, b, node("c", "9", role("management"))), "c");
  for (const other of ["worker", "witness"]) assert.equal(next(a, node("b", "1", role(other)), manager("m")), "a");
  for (const ready of ["False", ""]) assert.equal(next(a, node("b", "1", { ready }), manager("m")), "a");
  const promoted = { annotations: { "harvesterhci.io/promote-status": "complete" } };
  assert.equal(next(a, node("b", "1", promoted), manager("m")), "a");
  assert.equal(next(a, node("b", "1", { deletionTimestamp: TIME }), manager("m"), node("d", "8")), "a");
  assert.equal(next(a, node("b", "1", { deletionTimestamp: TIME }), manager("m")), undefined);
  assert.equal(next(a, manager("m"), manager("n"), manager("o")), undefined);
  const running = { annotations: { "harvesterhci.io/promote-status": "running" } };
  assert.equal(next(node("x", "9", running)), "x");
  const order = new PromotionOrder();
  for (const each of [a, b, manager("m")]) order.changed(each);
  order.gone("b");
  assert.equal(order.next(), undefined);
  order.changed(node("c", "9"));
  assert.equal(order.next(), "a");
  order.changed(manager("a"));
  assert.equal(order.next(), "c");
});

test("Pods of a running node run, end within their grace, and are left alone while it is off", async () => {
  const clock = new VirtualClock(NOW);
  const calls: [what: unknown, name: unknown, ...more: unknown[]][] = [];
  let isOn = true;
  const client = {
    patch: async (_: unknown, ref: object, patch: { body: object }, options: object) => {
      calls.push(["patch", ref, patch, options]);
    },
    delete: async (_: unknown, ref: { name: string }, options: object) => {
      calls.push([(clock.now() - NOW) / 1000, ref.name, options]);
      throw new Fault("NotFound", "x", "y");
    },
  } as unknown as Client;
  const keeper = podKeeper({
    ...{ client, clock, stopMs: 5_000, runs: (name) => isOn && name === "n" },
    addressOf: (name) => (name === "n" ? "10.0.0.1" : undefined),
  });
  const pod = (name: string, { phase, spec = {}, ...metadata }: Record<string, unknown> = {}): Pod =>
    ({
      metadata: { namespace: "d", name, uid: `u-${name}`, ...metadata },
      spec: { nodeName: "n", containers: [{ name: "c", image: "i" }, { name: "bare" }], ...(spec as object) },
      ...(phase !== undefined && { status: { phase } }),
    }) as never;
  keeper.changed(pod("new"));
  const container = {
    imageID: "",
    ready: true,
    started: true,
    restartCount: 0,
    state: { running: { startedAt: TIME } },
  };
  assert.deepEqual(calls, [
    [
      ...["patch", { namespace: "d", name: "new" }],
      {
        type: "merge",
        body: {
          status: {
            ...{ phase: "Running", startTime: TIME, hostIP: "10.0.0.1" },
            conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
              ...{ type, status: "True", lastTransitionTime: TIME },
            })),
            containerStatuses: [
              { name: "c", image: "i", ...container },
              { name: "bare", image: "", ...container },
            ],
          },
        },
      },
      { subresource: "status" },
    ],
  ]);
  calls.length = 0;
  for (const phase of ["Running", "Succeeded", "Failed"]) keeper.changed(pod(phase, { phase }));
  for (const nodeName of [undefined, "", "other"]) keeper.changed(pod("elsewhere", { spec: { nodeName } }));
  assert.equal(calls.length, 0);
  keeper.changed(pod("bare", { phase: "Pending", spec: { containers: undefined } }));
  assert.deepEqual(
    (calls.pop()![2] as { body: { status: Record<string, unknown> } }).body.status.containerStatuses,
    [],
  );
  const end = { deletionTimestamp: TIME };
  keeper.changed(pod("long", end));
  keeper.changed(pod("long", end));
  keeper.changed(pod("short", { ...end, deletionGracePeriodSeconds: 1 }));
  keeper.changed(pod("at-once", { ...end, deletionGracePeriodSeconds: 0 }));
  keeper.changed(pod("gone", end));
  keeper.gone(pod("gone", end));
  keeper.gone(pod("unknown"));
  keeper.gone({ metadata: { namespace: "d", name: "bare" } } as never);
  await clock.run(10_000);
  const with0 = (name: string) => ({ uid: `u-${name}`, gracePeriodSeconds: 0 });
  assert.deepEqual(calls, [
    [0, "at-once", with0("at-once")],
    [1, "short", with0("short")],
    [5, "long", with0("long")],
  ]);
  calls.length = 0;
  keeper.changed(pod("cut", end));
  isOn = false;
  await clock.run(10_000);
  keeper.changed(pod("off"));
  keeper.resume("n");
  assert.equal(calls.length, 0);
  isOn = true;
  keeper.resume("n");
  keeper.resume("nowhere");
  assert.ok(calls.some(([what, ref]) => what === "patch" && (ref as { name: string }).name === "off"));
  calls.length = 0;
  keeper.collect("nowhere");
  keeper.collect("n");
  assert.ok(calls.length > 5 && calls.every(([at]) => at === 20));
  keeper.changed(pod("last", end));
  keeper.close();
  assert.equal(clock.pending, 0);
});

test("a follower tells a list, then each change; what broke is listed anew after a second, and what went meanwhile is told", async () => {
  const clock = new VirtualClock(0);
  const stop = new AbortController();
  const told: string[] = [];
  const say = (what: string): void => void told.push(`${clock.now() / 1000} ${what}`);
  const object = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion, uid: name } });
  const lists: (string[] | "broken")[] = [["a", "b"], "broken", ["b", "c"], ["c"]];
  let listed = 0;
  const watches: (readonly [type: string, name: string, version: string][] | "broken")[] = [
    [
      ["ADDED", "n", "11"],
      ["BOOKMARK", "", "12"],
      ["MODIFIED", "a", "13"],
      ["DELETED", "b", "14"],
    ],
    [],
    "broken",
    [["ERROR", "", ""]],
  ];
  const client = {
    list: async (_: unknown, { fieldSelector }: { fieldSelector?: string }) => {
      say(`list ${fieldSelector}`);
      const names = lists[listed++];
      if (names === undefined || names === "broken") throw new Fault("Unavailable", "x", "y");
      return { items: names.map((name) => object(name, "1")), resourceVersion: String(listed * 10) };
    },
    watch: async (
      _: unknown,
      { resourceVersion, fieldSelector }: { resourceVersion: string; fieldSelector?: string },
    ) => {
      say(`watch ${resourceVersion} ${fieldSelector}`);
      const events = watches.shift() ?? "broken";
      if (events === "broken") throw new Fault("Unavailable", "x", "y");
      return (async function* () {
        for (const [type, name, version] of events) yield { type, object: object(name, version) };
      })();
    },
  } as unknown as Client;
  const following = follow({
    ...{ client, clock, signal: stop.signal, resource: Pod as never, fieldSelector: "f=1" },
    changed: ({ metadata }: KubeObject) => say(`changed ${metadata.name}`),
    gone: ({ metadata }: KubeObject) => say(`gone ${metadata.name}`),
    whole: () => say("whole"),
  });
  await clock.run(6_500);
  stop.abort();
  await following;
  assert.equal(clock.pending, 0);
  assert.deepEqual(told, [
    "0 list f=1",
    "0 changed a",
    "0 changed b",
    "0 whole",
    "0 watch 10 f=1",
    "0 changed n",
    "0 whole",
    "0 whole",
    "0 changed a",
    "0 whole",
    "0 gone b",
    "0 whole",
    "1 watch 14 f=1",
    "2 watch 14 f=1",
    "3 list f=1",
    "4 list f=1",
    "4 gone a",
    "4 gone n",
    "4 changed b",
    "4 changed c",
    "4 whole",
    "4 watch 30 f=1",
    "5 list f=1",
    "5 gone b",
    "5 changed c",
    "5 whole",
    "5 watch 40 f=1",
    "6 list f=1",
  ]);
});
