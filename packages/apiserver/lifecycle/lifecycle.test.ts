import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../model/served.ts";
import { CONFIG_MAPS, DEFINITIONS, WIDGET, WIDGETS, widgets, world } from "../testing.ts";

const MERGE = { contentType: "application/merge-patch+json" };
const owned = (name: string, by: Body, more = {}) => ({
  metadata: {
    name,
    ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: by.metadata.name, uid: by.metadata.uid, ...more }],
  },
});

async function names(w: Awaited<ReturnType<typeof world>>, path = CONFIG_MAPS): Promise<string[]> {
  await w.clock.settle();
  return ((await w.ask("GET", path)).items as Body[]).map((o) => o.metadata.name);
}

test("dependents go after their owner, and theirs after them", async () => {
  const w = await world();
  const owner = await w.ask("POST", CONFIG_MAPS, { metadata: { name: "owner" } });
  const child = await w.ask("POST", CONFIG_MAPS, owned("child", owner));
  await w.ask("POST", CONFIG_MAPS, owned("grandchild", child));
  await w.ask("DELETE", `${CONFIG_MAPS}/owner`);
  assert.deepEqual(await names(w), []);
  await w.close();
});

test("a dependent with another living owner only loses the reference", async () => {
  const w = await world();
  const one = await w.ask("POST", CONFIG_MAPS, { metadata: { name: "one" } });
  const two = await w.ask("POST", CONFIG_MAPS, { metadata: { name: "two" } });
  const both = owned("child", one);
  both.metadata.ownerReferences.push(...owned("child", two).metadata.ownerReferences);
  await w.ask("POST", CONFIG_MAPS, both);
  await w.ask("DELETE", `${CONFIG_MAPS}/one`);
  await w.clock.settle();
  const child = await w.ask("GET", `${CONFIG_MAPS}/child`);
  assert.deepEqual(
    child.metadata.ownerReferences?.map((o) => o.name),
    ["two"],
  );
  await w.close();
});

test("an owner that never was takes its dependent with it", async () => {
  const w = await world();
  const ghost = { metadata: { name: "ghost", uid: "none" } } as Body;
  await w.ask("POST", CONFIG_MAPS, owned("child", ghost));
  assert.deepEqual(await names(w), []);
  await w.close();
});

test("foreground: the owner stays until what blocks it is gone", async () => {
  const w = await world();
  const owner = await w.ask("POST", CONFIG_MAPS, { metadata: { name: "owner" } });
  const child = owned("child", owner, { blockOwnerDeletion: true });
  await w.ask("POST", CONFIG_MAPS, { metadata: { ...child.metadata, finalizers: ["example.com/hold"] } });
  await w.ask("DELETE", `${CONFIG_MAPS}/owner`, { propagationPolicy: "Foreground" });
  assert.deepEqual(await names(w), ["child", "owner"]);
  assert.deepEqual((await w.ask("GET", `${CONFIG_MAPS}/owner`)).metadata.finalizers, ["foregroundDeletion"]);
  await w.ask("PATCH", `${CONFIG_MAPS}/child`, { metadata: { finalizers: null } }, MERGE);
  assert.deepEqual(await names(w), []);
  await w.close();
});

test("foreground: an owner outside of all namespaces goes with the last dependent that blocks it", async () => {
  const w = await world();
  const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const { metadata, apiVersion, kind } = await w.ask("POST", roles, { metadata: { name: "owner" }, rules: [] });
  const ownerReferences = [{ apiVersion, kind, name: "owner", uid: metadata.uid, blockOwnerDeletion: true }];
  await w.ask("POST", roles, { metadata: { name: "child", ownerReferences }, rules: [] });
  await w.ask("POST", CONFIG_MAPS, { metadata: { name: "child", ownerReferences } });
  await w.ask("DELETE", `${roles}/owner`, { propagationPolicy: "Foreground" });
  assert.deepEqual(await names(w), []);
  const left = await names(w, roles);
  assert.deepEqual([left.includes("owner"), left.includes("child")], [false, false]);
  await w.close();
});

