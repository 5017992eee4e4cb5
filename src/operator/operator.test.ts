import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault, quietLog as log, Secrets, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Node } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { Registry } from "prom-client";
import { z } from "zod";
import { type System, type SystemParts, type SystemPorts, system } from "../systems/system.ts";
import { operatorMetrics } from "./metrics.ts";
import { createOperator, type OperatorSettings, systemsOf, systemsToRun } from "./operator.ts";
import { SYSTEMS } from "./systems.ts";

const SETTINGS: OperatorSettings = {
  ...{ namespace: "ns", secret: "s", bootUrl: "http://boot.invalid", pollMs: 1000, leaderElection: false },
};

/** An operator of systems that only tests know; nothing runs yet. */
function made(systems: readonly System[], settings: Partial<OperatorSettings> = {}) {
  const [clock, registry, secrets, api] = [new VirtualClock(), new Registry(), new Secrets(), new FakeApi()];
  const operator = createOperator(
    {
      ...{ transport: api, clock, random: seededRandom(1), log, secrets },
      counts: operatorMetrics(registry, systems),
      http: () => async () => {
        throw new Fault("Unavailable", "cloud", "there is none");
      },
      readNodeFile: async () => undefined,
    },
    { ...SETTINGS, systems, ...settings },
  );
  return { operator, registry, secrets, api, clock };
}
const named = (name: string, parts: (ports: SystemPorts) => SystemParts, of: Partial<System> = {}): System =>
  system({ ...{ name, summary: name, kinds: [], settings: z.object({}) }, parts, ...(of as object) });
const refusal = (work: () => unknown): Fault => {
  try {
    work();
  } catch (error) {
    if (isFault(error)) return error;
  }
  return assert.fail("it was taken");
};

test("systems are prepared and closed one after the other, each awaited", async () => {
  const happened: string[] = [];
  const slow = (name: string) =>
    named(name, () => ({
      controllers: [],
      prepare: async () => {
        await Promise.resolve();
        happened.push(`${name} prepared`);
      },
      closed: async () => {
        await new Promise(setImmediate);
        happened.push(`${name} closed`);
      },
    }));
  const { operator } = made([slow("a"), named("bare", () => ({ controllers: [] })), slow("b")]);
  assert.deepEqual(
    operator.systems.map(({ name }) => name),
    ["a", "bare", "b"],
  );
  await operator.prepare(new AbortController().signal);
  await operator.closed();
  assert.deepEqual(happened, ["a prepared", "b prepared", "a closed", "b closed"]);
});

test("what a system measures is read once a scrape, and shown with its labels", async () => {
  let reads = 0;
  const measures = ["one", "two"].map((name) => ({ name: `slipway_${name}`, help: name, labels: ["tenant"] }));
  const measuring = named(
    "a",
    () => ({
      controllers: [],
      measure: async () => {
        reads++;
        return [
          { name: "slipway_one", labels: { tenant: "t" }, value: 1 },
          { name: "slipway_two", labels: { tenant: "t" }, value: reads * 2 },
        ];
      },
    }),
    { measures },
  );
  const { registry } = made([measuring, named("bare", () => ({ controllers: [] }))]);
  const metrics = await registry.metrics();
  assert.match(metrics, /slipway_one\{tenant="t"\} 1\n/);
  assert.match(metrics, /slipway_two\{tenant="t"\} 2\n/);
  assert.equal(reads, 1);
  assert.match(await registry.metrics(), /slipway_two\{tenant="t"\} 4\n/);
});

test("systems know where the operator is, whether there are replicas, and may hide a value from all that leaves", () => {
  let seen: SystemPorts | undefined;
  const asking = named("a", (ports) => {
    seen = ports;
    ports.onSecret("a-secret-value");
    return { controllers: [] };
  });
  const { secrets } = made([asking]);
  const { namespace, bootUrl, pollMs, hasReplicas } = seen!;
  assert.deepEqual([namespace, bootUrl, pollMs, hasReplicas], ["ns", SETTINGS.bootUrl, 1000, false]);
  assert.equal(secrets.redact("it is a-secret-value"), "it is [redacted]");
  made([asking], { leaderElection: { namespace: "ns" } as never });
  assert.equal(seen!.hasReplicas, true);
});

test("no request has a secret in a status, and as many are made at once as is allowed", async () => {
  const { operator, secrets, api, clock } = made([], { limits: { qps: 1, burst: 2 } });
  secrets.add("a-secret-value");
  api.put("/api/v1/nodes/a", { metadata: { name: "a" } });
  const body = { status: { phase: "it is a-secret-value" } };
  await operator.client.patch(Node, { name: "a" }, { type: "merge", body }, { subresource: "status" });
  assert.deepEqual((api.objects.get("/api/v1/nodes/a") as Node).status, { phase: "it is [redacted]" });
  await operator.client.get(Node, { name: "a" });
  const before = api.requests.length;
  const third = operator.client.get(Node, { name: "a" });
  await clock.run(999);
  assert.equal(api.requests.length, before);
  await clock.run(1);
  await third;
  assert.equal(api.requests.length, before + 1);
});

test("the systems that run are those that are named, and those whose settings are given", () => {
  const names = (systems: System[]) => systems.map(({ name }) => name);
  const [first, second] = [SYSTEMS[0]!.name, SYSTEMS[1]!.name];
  assert.deepEqual(names(systemsOf([second, first])), [first, second], "in the order of the list");
  assert.deepEqual(names(systemsToRun([second])), [second]);
  assert.deepEqual(names(systemsToRun([second], { "cluster-api": { core: "light" } })), [second, "cluster-api"]);
  assert.deepEqual(names(systemsToRun(["cluster-api"], { "cluster-api": { core: "light" } })), ["cluster-api"]);
});

test("a system that is named and can't run with its settings is refused, with the option that gives them", () => {
  const { message, remedy } = refusal(() => systemsToRun(["netboot"]));
  assert.match(message, /system netboot has no settings/);
  assert.match(remedy!, /^name them with --netboot[a-z-]*$/);
  assert.match(refusal(() => systemsToRun(["harbour"])).message, /there is no system harbour/);
});
