import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { type Controller, DONE, source } from "./controller.ts";
import { ConfigMap, type Event, Node } from "./core.ts";
import { runtimeAccess } from "./manager.ts";
import { controller, NODES, node, type Reconcile, world } from "./rig.ts";

test("nothing is reconciled before every cache of the system is filled", async () => {
  const { api, clock, manager } = world();
  api.put(`${NODES}/a`, node("a"));
  let down = true;
  api.intercept = (request) => {
    if (down && request.path.endsWith("configmaps")) throw new Fault("Unavailable", "api", "down");
    return undefined;
  };
  const seen: string[] = [];
  const reconcile: Reconcile = async (ref, { cache }) => {
    seen.push(`${ref.name} ${cache.list(ConfigMap).length}`);
    return DONE;
  };
  manager.add(controller(reconcile, { sources: [source({ resource: Node }), source({ resource: ConfigMap })] }));
  const started = manager.start();
  await clock.run(120_000);
  assert.deepEqual(seen, []);
  assert.equal(manager.ready(), false);
  assert.match(manager.health().problems.join(), /configmaps not listed yet/);
  down = false;
  await clock.run(60_000);
  await started;
  assert.deepEqual(seen, ["a 0"]);
  assert.equal(manager.ready(), true);
  assert.equal(manager.busy(), false);
  const stopped = manager.stop();
  await clock.run(1_000);
  await stopped;
  assert.equal(clock.pending, 0);
  assert.equal(api.watchers, 0);
});

test("a retryable fault is tried again, a terminal one waits for a change, an outcome sets the next time", async () => {
  const { api, clock, manager } = world();
  const calls: Record<string, number[]> = {};
  const startedAt = clock.now();
  const reconcile: Reconcile = async ({ name }) => {
    calls[name] ??= [];
    const times = calls[name];
    times.push(clock.now() - startedAt);
    if (name === "terminal") throw new Fault("Invalid", name, "wrong");
    if (name === "patient") throw new Fault("Throttled", name, "later", { retryAfterMs: 60_000 });
    if (name === "broken" && times.length < 4) throw new Error("oops");
    return name === "timed" ? { againAfterMs: 100_000 } : DONE;
  };
  for (const name of ["terminal", "patient", "broken", "timed"]) api.put(`${NODES}/${name}`, node(name));
  manager.add(controller(reconcile));
  void manager.start();
  await clock.run(250_000);
  assert.equal(calls.terminal?.length, 1);
  assert.deepEqual(calls.patient, [0, 60_000, 120_000, 180_000, 240_000]);
  assert.equal(calls.broken?.length, 4);
  assert.deepEqual(calls.timed, [0, 100_000, 200_000]);
  api.put(`${NODES}/terminal`, { ...node("terminal"), spec: { unschedulable: true } });
  await clock.run(10);
  assert.equal(calls.terminal?.length, 2);
  await manager.stop();
});

test("changes of other kinds are mapped to keys, with the caches at hand", async () => {
  const { api, clock, manager } = world();
  api.put("/api/v1/namespaces/x/configmaps/of-a", {
    metadata: { name: "of-a", namespace: "x", labels: { node: "a" } },
  });
  const seen: string[] = [];
  const nodes = source<Node>({
    resource: Node,
    keys: (object, _, cache) => cache.byIndex(ConfigMap, "node", object.metadata.name).map((c) => c.metadata),
  });
  const maps = source<ConfigMap>({
    resource: ConfigMap,
    namespace: "x",
    keys: () => [],
    indexes: { node: (object) => [object.metadata.labels?.node ?? ""] },
  });
  const reconcile: Reconcile = async (ref) => {
    seen.push(`${ref.namespace}/${ref.name}`);
    return DONE;
  };
  manager.add(controller(reconcile, { sources: [nodes, maps] }));
  api.put(`${NODES}/a`, node("a"));
  api.put(`${NODES}/b`, node("b"));
  void manager.start();
  await clock.run(100);
  assert.deepEqual(seen, ["x/of-a"]);
  await manager.stop();
});

