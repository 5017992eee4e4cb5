/** The verbs that show what there is, on an API of this process. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock, isFault } from "@slipway/base";
import { CREW_LABEL, type KubeObject } from "@slipway/kube";
import { Event, Lease } from "@slipway/kube/core";
import { load } from "js-yaml";
import { Cluster, ClusterV1beta1 } from "../kinds/cluster-api/cluster.ts";
import { installCrds } from "../kinds/install.ts";
import type { Kind } from "../kinds/kind.ts";
import { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { SYSTEMS } from "../operator/systems.ts";
import { verb as complete } from "./complete.ts";
import { verb as events } from "./events.ts";
import { verb as get } from "./get.ts";
import { verb as status } from "./status.ts";
import { going, servedCluster, spoken } from "./testing.ts";
import { verb as tree } from "./tree.ts";
import type { Verb } from "./verb.ts";

/** The first system's pool and machine: this file knows no system. */
const [POOL, MACHINE] = (["pools", "machines"] as const).map((role) => SYSTEMS[0]!.shows![role]![0]!) as [Kind, Kind];

const linesOf = (out: string): string[] => out.trimEnd().split("\n");

/** A cluster with a pool, a machine of it that waits and has a warning, and a host of the inventory that is given to it. */
async function scene(t: TestContext) {
  const { client, kubeconfig } = await servedCluster(t);
  await installCrds(client, clock, new AbortController().signal, [[POOL], [MACHINE], [BareMetalHost]]);
  const pool = await client.create(POOL, { metadata: { name: "workers" }, spec: { count: 2 } } as never);
  const owner = {
    apiVersion: pool.apiVersion,
    kind: POOL.kind,
    name: "workers",
    uid: pool.metadata.uid,
    controller: true,
  };
  const metadata = { name: "workers-1", ownerReferences: [owner], labels: { rack: "a" } };
  const made = await client.create(MACHINE, { metadata, spec: {} } as never);
  const waitingSince = new Date(clock.now() - 125_000).toISOString();
  const machine = { status: "ordering", waitingFor: "capacity in SAO", waitingSince };
  await client.updateStatus(MACHINE, { ...made, status: machine } as KubeObject);
  const consumerRef = { apiVersion: made.apiVersion, kind: MACHINE.kind, name: "workers-1" };
  await client.create(BareMetalHost, {
    metadata: { namespace: "default", name: "node-1" },
    spec: { online: true, consumerRef },
  } as never);
  const lastTimestamp = new Date(clock.now() - 61_000).toISOString().replace(/\.\d+/, "");
  const involvedObject = { kind: MACHINE.kind, name: "workers-1" };
  const warning = {
    type: "Warning",
    reason: "NoCapacity",
    message: "none left",
    count: 3,
    firstTimestamp: lastTimestamp,
    lastTimestamp,
  };
  await client.create(Event, { metadata: { namespace: "default", name: "e1" }, involvedObject, ...warning } as never);
  const pod = { kind: "Pod", namespace: "default", name: "p" };
  await client.create(Event, {
    metadata: { namespace: "default", name: "e2" },
    involvedObject: pod,
    ...warning,
  } as never);
  const slipway = (verb: Verb, ...args: string[]) => spoken(t, verb, ...args, "--kubeconfig", kubeconfig);
  return { client, kubeconfig, slipway };
}

test("status shows machines by state, pools, what waits and since when, and recent warnings of the systems' kinds", async (t) => {
  const { slipway } = await scene(t);
  const { out, code } = await slipway(status, "status");
  assert.equal(code, 0);
  assert.match(
    out,
    new RegExp(`^Machines\\n.*\\n {2}${MACHINE.kind} +1 +0 +ordering 1\\n {2}BareMetalHost +1 +0 +new 1\\n`),
  );
  assert.match(out, new RegExp(`^ {2}${POOL.kind}/workers +new +0/2 +░{10} +\\d+s$`, "m"));
  assert.match(out, new RegExp(`^Waiting\\n.*\\n {2}${MACHINE.kind}/workers-1 +2m\\d+s +capacity in SAO +-$`, "m"));
  assert.match(
    out,
    new RegExp(`^Failed\\n.*\\n {2}${MACHINE.kind}/workers-1 +1m\\d+s +NoCapacity \\(3 times\\) +none left\\n$`, "m"),
  );
});

