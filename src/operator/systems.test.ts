/** A system that only tests know, put beside the others: what it declares appears wherever systems are derived. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { Fault, isFault, type Log, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient, runtimeMetrics } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { Registry } from "prom-client";
import { HARBOUR } from "../../test/system/sea/harbour.ts";
import { Buoy, sea } from "../../test/system/sea/system.ts";
import { installCrds } from "../kinds/install.ts";
import type { System } from "../systems/system.ts";
import { installFiles } from "./install/files.ts";
import { ownKinds } from "./kinds.ts";
import { operatorMetrics } from "./metrics.ts";
import { createOperator, systemsOf } from "./operator.ts";
import { operatorRules } from "./rbac.ts";
import { settingsFrom, settingsOf } from "./settings.ts";
import { SYSTEMS } from "./systems.ts";

const systems = [...SYSTEMS, sea];
const first = SYSTEMS[0]!;

test("rights and files can be made for a selection of systems", () => {
  const all = JSON.stringify(operatorRules());
  const few = systemsOf(["providers"]);
  const some = JSON.stringify(operatorRules(undefined, ownKinds(few), few));
  assert.match(all, /instancepools/);
  assert.doesNotMatch(some, /instancepools|nodes/);
  assert.match(some, /machineproviders/);
  assert.deepEqual(
    [...installFiles(ownKinds(few), few).keys()].filter((name) => name.startsWith("deploy/crds/")),
    ["deploy/crds/slipway.dev_machineproviders.yaml"],
  );
});

test("a system runs with what is set of it, beside those that it does not know", async () => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const log = quietLog;
  const api = await createApiServer({ clock, random, log });
  const client = createClient(api.transport(), { clock, random, log });
  const registry = new Registry();
  const installed = installCrds(client, clock, new AbortController().signal, ownKinds([sea]));
  await clock.run(1_000);
  await installed;
  const operator = createOperator(
    {
      ...{ transport: api.transport(), clock, random, log, counts: operatorMetrics(registry, systems) },
      http: () => async () => {
        throw new Fault("Unavailable", "cloud", "there is none");
      },
      readNodeFile: async () => undefined,
    },
    {
      ...{ namespace: "default", secret: "s", bootUrl: "http://boot.invalid", pollMs: 1000, leaderElection: false },
      systems: [sea],
      of: settingsFrom({ WORD: "land ho" }, [sea]),
    },
  );
  await client.create(ConfigMap, { metadata: HARBOUR, data: { call: "captain" } });
  await client.create(Buoy, { metadata: { name: "north" }, spec: {} });
  await operator.manager.start();
  await clock.run(1_000);
  assert.equal((await client.get(Buoy, { name: "north" })).status?.greeting, "land ho, captain");
  assert.match(await registry.metrics(), /slipway_buoys\{state="afloat"\} 1/);
  await operator.manager.stop();
  await api.close();
});

test("a system whose definition is missing costs the others nothing, metrics included, and is named with what to do", async () => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const warned: object[] = [];
  const log: Log = { ...quietLog, warn: (fields) => void warned.push(fields), child: () => log };
  const api = await createApiServer({ clock, random, log: quietLog });
  const client = createClient(api.transport(), { clock, random, log });
  const registry = new Registry();
  const install = async (system: System): Promise<void> => {
    const installed = installCrds(client, clock, new AbortController().signal, ownKinds([system]));
    await clock.run(1_000);
    await installed;
  };
  await install(sea);
  const operator = createOperator(
    {
      ...{ transport: api.transport(), clock, random, log, counts: operatorMetrics(registry, systems) },
      metrics: runtimeMetrics(registry),
      http: () => async () => {
        throw new Fault("Unavailable", "cloud", "there is none");
      },
      readNodeFile: async () => undefined,
    },
    {
      ...{ namespace: "default", secret: "s", bootUrl: "http://boot.invalid", pollMs: 1000, leaderElection: false },
      systems: [first, sea],
    },
  );
  await client.create(ConfigMap, { metadata: HARBOUR, data: { call: "captain" } });
  await client.create(Buoy, { metadata: { name: "north" }, spec: {} });
  const started = operator.manager.start();
  await clock.run(1_000);
  await started;
  await clock.run(1_000);
  assert.equal((await client.get(Buoy, { name: "north" })).status?.greeting, "ahoy, captain");
  const metrics = await registry.metrics();
  assert.match(metrics, /slipway_buoys\{state="afloat"\} 1/);
  assert.match(metrics, new RegExp(`slipway_system_ready\\{system="${first.name}"\\} 0\n`));
  assert.match(metrics, /slipway_system_ready\{system="sea"\} 1\n/);
  assert.deepEqual(
    warned,
    first.kinds.flat().map(({ plural, group, version }) => ({
      kind: `${plural}.${group}`,
      version,
      systems: [first.name],
      remedy: `kubectl apply -f deploy/crds/${group}_${plural}.yaml; a restart is not needed`,
    })),
  );
  await install(first);
  await clock.run(60_000);
  assert.equal(operator.manager.ready(), true);
  await operator.manager.stop();
  await api.close();
});

test("a setting that is wrong names its system, and a system that there is none of is refused", () => {
  const refused = (work: () => unknown): Fault => {
    try {
      work();
    } catch (error) {
      if (isFault(error)) return error;
    }
    return assert.fail("it was taken");
  };
  assert.match(refused(() => settingsOf(sea, { sea: { word: 7 } })).message, /^system sea: .*expected string/);
  assert.equal(refused(() => settingsOf(sea, { sea: { word: 7 } })).remedy, "correct WORD");
  assert.match(refused(() => settingsOf(sea, { sea: { wrod: "x" } })).message, /wrod/);
  assert.equal(
    refused(() => systemsOf(["harbour"])).remedy,
    `use some of ${SYSTEMS.map(({ name }) => name).join(", ")}`,
  );
  assert.equal((settingsOf(sea) as { word: string }).word, "ahoy");
});

test("no two systems have the same name or bring the same kind", () => {
  assert.equal(new Set(systems.map(({ name }) => name)).size, systems.length);
  const plurals = systems.flatMap(({ kinds }) => kinds.map(([kind]) => `${kind?.plural}.${kind?.group}`));
  assert.equal(new Set(plurals).size, plurals.length);
});
