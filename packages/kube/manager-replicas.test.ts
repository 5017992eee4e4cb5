import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { DONE, source } from "./controller.ts";
import { type Lease, Node } from "./core.ts";
import { FakeApi } from "./fake-api.ts";
import { createManager } from "./manager.ts";
import { controller, NODES, node, type Reconcile, world } from "./rig.ts";

function replicas(reconcile: (replica: number) => Reconcile) {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const writes: { at: number; replica: number }[] = [];
  const cutOff = [false, false];
  api.put(`${NODES}/a`, node("a"));
  const managers = [0, 1].map((replica) => {
    const via = <A>(call: () => Promise<A>, write: boolean): Promise<A> => {
      if (cutOff[replica]) throw new Fault("LostAnswer", "api", "unreachable");
      if (write) writes.push({ at: clock.now(), replica });
      return call();
    };
    const manager = createManager({
      transport: {
        request: async (r) => via(() => api.request(r), r.method !== "GET" && r.path.startsWith(NODES)),
        watch: async (r) => via(() => api.watch(r), false),
        close: async () => {},
      },
      clock,
      random: seededRandom(replica + 1),
      log: quietLog,
      leaderElection: { namespace: "slipway", identity: `replica-${replica}` },
    });
    // Else each of its own writes would call it again at once, without end.
    const sources = [source({ resource: Node, when: () => false })];
    manager.add(controller(reconcile(replica), { sources }));
    return manager;
  });
  return { api, clock, managers, writes, cutOff };
}

const busybody: Reconcile = async ({ name }, { client, clock }) => {
  await client.patch(Node, { name }, { type: "merge", body: { spec: { touched: clock.now() } } });
  return { againAfterMs: 500 };
};

test("of two replicas one leads; when it is cut off the other takes over, and their writes never overlap", async () => {
  const { clock, managers, writes, cutOff } = replicas(() => busybody);
  for (const manager of managers) void manager.start();
  await clock.run(30_000);
  const first = managers[0]!.leading("metal") ? 0 : 1;
  assert.equal(managers[1 - first]!.leading("metal"), false);
  assert.ok(writes.length > 20 && writes.every((w) => w.replica === first));

  cutOff[first] = true;
  const cutAt = clock.now();
  assert.ok(await clock.run(60_000, () => managers[1 - first]!.leading("metal")), "nobody took over");
  assert.equal(managers[first]!.leading("metal"), false);
  assert.ok(clock.now() - cutAt <= 20_000);
  cutOff[first] = false;
  writes.length = 0;
  await clock.run(60_000);
  assert.ok(writes.length > 50 && writes.every((w) => w.replica === 1 - first));
  await Promise.all([managers[0]!.stop(), managers[1]!.stop()]);
});

test("after losing the lease no write goes out, not even from a reconcile that ignores its signal", async () => {
  const outcomes: string[] = [];
  const stubborn = (replica: number): Reconcile => {
    return async ({ name }, { client, clock }) => {
      if (replica === 1) return DONE;
      await clock.sleep(40_000);
      const error = await client.patch(Node, { name }, { type: "merge", body: {} }).catch((e: Fault) => e);
      outcomes.push(error instanceof Fault ? error.code : "wrote");
      return DONE;
    };
  };
  const { api, clock, managers, writes } = replicas(stubborn);
  void managers[0]!.start();
  await clock.run(1_000);
  assert.equal(managers[0]!.leading("metal"), true);
  // Somebody takes the lease by force.
  const path = "/apis/coordination.k8s.io/v1/namespaces/slipway/leases/slipway-metal";
  const lease = api.objects.get(path) as Lease;
  api.put(path, { ...lease, spec: { ...lease.spec, holderIdentity: "other" } });
  await clock.run(5_000);
  assert.equal(managers[0]!.leading("metal"), false);
  await assert.rejects(managers[0]!.client("metal").delete(Node, { name: "a" }), { code: "NotLeader" });
  await clock.run(50_000);
  assert.deepEqual(outcomes.slice(0, 1), ["NotLeader"]);
  assert.deepEqual(writes, []);
  const stopped = managers[0]!.stop();
  await clock.run(60_000);
  await stopped;
});

test("a stopped leader gives the lease back, so the next one need not wait", async () => {
  const { clock, managers } = replicas(() => busybody);
  void managers[0]!.start();
  await clock.run(5_000);
  void managers[1]!.start();
  await clock.run(5_000);
  assert.equal(managers[0]!.leading("metal"), true);
  await managers[0]!.stop();
  assert.ok(await clock.run(5_000, () => managers[1]!.leading("metal")));
  await managers[1]!.stop();
});

