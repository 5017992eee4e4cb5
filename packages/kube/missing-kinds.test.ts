import assert from "node:assert/strict";
import { test } from "node:test";
import { type Log, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Registry } from "prom-client";
import { type Controller, DONE, type Source, source } from "./controller.ts";
import { ConfigMap, Node, Secret } from "./core.ts";
import { FakeApi, failure } from "./fake-api.ts";
import { createManager, type ManagerOptions } from "./manager.ts";
import { runtimeMetrics } from "./metrics.ts";

const NODES = "/api/v1/nodes";
const MAPS = "/api/v1/namespaces/x/configmaps";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const HOUR = 3_600_000;
const node = (name: string): object => ({ apiVersion: "v1", kind: "Node", metadata: { name } });
const map = (name: string): object => ({ metadata: { name, namespace: "x" } });

/** An API on which the resources in `missing` are not served, as before their definitions are installed. */
function world(options: Partial<ManagerOptions> = {}) {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const missing = new Set<string>(["configmaps"]);
  api.intercept = ({ path }) =>
    missing.has(path.split("/").at(-1)!)
      ? failure(404, "NotFound", "the server could not find the requested resource")
      : undefined;
  const logged: { level: string; fields: Record<string, unknown> }[] = [];
  const line =
    (level: string) =>
    (fields: object): void =>
      void logged.push({ level, fields: fields as Record<string, unknown> });
  const log: Log = { ...quietLog, info: line("info"), warn: line("warn"), error: line("error"), child: () => log };
  const ports = { transport: api, clock, random: seededRandom(1), log };
  const manager = createManager({ ...ports, leaderElection: false, ...options });
  const stop = async (): Promise<void> => {
    const stopped = manager.stop();
    await clock.run(60_000);
    await stopped;
    assert.equal(clock.pending, 0);
  };
  return { api, clock, manager, missing, logged, stop };
}

/** A controller that notes which keys it was called with and how many ConfigMaps it read. */
function noting(system: string, sources: Source[], seen: string[]): Controller {
  return {
    name: `of-${system}`,
    system,
    sources,
    access: [],
    async reconcile(ref, { cache }) {
      const maps = sources.some(({ resource }) => resource.kind === "ConfigMap") ? cache.list(ConfigMap).length : "-";
      seen.push(`${system} ${ref.name} ${maps}`);
      return DONE;
    },
  };
}

const nodes = source({ resource: Node });
const maps = source({ resource: ConfigMap, namespace: "x" });
const optionalMaps = source({ resource: ConfigMap, namespace: "x", optional: true });

test("a missing kind delays the system that needs it, and it begins when the definition is installed", async () => {
  const { api, clock, manager, missing, logged, stop } = world({ remedy: ({ plural }) => `install ${plural}` });
  api.put(`${NODES}/a`, node("a"));
  api.put(`${MAPS}/m`, map("m"));
  const seen: string[] = [];
  manager.add(noting("waits", [nodes, maps], seen));
  manager.add(noting("works", [nodes], seen));
  let started = false;
  let allReady = false;
  void manager.start().then(() => {
    started = true;
  });
  void manager.whenReady().then(() => {
    allReady = true;
  });
  const startedAt = clock.now();
  await clock.run(300_000);
  assert.deepEqual([started, allReady, manager.ready(), manager.busy()], [true, false, false, false]);
  assert.deepEqual(seen, ["works a -"]);
  const { live, reached, systems, problems } = manager.health();
  assert.deepEqual([live, reached], [true, true]);
  assert.deepEqual(
    systems.map(({ system, ready, leading }) => [system, ready, leading]),
    [
      ["waits", false, true],
      ["works", true, true],
    ],
  );
  assert.deepEqual(systems[0]!.waiting, [{ kind: "configmaps", since: startedAt, missing: true, optional: false }]);
  assert.match(problems.join("\n"), /^waits: configmaps not served by the API, since [^\n]+Z$/);
  assert.deepEqual(logged, [
    {
      level: "warn",
      fields: { kind: "configmaps", version: "v1", systems: ["waits"], remedy: "install configmaps" },
    },
  ]);

  missing.clear();
  await clock.run(60_000);
  assert.deepEqual(seen.slice(1).sort(), ["waits a 1", "waits m 1"]);
  assert.deepEqual([allReady, manager.ready(), manager.health().problems], [true, true, []]);
  assert.deepEqual(logged.slice(1), [{ level: "info", fields: { kind: "configmaps", systems: ["waits"] } }]);
  await stop();
});