test("foreground: a circle of owners that block each other goes as a whole", async () => {
  const w = await world();
  const circle = ["one", "two", "three"];
  const objects: Body[] = [];
  for (const name of circle) objects.push(await w.ask("POST", CONFIG_MAPS, { metadata: { name } }));
  for (const [i, name] of circle.entries()) {
    const { ownerReferences } = owned(name, objects[(i + 2) % 3]!, { blockOwnerDeletion: true }).metadata;
    await w.ask("PATCH", `${CONFIG_MAPS}/${name}`, { metadata: { ownerReferences } }, MERGE);
  }
  await w.ask("DELETE", `${CONFIG_MAPS}/one`, { propagationPolicy: "Foreground" });
  assert.deepEqual(await names(w), []);
  await w.close();
});

test("orphan: the owner goes and the dependent stays, without its reference", async () => {
  const w = await world();
  const owner = await w.ask("POST", CONFIG_MAPS, { metadata: { name: "owner" } });
  await w.ask("POST", CONFIG_MAPS, owned("child", owner));
  await w.ask("DELETE", `${CONFIG_MAPS}/owner`, undefined, { query: { propagationPolicy: "Orphan" } });
  assert.deepEqual(await names(w), ["child"]);
  assert.equal((await w.ask("GET", `${CONFIG_MAPS}/child`)).metadata.ownerReferences, undefined);
  await w.close();
});

test("a finalizer holds an object, takes no newcomers, and lets it go when it is removed", async () => {
  const w = await world();
  await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a", finalizers: ["example.com/hold"] } });
  const held = await w.ask("DELETE", `${CONFIG_MAPS}/a`);
  assert.ok(held.metadata.deletionTimestamp);
  const more = await w.refused(
    "PATCH",
    `${CONFIG_MAPS}/a`,
    { metadata: { finalizers: ["example.com/hold", "example.com/x"] } },
    MERGE,
  );
  assert.match(
    more.message ?? "",
    /metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example.com\/x"\}/,
  );
  await w.ask("PATCH", `${CONFIG_MAPS}/a`, { metadata: { finalizers: [] } }, MERGE);
  assert.deepEqual(await names(w), []);
  await w.close();
});

test("a namespace empties itself, says what holds it, refuses newcomers, and goes", async () => {
  const w = await world();
  const inside = "/api/v1/namespaces/team/configmaps";
  await w.ask("POST", "/api/v1/namespaces", { metadata: { name: "team" } });
  await w.ask("POST", inside, { metadata: { name: "free" } });
  await w.ask("POST", inside, { metadata: { name: "held", finalizers: ["example.com/hold"] } });
  await w.ask("DELETE", "/api/v1/namespaces/team");
  assert.deepEqual(await names(w, inside), ["held"]);
  const namespace = await w.ask("GET", "/api/v1/namespaces/team");
  const status = namespace.status as { phase: string; conditions: { type: string; status: string; message: string }[] };
  assert.equal(status.phase, "Terminating");
  assert.match(
    status.conditions.find((c) => c.type === "NamespaceFinalizersRemaining")?.message ?? "",
    /example.com\/hold in 1/,
  );
  const late = await w.refused("POST", inside, { metadata: { name: "late" } });
  assert.equal(late.details?.causes?.[0]?.reason, "NamespaceTerminating");
  await w.ask("PATCH", `${inside}/held`, { metadata: { finalizers: null } }, MERGE);
  await w.clock.settle();
  assert.equal((await w.refused("GET", "/api/v1/namespaces/team")).code, 404);
  await w.close();
});

test("a definition takes its objects with it, and is served no more", async () => {
  const w = await world();
  await w.ask("POST", DEFINITIONS, widgets);
  await w.ask("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" } });
  const watch = await w.watch(WIDGETS, {});
  await w.ask("DELETE", `${DEFINITIONS}/widgets.example.com`);
  await w.clock.settle();
  assert.deepEqual(watch.shown(), ["ADDED a", "DELETED a"]);
  assert.equal((await w.refused("GET", WIDGETS)).code, 404);
  assert.equal((await w.refused("GET", `${DEFINITIONS}/widgets.example.com`)).code, 404);
  await w.close();
});

