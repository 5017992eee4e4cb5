import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Context, Controller, KubeObject } from "@slipway/kube";
import { Registry } from "prom-client";
import { z } from "zod";
import { madeUp } from "../kinds/testing.ts";
import type { MachineDriver } from "../machines/machine.ts";
import { system } from "../systems/system.ts";
import { operatorMetrics } from "./metrics.ts";

const [Pool, Machine] = [madeUp("Pool"), madeUp("Machine")];
const pools = system({
  name: "pools",
  summary: "made up",
  kinds: [[Pool], [Machine]],
  settings: z.strictObject({}),
  counts: [
    {
      ...{ name: "slipway_made", help: "Made", label: "status", kind: Machine },
      valueOf: (object) => (object as { status?: { status?: string } }).status?.status || "new",
    },
  ],
  machineEvents: { kind: Machine, bought: "Ordered", released: "Released", replaced: "Replacing" },
  parts: () => ({ controllers: [] }),
});

const lines = async (registry: Registry, name: string): Promise<string[]> =>
  (await registry.metrics()).split("\n").filter((line) => line.startsWith(name));

test("objects are counted by their status at each scrape, those without one as new", async () => {
  const registry = new Registry();
  const metrics = operatorMetrics(registry, [pools]);
  assert.deepEqual(await lines(registry, "slipway_made"), []);
  const machines = ["managed", "managed", "", undefined].map(
    (status) => ({ status: status === undefined ? undefined : { status } }) as unknown as KubeObject,
  );
  metrics.objects((kind) => (kind === Machine ? machines : []));
  assert.deepEqual(await lines(registry, "slipway_made"), [
    'slipway_made{status="managed"} 2',
    'slipway_made{status="new"} 2',
  ]);
  machines.length = 1;
  assert.deepEqual(await lines(registry, "slipway_made"), ['slipway_made{status="managed"} 1']);
});

test("a system's measures are read once for a scrape, and what is gone is not shown", async () => {
  const registry = new Registry();
  const running = {
    ...pools,
    counts: [],
    measures: ["one", "two"].map((of) => ({ name: `slipway_${of}`, help: of, labels: ["of"] })),
  };
  const metrics = operatorMetrics(registry, [running]);
  let values = [
    { name: "slipway_one", labels: { of: "a" }, value: 1 },
    { name: "slipway_one", labels: { of: "b" }, value: 2 },
    { name: "slipway_two", labels: { of: "a" }, value: 3 },
  ];
  let reads = 0;
  metrics.measured(async () => {
    reads++;
    return values;
  });
  const shown = async () => (await registry.metrics()).split("\n").filter((line) => /^slipway_(one|two)\{/.test(line));
  assert.deepEqual(await shown(), ['slipway_one{of="a"} 1', 'slipway_one{of="b"} 2', 'slipway_two{of="a"} 3']);
  assert.equal(reads, 1);
  values = values.slice(0, 1);
  assert.deepEqual(await shown(), ['slipway_one{of="a"} 1']);
});

test("machines are counted as they are bought, released and replaced, and their events still reach the cluster", async () => {
  const registry = new Registry();
  const shown: string[] = [];
  const events = {
    normal: (on: { kind: string }, reason: string) => shown.push(`${on.kind} ${reason}`),
    warning: (on: { kind: string }, reason: string) => shown.push(`${on.kind} warning ${reason}`),
  };
  const inner = {
    name: "x",
    async reconcile(_: unknown, { events }: Context) {
      for (const reason of ["Ordered", "Ordered", "Released", "Replacing", "Other"])
        events.normal({ kind: Machine.kind } as KubeObject, reason, "");
      events.normal({ kind: Pool.kind } as KubeObject, "Released", "");
      events.warning({ kind: Machine.kind } as KubeObject, "Ordered", "");
    },
  } as unknown as Controller;
  await operatorMetrics(registry, [pools])
    .controller(inner)
    .reconcile({ name: "a" }, { events } as unknown as Context);
  assert.deepEqual(await lines(registry, "slipway_machines"), [
    "slipway_machines_bought_total 2",
    "slipway_machines_released_total 1",
    "slipway_machines_replaced_total 1",
  ]);
  assert.equal(shown.length, 7);
});

test("calls to a provider are counted by operation and outcome, and answer as before", async () => {
  const registry = new Registry();
  const driver = {
    type: "equinix",
    list: async () => ["m"],
    read: async () => {
      throw new Fault("Throttled", "x", "later");
    },
    networkSettled: () => true,
  } as unknown as MachineDriver;
  const counted = operatorMetrics(registry).driver(() => driver)({} as never, {} as never);
  assert.deepEqual(await counted.list(), ["m"]);
  await assert.rejects(counted.read("a"), /later/);
  assert.equal(counted.networkSettled({} as never, {} as never), true);
  assert.deepEqual((await lines(registry, "slipway_cloud_calls_total")).toSorted(), [
    'slipway_cloud_calls_total{provider="equinix",operation="list",code="ok"} 1',
    'slipway_cloud_calls_total{provider="equinix",operation="read",code="Throttled"} 1',
  ]);
});