test("a controller works without an optional kind, reads it as empty, and gets its objects when it appears", async () => {
  const { api, clock, manager, missing, logged, stop } = world();
  api.put(`${NODES}/a`, node("a"));
  const seen: string[] = [];
  manager.add(noting("metal", [nodes, optionalMaps], seen));
  const started = manager.start();
  await clock.run(60_000);
  await started;
  assert.deepEqual(seen, ["metal a 0"]);
  assert.equal(manager.ready(), true);
  assert.deepEqual(
    manager.health().systems[0]!.waiting.map(({ kind, optional }) => [kind, optional]),
    [["configmaps", true]],
  );
  assert.deepEqual(
    logged.map(({ level }) => level),
    ["info"],
  );

  missing.clear();
  api.put(`${MAPS}/m`, map("m"));
  await clock.run(60_000);
  assert.deepEqual(seen, ["metal a 0", "metal m 1"]);
  api.put(`${MAPS}/n`, map("n"));
  await clock.run(10);
  assert.deepEqual(seen.slice(2), ["metal n 2"]);
  assert.deepEqual(manager.health().systems[0]!.waiting, []);
  await stop();
});

/** Attempts to watch what is not served. */
function attemptsOn(api: FakeApi, kind: string): { count: number } {
  const attempts = { count: 0 };
  const refuse = api.intercept;
  api.intercept = (request) => {
    const answer = refuse(request);
    if (answer !== undefined && request.path.endsWith(kind)) attempts.count++;
    return answer;
  };
  return attempts;
}

test("where definitions are followed, a missing kind is asked for when its own comes, and seldom else", async () => {
  const { api, clock, manager, missing, stop } = world();
  api.streamsLists = true;
  const define = (name: string): object => api.put(`${DEFINITIONS}/${name}`, { metadata: { name } });
  define("boats.sea.example.org");
  const attempts = attemptsOn(api, "configmaps");
  const seen: string[] = [];
  manager.add(noting("metal", [nodes, optionalMaps], seen));
  manager.add(noting("needs", [maps], []));
  void manager.start();
  await clock.run(HOUR);
  attempts.count = 0;
  await clock.run(10 * HOUR);
  // Between 5 and 10 minutes apart.
  assert.ok(attempts.count >= 60 && attempts.count <= 120, `${attempts.count} attempts in ten hours`);
  attempts.count = 0;
  define("other.sea.example.org");
  await clock.run(10_000);
  assert.ok(attempts.count <= 1, "another kind's definition says nothing of it");
  // The definition is there before its objects are served.
  define("configmaps");
  await clock.run(5_000);
  assert.ok(attempts.count >= 3, `${attempts.count} attempts`);
  missing.clear();
  api.put(`${MAPS}/m`, map("m"));
  await clock.run(10_000);
  assert.deepEqual(seen, ["metal m 1"]);
  assert.equal(manager.ready(), true);
  await stop();
});

test("without the right to read definitions a missing kind is asked for every 30 s, and they every few minutes", async () => {
  const { api, clock, manager, missing, stop } = world();
  api.streamsLists = true;
  const notFound = api.intercept;
  let refused = 0;
  api.intercept = (request) => {
    if (request.path !== DEFINITIONS) return notFound(request);
    refused++;
    return failure(403, "Forbidden", "no rights");
  };
  const attempts = attemptsOn(api, "configmaps");
  manager.add(noting("metal", [maps], []));
  void manager.start();
  await clock.run(HOUR);
  refused = 0;
  attempts.count = 0;
  await clock.run(HOUR);
  assert.ok(refused > 0 && refused <= 12, `definitions were asked for ${refused} times in an hour`);
  assert.ok(attempts.count >= 120, `${attempts.count} attempts in an hour`);
  missing.clear();
  await clock.run(30_000);
  assert.equal(manager.ready(), true);
  await stop();
});