test("an object that comes, or is made anew under its name, is looked at whatever is said of changes", async () => {
  const { api, clock, manager } = world();
  const seen: string[] = [];
  const asked: string[] = [];
  const reconcile: Reconcile = async ({ name }) => {
    seen.push(name);
    return DONE;
  };
  const when = ({ metadata }: Node): boolean => asked.push(metadata.name) === 0;
  manager.add(controller(reconcile, { sources: [source<Node>({ resource: Node, when })] }));
  api.put(`${NODES}/a`, node("a"));
  void manager.start();
  await clock.run(100);
  api.put(`${NODES}/a`, { ...node("a"), spec: { touched: 1 } });
  await clock.run(100);
  assert.deepEqual([seen, asked], [["a"], ["a"]]);
  // While nobody watches: a list shows one object in another's place.
  api.disconnect();
  api.remove(`${NODES}/a`);
  api.put(`${NODES}/a`, node("a"));
  api.compact();
  await clock.run(60_000);
  assert.deepEqual([seen, asked], [["a", "a"], ["a"]]);
  await manager.stop();
});

test("keys may come from elsewhere than Kubernetes, while the controller works", async () => {
  const { clock, manager } = world();
  const seen: string[] = [];
  const reconcile: Reconcile = async (ref) => {
    seen.push(ref.name);
    return DONE;
  };
  let wake: ((name: string) => void) | undefined;
  manager.add(
    controller(reconcile, {
      listen(notify) {
        wake = (name) => notify({ name });
        return () => {
          wake = undefined;
        };
      },
    }),
  );
  void manager.start();
  await clock.run(1_000);
  wake?.("from outside");
  await clock.run(1_000);
  assert.deepEqual(seen, ["from outside"]);
  const stopped = manager.stop();
  await clock.run(1_000);
  await stopped;
  assert.equal(wake, undefined);
});

test("a reconcile that hangs frees its worker at the deadline, but its key is not run a second time", async () => {
  const { api, clock, manager } = world({ reconcileMs: 60_000 });
  const calls: string[] = [];
  const reconcile: Reconcile = async ({ name }) => {
    calls.push(name);
    if (name === "hangs") await new Promise(() => {});
    return DONE;
  };
  api.put(`${NODES}/hangs`, node("hangs"));
  api.put(`${NODES}/waits`, node("waits"));
  manager.add(controller(reconcile, { workers: 1 }));
  void manager.start();
  await clock.run(59_000);
  assert.deepEqual(calls, ["hangs"]);
  await clock.run(2_000);
  assert.deepEqual(calls, ["hangs", "waits"]);
  api.put(`${NODES}/hangs`, { ...node("hangs"), spec: {} });
  await clock.run(20 * 60_000);
  assert.deepEqual(calls, ["hangs", "waits"]);
  assert.equal(manager.health().live, false);
  const stopped = manager.stop();
  await clock.run(31_000);
  await stopped;
});

test("a controller that waits for slow machines has a deadline of its own", async () => {
  const { api, clock, manager } = world({ reconcileMs: 60_000 });
  let ended = "";
  const reconcile: Reconcile = async (_, { signal }) => {
    await clock.sleep(240_000, signal);
    ended = "in time";
    return DONE;
  };
  api.put(`${NODES}/slow`, node("slow"));
  manager.add({ ...controller(reconcile), reconcileMs: 300_000 });
  void manager.start();
  await clock.run(250_000);
  assert.equal(ended, "in time");
  const stopped = manager.stop();
  await clock.run(31_000);
  await stopped;
});

test("stopping aborts what runs and waits for it", async () => {
  const { api, clock, manager } = world();
  let ended = "";
  const reconcile: Reconcile = async ({ name }, { signal, client }) => {
    await clock.sleep(3_600_000, signal).catch(() => {});
    const write = client.patch(Node, { name }, { type: "merge", body: {} });
    ended = await write.then(
      () => "wrote",
      () => "refused",
    );
    return DONE;
  };
  api.put(`${NODES}/a`, node("a"));
  manager.add(controller(reconcile));
  void manager.start();
  await clock.run(1_000);
  assert.equal(manager.busy(), true);
  await manager.stop();
  assert.equal(ended, "refused");
});