test("status as JSON and as YAML is the same data, with moments as texts", async (t) => {
  const { slipway } = await scene(t);
  const document = JSON.parse((await slipway(status, "status", "-o", "json")).out);
  assert.deepEqual(Object.keys(document), ["time", "machines", "pools", "clusters", "waiting", "failures"]);
  assert.match(document.waiting[0].waitsSince, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const yaml = load((await slipway(status, "status", "-o", "yaml")).out) as typeof document;
  assert.deepEqual({ ...yaml, time: "" }, { ...document, time: "" });
});

test("status shows who holds which shards, where an operator shares its work out", async (t) => {
  const { client, slipway } = await scene(t);
  const lease = (name: string, holderIdentity: string) => {
    const labels = { [CREW_LABEL]: "slipway-1" };
    const spec = {
      holderIdentity,
      leaseDurationSeconds: 600,
      renewTime: new Date(clock.now()).toISOString().replace("Z", "000Z"),
    };
    return client.create(Lease, { metadata: { namespace: "default", name: `slipway-1-${name}`, labels }, spec });
  };
  for (const [name, holder] of [
    ["replica-a", "pod-a"],
    ["replica-b", "pod-b"],
    ["shard-0", "pod-a"],
    ["shard-1", "pod-a"],
    ["shard-2", ""],
  ] as const)
    await lease(name, holder);
  const { out } = await slipway(status, "status");
  assert.match(out, /^Shards\n +CREW +HELD +BY +NOT HELD\n +default\/slipway-1 +2\/3 +pod-a 2, pod-b 0 +2$/m);
  const { shards } = JSON.parse((await slipway(status, "status", "-o", "json")).out);
  assert.deepEqual(shards, [
    { namespace: "default", crew: "slipway-1", shards: 3, held: { "pod-a": 2, "pod-b": 0 }, free: [2] },
  ]);
});

test("status of a cluster without anything says so", async (t) => {
  const { kubeconfig } = await servedCluster(t);
  const { out } = await spoken(t, status, "status", "--kubeconfig", kubeconfig);
  assert.match(out, /^There are no machines, pools or clusters yet/);
});

test("status --watch prints the screen anew when something changes, and ends at Ctrl-C", async (t) => {
  const { client, kubeconfig } = await scene(t);
  const watching = going(t, status, "status", "--watch", "--kubeconfig", kubeconfig);
  await watching.line(/ordering 1/);
  await client.patch(
    MACHINE,
    { name: "workers-1" },
    { type: "merge", body: { status: { status: "managed" } } },
    { subresource: "status" },
  );
  await watching.line(/managed 1/);
  assert.equal((await watching.stop()).code, 0);
});

test("status is shown wide, by names, and of what selectors choose, its warnings included", async (t) => {
  const { slipway } = await scene(t);
  const wide = (await slipway(status, "status", "-o", "wide")).out;
  assert.match(wide, new RegExp(`^Pools\\n +NAME .* BELONGS TO +WAITS FOR\\n +${POOL.kind}/workers .* - +-$`, "m"));
  const names = [`${MACHINE.singular}.${MACHINE.group}/workers-1`, "baremetalhost.metal3.io/node-1"];
  const pool = `${POOL.singular}.${POOL.group}/workers`;
  assert.deepEqual(linesOf((await slipway(status, "status", "-o", "name")).out).sort(), [...names, pool].sort());
  const document = async (...args: string[]) =>
    JSON.parse((await slipway(status, "status", "-o", "json", ...args)).out);
  const counted = ({ machines, pools, failures }: Record<string, unknown[]>) =>
    [machines, pools, failures].map((a) => a!.length);
  assert.deepEqual(counted(await document()), [2, 1, 1]);
  assert.deepEqual(counted(await document("-l", "rack=a")), [1, 0, 1]);
  assert.deepEqual(counted(await document("--field-selector", "metadata.name=workers")), [0, 1, 0]);
  assert.deepEqual(counted(await document("-l", "rack=b")), [0, 0, 0]);
});

test("status --watch for programs is a document a line of JSON, and one of YAML behind its mark", async (t) => {
  const { client, kubeconfig } = await scene(t);
  const watch = async (output: string, first: RegExp) => {
    const watching = going(t, status, "status", "--watch", "-o", output, "--kubeconfig", kubeconfig);
    await watching.line(first);
    const body = { metadata: { labels: { seen: output } }, status: { status: `by-${output}` } };
    await client.patch(MACHINE, { name: "workers-1" }, { type: "merge", body }, { subresource: "status" });
    await watching.line(new RegExp(`by-${output}`));
    return (await watching.stop()).out;
  };
  const documents = linesOf(await watch("json", /"machines"/)).map((line) => JSON.parse(line));
  assert.deepEqual(
    documents.map(({ machines }) => machines.length),
    documents.map(() => 2),
  );
  assert.ok(documents.length >= 2);
  const [nothing, ...yaml] = (await watch("yaml", /^machines:/)).split(/^---\n/m);
  assert.equal(nothing, "");
  assert.ok(yaml.length >= 2);
  for (const one of yaml) assert.equal((load(one) as { machines: object[] }).machines.length, 2);
});

test("a field that no kind has is refused with the API's words; a listing with --watch says so, too", async (t) => {
  const { slipway } = await scene(t);
  const refused = (error: unknown) => isFault(error, "BadRequest") && /spec\.no/.test(error.advice);
  for (const more of [[], ["--watch"]]) {
    const args = ["--field-selector", "spec.no=1", ...more];
    await assert.rejects(slipway(status, "status", ...args), refused);
    await assert.rejects(slipway(get, "get", "machines", ...args), refused);
    await assert.rejects(slipway(tree, "tree", "bmh", ...args), refused);
    await assert.rejects(slipway(events, "events", ...args), refused);
  }
  await assert.rejects(slipway(status, "status", "--field-selector", "=1"), /Give fields such as metadata.name=a/);
});

test("tree of a kind is of all its objects, or of those that selectors choose; of a named one they are refused", async (t) => {
  const { client, slipway } = await scene(t);
  await client.create(POOL, { metadata: { name: "others", labels: { rack: "b" } }, spec: { count: 0 } } as never);
  const tops = async (...args: string[]) =>
    JSON.parse((await slipway(tree, "tree", POOL.singular, "-o", "json", ...args)).out).items.map(
      ({ object, children }: { object: KubeObject; children: object[] }) => [object.metadata.name, children.length],
    );
  assert.deepEqual(await tops(), [
    ["others", 0],
    ["workers", 1],
  ]);
  assert.deepEqual(await tops("-l", "rack=b"), [["others", 0]]);
  assert.deepEqual(await tops("-l", "rack!=b"), [["workers", 1]]);
  assert.deepEqual(await tops("--field-selector", "metadata.name=workers"), [["workers", 1]]);
  assert.match(
    (await slipway(tree, "tree", POOL.singular, "-l", "rack=c")).out,
    new RegExp(`^There is no such ${POOL.kind}`),
  );
  const wide = linesOf((await slipway(tree, "tree", POOL.singular, "-o", "wide")).out);
  assert.match(wide[0]!, / AGE +ADDRESS +MACHINE +NODE +VERSION +MESSAGE$/);
  assert.equal(wide.length, 5);
  for (const option of [
    ["-l", "rack=a"],
    ["--field-selector", "metadata.name=a"],
  ])
    await assert.rejects(
      slipway(tree, "tree", `${POOL.singular}/workers`, ...option),
      (error: unknown) =>
        isFault(error, "BadRequest") && /names one object.*slipway tree \w+ -l LABELS/.test(error.advice),
    );
});

test("tree --watch shows the tree anew when a member changes, when its top is deleted, and nothing when others change", async (t) => {
  const { client, kubeconfig } = await scene(t);
  const watching = going(
    t,
    tree,
    "tree",
    `${POOL.singular}/workers`,
    "--watch",
    "-o",
    "json",
    "--kubeconfig",
    kubeconfig,
  );
  await watching.line(/"status":"ordering"/);
  await client.create(POOL, { metadata: { name: "others" }, spec: { count: 0 } } as never);
  const body = { status: { status: "managed" } };
  await client.patch(MACHINE, { name: "workers-1" }, { type: "merge", body }, { subresource: "status" });
  await watching.line(/"status":"managed"/);
  await client.delete(POOL, { name: "workers" });
  await watching.line(/^\{"items":\[\]\}$/);
  const documents = linesOf((await watching.stop()).out).map((line) => JSON.parse(line));
  assert.equal(documents.length, 3);
  assert.equal(documents[0].object.metadata.name, "workers");
  assert.equal(documents[0].children[0].children[0].object.kind, "BareMetalHost");
});

test("tree shows what an object owns, and the hosts that are given to it, by each of the kind's names", async (t) => {
  const { slipway } = await scene(t);
  const { out } = await slipway(tree, "tree", `${POOL.singular}/workers`);
  const [head, ...rows] = out.trimEnd().split("\n");
  assert.deepEqual(head!.split(/ {2,}/), ["NAME", "STATE", "STATUS", "REASON", "SINCE", "MESSAGE"]);
  assert.match(rows[1]!, new RegExp(`^└─${MACHINE.kind}/workers-1 +ordering +2m\\d+s +waiting for capacity in SAO$`));
  assert.match(rows[2]!, /^ {2}└─BareMetalHost\/default\/node-1\b/);
  assert.equal(
    (await slipway(tree, "tree", `${POOL.plural}/workers`, "-o", "name")).out,
    `${POOL.kind}/workers\n${MACHINE.kind}/workers-1\nBareMetalHost/default/node-1\n`,
  );
  const json = JSON.parse((await slipway(tree, "tree", "bmh/default/node-1", "-o", "json")).out);
  assert.deepEqual(
    [json.object.metadata.name, json.object.metadata.managedFields, json.children],
    ["node-1", undefined, []],
  );
});

test("tree refuses what names no object, a kind that nobody has, one that is not served, and an object that is not there", async (t) => {
  const { slipway } = await scene(t);
  const refused = (code: string, advice: RegExp) => (error: unknown) =>
    isFault(error) && error.code === code && advice.test(error.advice);
  await assert.rejects(
    slipway(tree, "tree", "workers"),
    refused("BadRequest", /there is no such kind.*write KIND\/NAME/),
  );
  await assert.rejects(slipway(tree, "tree", "bmh/a/b/c"), refused("BadRequest", /write KIND\/NAME/));
  await assert.rejects(slipway(tree, "tree", "unicorn/a"), refused("BadRequest", /kinds are: baremetalhost, /));
  await assert.rejects(slipway(tree, "tree", "cluster/a"), refused("NotFound", /does not serve this kind/));
  await assert.rejects(
    slipway(tree, "tree", "bmh/no"),
    refused("NotFound", /BareMetalHost\/default\/no.*see kubectl get baremetalhosts -A/),
  );
});

test("kinds are read in a version that the cluster serves", async (t) => {
  const { client, kubeconfig } = await servedCluster(t);
  await installCrds(client, clock, new AbortController().signal, [[ClusterV1beta1 as unknown as Kind]]);
  await client.create(ClusterV1beta1, { metadata: { namespace: "default", name: "old" }, spec: {} } as never);
  const { out } = await spoken(t, get, "get", "clusters", "-o", "name", "--kubeconfig", kubeconfig);
  assert.equal(out, `cluster.${Cluster.group}/old\n`);
});

test("events shows those of the systems' kinds, the latest last; of one object, of a type, and as objects", async (t) => {
  const { slipway } = await scene(t);
  const { out } = await slipway(events, "events");
  assert.match(
    out,
    new RegExp(
      `^AGO +TYPE +REASON +OBJECT +MESSAGE\\n1m\\d+s +Warning +NoCapacity +${MACHINE.kind}/workers-1 +none left\\n$`,
    ),
  );
  assert.equal((await slipway(events, "events", "--type", "Normal")).out, "");
  assert.equal((await slipway(events, "events", `${POOL.singular}/workers`)).out, "");
  assert.equal((await slipway(events, "events", `${MACHINE.singular}/workers-1`, "-o", "name")).out, "event/e1\n");
  const list = JSON.parse((await slipway(events, "events", "--all", "-o", "json")).out);
  assert.deepEqual(list.items.map(({ metadata }: KubeObject) => metadata.name).sort(), ["e1", "e2"]);
  assert.match((await slipway(events, "events", "-o", "wide")).out, /COUNT +FROM.*\n.* 3 /);
});

test("events --watch shows one that comes", async (t) => {
  const { client, kubeconfig } = await scene(t);
  const watching = going(t, events, "events", "--watch", "--kubeconfig", kubeconfig);
  await watching.line(/NoCapacity/);
  const involvedObject = { kind: POOL.kind, name: "workers" };
  await client.create(Event, {
    metadata: { namespace: "default", name: "e3" },
    involvedObject,
    type: "Normal",
    reason: "Grown",
    message: "m",
  } as never);
  await watching.line(/Grown +\w+\/workers +m$/);
  assert.equal((await watching.stop()).code, 0);
});

test("get lists machines of every kind, by labels, wide, by name, as YAML", async (t) => {
  const { slipway } = await scene(t);
  assert.match(
    (await slipway(get, "get", "machines")).out,
    new RegExp(
      `^KIND .*\\nBareMetalHost +default +node-1 +new +no +\\d+s\\n${MACHINE.kind} +- +workers-1 +ordering +no +\\d+s\\n$`,
    ),
  );
  const some = await slipway(get, "get", "machines", "-l", "rack=a", "-o", "name");
  assert.equal(some.out, `${MACHINE.singular}.${MACHINE.group}/workers-1\n`);
  assert.match(
    (await slipway(get, "get", "machines", "-o", "wide")).out,
    new RegExp(`node-1 .* ${MACHINE.kind}/workers-1 `),
  );
  const yaml = load((await slipway(get, "get", "pools", "-o", "yaml")).out) as { items: KubeObject[] };
  assert.deepEqual(
    yaml.items.map(({ kind, metadata }) => `${kind}/${metadata.name}`),
    [`${POOL.kind}/workers`],
  );
  await assert.rejects(slipway(get, "get", "machines", "-l", "=a"), /Give labels such as/);
});

test("get --watch goes on with what changes and what is deleted", async (t) => {
  const { client, kubeconfig } = await scene(t);
  const watching = going(t, get, "get", "machines", "--watch", "--kubeconfig", kubeconfig);
  await watching.line(/workers-1 +ordering/);
  await client.delete(BareMetalHost, { namespace: "default", name: "node-1" });
  await watching.line(/node-1 .*\(deleted\)$/);
  assert.equal((await watching.stop()).code, 0);
});

test("get --watch for programs is a document for each object, those that are there first", async (t) => {
  const { client, kubeconfig } = await scene(t);
  const watch = (output: string) =>
    going(t, get, "get", "machines", "--watch", "-o", output, "--kubeconfig", kubeconfig);
  const json = watch("json");
  await json.line(/"workers-1"/);
  await client.create(MACHINE, { metadata: { name: "workers-2" }, spec: {} } as never);
  await json.line(/"workers-2"/);
  const named = linesOf((await json.stop()).out).map((line) => (JSON.parse(line) as KubeObject).metadata.name);
  assert.ok(named.includes("workers-1") && named.includes("workers-2"), named.join());
  const yaml = watch("yaml");
  await yaml.line(/^ {2}name: workers-2$/);
  const documents = (await yaml.stop()).out.split(/^---$/m).filter((text) => text.trim() !== "");
  const kinds = documents.map((text) => (load(text) as KubeObject).kind);
  assert.ok(kinds.length >= 2 && !kinds.includes("List"), kinds.join());
});

test("completion is offered namespaces, kinds and objects, and nothing where no cluster answers", async (t) => {
  const { kubeconfig } = await scene(t);
  const { KUBECONFIG } = process.env;
  t.after(() => {
    if (KUBECONFIG === undefined) delete process.env.KUBECONFIG;
    else process.env.KUBECONFIG = KUBECONFIG;
  });
  process.env.KUBECONFIG = kubeconfig;
  const offered = async (...args: string[]) => (await spoken(t, complete, "complete", ...args)).out.trim().split("\n");
  assert.ok((await offered("namespaces")).includes("kube-system"));
  assert.ok((await offered("objects", "b")).includes("bmh/"));
  assert.deepEqual(await offered("objects", "bmh/"), ["bmh/default/node-1"]);
  process.env.KUBECONFIG = "/nowhere/kubeconfig";
  assert.deepEqual(await offered("namespaces"), [""]);
});