test("an optional kind is waited for while the API gives no answer: not looked yet is not missing", async () => {
  const { api, clock, manager, stop } = world();
  api.put(`${NODES}/a`, node("a"));
  const notFound = api.intercept;
  let down = true;
  api.intercept = (request) =>
    down && request.path.endsWith("configmaps") ? failure(500, "InternalError", "down") : notFound(request);
  const seen: string[] = [];
  manager.add(noting("metal", [nodes, optionalMaps], seen));
  void manager.start();
  await clock.run(60_000);
  assert.deepEqual([seen, manager.ready()], [[], false]);
  down = false;
  await clock.run(60_000);
  assert.deepEqual([seen, manager.ready()], [["metal a 0"], true]);
  await stop();
});

test("what one system can do without holds up the other that needs it", async () => {
  const { api, clock, manager, missing, logged, stop } = world();
  api.put(`${NODES}/a`, node("a"));
  const seen: string[] = [];
  manager.add(noting("needs", [nodes, maps], seen));
  manager.add(noting("may", [nodes, optionalMaps], seen));
  void manager.start();
  await clock.run(60_000);
  assert.deepEqual(seen, ["may a 0"]);
  assert.deepEqual(logged[0]!.fields.systems, ["needs"]);
  missing.clear();
  await clock.run(60_000);
  assert.deepEqual(seen, ["may a 0", "needs a 0"]);
  await stop();
});

test("a definition that is deleted later is reported, keeps what was known, and its objects are listed anew when it is back", async () => {
  const { api, clock, manager, missing, logged, stop } = world();
  missing.clear();
  api.put(`${MAPS}/m`, map("m"));
  const seen: string[] = [];
  manager.add(noting("metal", [maps], seen));
  const started = manager.start();
  await clock.run(1_000);
  await started;
  missing.add("configmaps");
  api.disconnect();
  await clock.run(60_000);
  assert.equal(manager.ready(), false);
  assert.equal(manager.cache.list(ConfigMap).length, 1);
  // No event of this is left: what a definition lost while it was gone shows in a new list only.
  api.objects.delete(`${MAPS}/m`);
  api.put(`${MAPS}/other`, map("other"));
  missing.clear();
  await clock.run(60_000);
  assert.equal(manager.ready(), true);
  assert.deepEqual(
    manager.cache.list(ConfigMap).map(({ metadata }) => metadata.name),
    ["other"],
  );
  assert.deepEqual(seen, ["metal m 1", "metal other 1", "metal m 1"]);
  assert.deepEqual(
    logged.map(({ level }) => level),
    ["warn", "info"],
  );
  await stop();
});

test("the API counts as reached after an answer to this identity, not after a refusal", async () => {
  const { api, clock, manager, stop } = world();
  let refusing = true;
  const notFound = api.intercept;
  api.intercept = (request) => (refusing ? failure(403, "Forbidden", "no rights") : notFound(request));
  manager.add(noting("metal", [source({ resource: Secret }), maps], []));
  void manager.start();
  await clock.run(60_000);
  assert.equal(manager.health().reached, false);
  refusing = false;
  await clock.run(60_000);
  assert.equal(manager.health().reached, true);
  await stop();
});

test("stopping ends the wait for a missing kind", async () => {
  const { clock, manager, stop } = world();
  manager.add(noting("metal", [maps], []));
  void manager.start();
  let ended = false;
  void manager.whenReady().then(() => {
    ended = true;
  });
  await clock.run(1_000);
  await stop();
  assert.equal(ended, true);
});

test("metrics tell per system whether it is ready, and for which kinds it waits", async () => {
  const registry = new Registry();
  const { clock, manager, missing, stop } = world({ metrics: runtimeMetrics(registry) });
  manager.add(noting("waits", [maps], []));
  manager.add(noting("works", [nodes], []));
  void manager.start();
  const lines = async (): Promise<string[]> =>
    (await registry.metrics()).split("\n").filter((line) => line.startsWith("slipway_system_"));
  await clock.run(60_000);
  assert.deepEqual(await lines(), [
    'slipway_system_ready{system="waits"} 0',
    'slipway_system_ready{system="works"} 1',
    'slipway_system_waiting{system="waits",kind="configmaps",missing="true"} 1',
  ]);
  missing.clear();
  await clock.run(60_000);
  assert.deepEqual(await lines(), ['slipway_system_ready{system="waits"} 1', 'slipway_system_ready{system="works"} 1']);
  await stop();
});