test("a definition whose names are taken is stored, not served, and says why", async () => {
  const w = await world();
  await w.ask("POST", DEFINITIONS, widgets);
  const rival = structuredClone(widgets);
  rival.metadata.name = "gadgets.example.com";
  rival.spec.names = { plural: "gadgets", kind: "Gadget", shortNames: ["wd"] };
  await w.ask("POST", DEFINITIONS, rival);
  await w.clock.settle();
  const shown = await w.ask("GET", `${DEFINITIONS}/gadgets.example.com`);
  const { conditions } = shown.status as { conditions: { type: string; status: string; reason: string }[] };
  assert.deepEqual(
    conditions.map((c) => `${c.type} ${c.status} ${c.reason}`),
    ["NamesAccepted False ShortNamesConflict", "Established False NotAccepted"],
  );
  assert.equal((await w.refused("GET", WIDGETS.replace("widgets", "gadgets"))).code, 404);
  await w.close();
});

test("a pod on a node is deleted gracefully, and a budget forbids its eviction", async () => {
  const w = await world();
  const pods = "/api/v1/namespaces/default/pods";
  const pod = {
    metadata: { name: "p", labels: { app: "x" } },
    spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
  };
  await w.ask("POST", pods, pod);
  await w.ask(
    "PATCH",
    `${pods}/p/status`,
    { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
    MERGE,
  );
  await w.ask("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
    metadata: { name: "b" },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } },
  });
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
  const refused = await w.refused("POST", `${pods}/p/eviction`, eviction);
  assert.deepEqual(
    [refused.code, refused.reason, refused.details?.causes?.[0]?.reason],
    [429, "TooManyRequests", "DisruptionBudget"],
  );
  const dying = await w.ask("DELETE", `${pods}/p`);
  assert.equal(dying.metadata.deletionGracePeriodSeconds, 30);
  await w.ask("DELETE", `${pods}/p`, { gracePeriodSeconds: 0 });
  assert.equal((await w.refused("GET", `${pods}/p`)).code, 404);
  await w.close();
});

test("each namespace has a default ServiceAccount, again when it is deleted, but not while the namespace ends", async () => {
  const w = await world();
  const accounts = "/api/v1/namespaces/team/serviceaccounts";
  await w.ask("POST", "/api/v1/namespaces", { metadata: { name: "team" } });
  await w.clock.settle();
  const first = await w.ask("GET", `${accounts}/default`);
  await w.ask("DELETE", `${accounts}/default`);
  await w.clock.settle();
  assert.notEqual((await w.ask("GET", `${accounts}/default`)).metadata.uid, first.metadata.uid);
  await w.ask("DELETE", "/api/v1/namespaces/team");
  await w.clock.settle();
  assert.equal((await w.refused("GET", "/api/v1/namespaces/team")).code, 404);
  assert.deepEqual((await w.ask("GET", accounts)).items, []);
  assert.ok(await w.ask("GET", "/api/v1/namespaces/kube-system/serviceaccounts/default"));
  await w.close();
});

test("formats that stand for nothing in a definition's schema are warned of, each once and when it is new", async () => {
  const w = await world();
  const text = (format: string): object => ({ type: "string", format });
  const define = (...formats: string[]): object => {
    const { spec, ...rest } = widgets as unknown as { spec: { versions: { schema: object }[] } };
    const properties = Object.fromEntries(formats.map((format, i) => [`f${i}`, text(format)]));
    const schema = { openAPIV3Schema: { type: "object", properties } };
    return { ...rest, spec: { ...spec, versions: spec.versions.map((version) => ({ ...version, schema })) } };
  };
  const warningsOf = async (method: "POST" | "PUT", path: string, body: object): Promise<unknown> => {
    const { headers } = await w.send({ method, path, body });
    return headers.warning;
  };
  const created = await warningsOf("POST", DEFINITIONS, define("date", "knots", "knots"));
  assert.equal(created, '299 - "unrecognized format \\"knots\\""');
  const name = (define() as Body).metadata.name;
  await w.clock.settle();
  const { metadata } = await w.ask("GET", `${DEFINITIONS}/${name}`);
  const changed = { ...define("knots", "fathoms"), metadata };
  assert.equal(await warningsOf("PUT", `${DEFINITIONS}/${name}`, changed), '299 - "unrecognized format \\"fathoms\\""');
  await w.close();
});