test("a leader that stops keeps its lease until its last reconcile has ended, and writes that one's events before it is gone", async () => {
  let holderAtEnd: string | undefined;
  const late: Reconcile = async ({ name }, { cache, clock, events }) => {
    await clock.sleep(5_000);
    events.warning(cache.get(Node, { name })!, "Late", "ended after the stop");
    const lease = [...api.objects.values()].find(({ kind }) => kind === "Lease") as Lease;
    holderAtEnd = lease.spec?.holderIdentity;
    return DONE;
  };
  const { api, clock, managers } = replicas(() => late);
  void managers[0]!.start();
  await clock.run(1_000);
  // Events are slow to write.
  api.intercept = ({ method, path }) => {
    if (method !== "POST" || !path.endsWith("/events")) return undefined;
    return clock.sleep(1_000).then(() => undefined);
  };
  let written: number | undefined;
  const count = () => [...api.objects.values()].filter(({ kind }) => kind === "Event").length;
  const stopped = managers[0]!.stop().then(() => (written = count()));
  await clock.run(60_000);
  await stopped;
  assert.equal(holderAtEnd, "replica-0");
  assert.equal(written, 1);
});

test("a replica that waits to lead keeps nothing of the changes it sees; when it leads, it looks at each object once", async () => {
  const { api, clock, managers } = replicas(() => async () => DONE);
  let mapped = 0;
  const waiting = managers[1]!;
  const keys = ({ metadata: { name } }: Node) => {
    mapped++;
    return [{ name }];
  };
  const sources = [source({ resource: Node, keys })];
  waiting.add(controller(async () => DONE, { name: "mapped", sources }));
  void managers[0]!.start();
  await clock.run(5_000);
  void waiting.start();
  await clock.run(5_000);
  for (let change = 0; change < 100; change++) {
    api.put(`${NODES}/a`, { ...node("a"), spec: { change } });
    await clock.run(10);
  }
  assert.equal(mapped, 0);
  assert.deepEqual(
    waiting.queues().map(({ ready }) => ready),
    [0, 0],
  );
  await managers[0]!.stop();
  assert.ok(await clock.run(5_000, () => waiting.leading("metal")));
  await clock.run(100);
  assert.equal(mapped, 1);
  await waiting.stop();
});

test("a replica that loses the lead drops what it remembers of each key, after the key's reconcile has ended", async () => {
  const told: string[] = [];
  const { api, clock, manager } = world({ leaderElection: { namespace: "slipway", identity: "one" } });
  for (const name of ["a", "b"]) api.put(`${NODES}/${name}`, node(name));
  let isCut = false;
  api.intercept = () => {
    if (isCut) throw new Fault("LostAnswer", "api", "unreachable");
    return undefined;
  };
  const reconcile: Reconcile = async ({ name }) => {
    if (name === "b") await clock.sleep(30_000);
    told.push(`end of ${name}`);
    return DONE;
  };
  manager.add(controller(reconcile, { left: ({ name }) => told.push(`left ${name}`) }));
  void manager.start();
  await clock.run(5_000);
  isCut = true;
  await clock.run(20_000);
  assert.equal(manager.leading("metal"), false);
  assert.deepEqual(told, ["end of a"]);
  await clock.run(10_000);
  assert.deepEqual(told, ["end of a", "end of b", "left a", "left b"]);
  await manager.stop();
});

test("a replica without an identity of its own stands for election under one that no other has", async () => {
  const { api, clock } = world();
  const holders = new Set<string>();
  for (const seed of [1, 2]) {
    const options = { leaderElection: { namespace: "slipway" }, random: seededRandom(seed), transport: api };
    const { manager } = world({ ...options, clock });
    manager.add(controller(async () => DONE));
    const started = manager.start();
    await clock.run(5000);
    await started;
    const [lease] = [...api.objects].filter(([path]) => path.includes("/leases/")).map(([, object]) => object as Lease);
    holders.add(lease?.spec?.holderIdentity ?? "");
    const stopping = manager.stop();
    await clock.run(5000);
    await stopping;
  }
  assert.equal(holders.size, 2);
  for (const holder of holders) assert.match(holder, /^slipway_[0-9a-f-]{36}$/);
});