test("a manager that is stopped before its caches are filled has started, and waits for nothing more", async () => {
  const { api, clock, manager } = world();
  api.intercept = () => {
    throw new Fault("Unavailable", "api", "down");
  };
  manager.add(controller(async () => DONE));
  const started = manager.start();
  await clock.run(10_000);
  const stopped = manager.stop();
  await clock.run(60_000);
  await Promise.all([started, stopped]);
  assert.equal(manager.ready(), false);
});

test("what a controller did not declare is refused before it leaves the process", async () => {
  const { api, clock, manager } = world();
  const refusals: string[] = [];
  const reconcile: Reconcile = async ({ name }, { client }) => {
    await client.delete(Node, { name }).catch((error: Fault) => refusals.push(`${error.code}: ${error.message}`));
    return DONE;
  };
  api.put(`${NODES}/a`, node("a"));
  manager.add(controller(reconcile));
  void manager.start();
  await clock.run(100);
  assert.deepEqual(refusals, ["Undeclared: Node/a: test did not declare that it may delete nodes"]);
  assert.equal(api.objects.size, 1);
  await manager.stop();
});

test("events of a reconcile are written, equal ones counted on one object", async () => {
  const { api, clock, manager } = world({
    outgoing: { line: (text) => text.replace("hunter22", "[redacted]"), clean: (value) => value },
  });
  const reconcile: Reconcile = async ({ name }, { events, cache }) => {
    events.warning(cache.get(Node, { name })!, "Failed", "the password hunter22 is wrong");
    return { againAfterMs: 60_000 };
  };
  api.put(`${NODES}/a`, node("a"));
  manager.add(controller(reconcile));
  void manager.start();
  await clock.run(130_000);
  const events = [...api.objects.values()].filter((o) => o.kind === "Event") as Event[];
  assert.equal(events.length, 1);
  const [event] = events;
  assert.equal(event?.metadata.namespace, "default");
  assert.equal(event?.count, 3);
  assert.equal(event?.message, "the password [redacted] is wrong");
  assert.deepEqual(event?.source, { component: "test" });
  await manager.stop();
});

test("one index name for two functions is refused by name", () => {
  const { manager } = world();
  const of = (name: string): Controller =>
    controller(async () => DONE, { name, sources: [source({ resource: Node, indexes: { x: () => [name] } })] });
  manager.add(of("one"));
  assert.throws(() => manager.add(of("two")), /index x of nodes/);
});

/** Two replicas over one API; `cut(i)` makes it unreachable for one of them. */
test("controllers of systems that are not chosen do not run; what runs is seen by its queue", async () => {
  const { api, clock, manager } = world({ systems: ["metal"] });
  api.put(`${NODES}/a`, node("a"));
  const seen: string[] = [];
  const noting =
    (name: string): Reconcile =>
    async () => {
      seen.push(name);
      return { againAfterMs: 60_000 };
    };
  manager.add(controller(noting("metal")));
  manager.add(controller(noting("sea"), { name: "sea", system: "sea" }));
  const started = manager.start();
  await clock.run(1000);
  await started;
  assert.deepEqual(seen, ["metal"]);
  assert.deepEqual(manager.queues(), [{ controller: "test", ready: 0, active: 0, delayed: 1 }]);
  assert.equal(manager.leading("sea"), false);
  assert.throws(() => manager.add(controller(noting("late"))), /started before/);
  const stopping = manager.stop();
  await clock.run(1000);
  await stopping;
  assert.throws(() => manager.watch(source({ resource: ConfigMap })), /started before/);
});

test("what a manager needs besides its controllers: events, and leases where it stands for election", () => {
  const needs = (of: Parameters<typeof runtimeAccess>[0]) =>
    runtimeAccess(of).map(({ resource, verbs, namespace }) => [resource.kind, verbs, namespace]);
  assert.deepEqual(needs(false), [["Event", ["create", "patch"], undefined]]);
  assert.deepEqual(needs({ namespace: "slipway" }).slice(1), [
    ["Lease", ["get", "list", "create", "update", "delete"], "slipway"],
  ]);
});
