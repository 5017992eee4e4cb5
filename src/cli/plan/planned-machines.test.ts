import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import type { MachineDriver, Order, Placement } from "../../machines/machine.ts";
import { SYSTEMS } from "../../operator/systems.ts";
import { ClusterAsPlanned } from "./planned-cluster.ts";
import { type Look, outcomeOf } from "./planned-machines.ts";
import type { PlannedObject } from "./planned-objects.ts";

/** The first system's pool and machine: this file knows no system. */
const [POOL, MACHINE] = (["pools", "machines"] as const).map((role) => SYSTEMS[0]!.shows![role]![0]!);

const pool = (spec: object): KubeObject =>
  ({
    ...{
      apiVersion: `${POOL!.group}/${POOL!.version}`,
      kind: POOL!.kind,
      spec: { plan: "small", metro: "sg", ...spec },
    },
    metadata: { name: "workers", uid: "", resourceVersion: "", creationTimestamp: "" },
  }) as KubeObject;

const planned = (object: KubeObject, before?: KubeObject): PlannedObject => ({
  ...{ object, before, change: before === undefined ? "create" : "change", path: "f.yaml" },
  places: { line: 3, fields: [], lineOf: (field) => (field === "spec.metro" ? 7 : 3) },
});

const priceOf = async ({ plan }: Placement) => ({ hourly: plan === "small" ? 0.5 : 9, currency: "USD" }) as const;
const check = ({ placement }: Order) =>
  placement.metro === "sg" ? [{ field: "spec.metro", message: "it is full", fatal: false }] : [];

/** What is planned for a pool whose account's provider has this driver. */
async function outcome(object: PlannedObject, driver: Partial<MachineDriver> = {}) {
  const account = async () => ({ driver: { type: "cloud", check, priceOf, ...driver } });
  const look = {
    cluster: new ClusterAsPlanned({ find: async () => undefined }),
    ...{ accounts: { fleet: account }, own: { namespace: "ns", secret: "own" }, planned: [object] },
  } as unknown as Look;
  return await outcomeOf(object, look);
}

test("a pool makes machines of one account, with the price of the preferred place and what the provider says, at its line", async () => {
  const { makes, machines, unknown } = await outcome(planned(pool({ count: 3, metros: ["ny"] })));
  assert.deepEqual([[...makes], unknown], [[[MACHINE!.kind, 3]], undefined]);
  const { of, count, before, replaced, account, provider, placements, price, concerns, candidates } = machines[0]!;
  assert.equal(machines.length, 1);
  assert.deepEqual([of, count, before, replaced], [`${POOL!.kind}/workers`, 3, 0, false]);
  assert.deepEqual(
    [account, provider, price, candidates],
    ["Secret/ns/own", "cloud", { hourly: 0.5, currency: "USD" }, undefined],
  );
  assert.deepEqual(
    placements.map(({ metro }) => metro),
    ["sg", "ny"],
  );
  const place = { on: `${POOL!.kind}/workers`, path: "f.yaml", line: 7 };
  assert.deepEqual(concerns, [{ field: "spec.metro", message: "it is full", fatal: false, ...place }]);
});

test("a pool that is there already counts the machines that it has; one of none makes none", async () => {
  const { machines } = await outcome(planned(pool({ count: 3 }), pool({ count: 1 })));
  assert.deepEqual([machines[0]!.count, machines[0]!.before, machines[0]!.replaced], [3, 1, false]);
  assert.deepEqual((await outcome(planned(pool({ count: 0 })))).machines, []);
});

test("machines of another template than those that are there are replaced", async () => {
  const template = (size: string) => ({ count: 1, template: { spec: { size } } });
  const replaced = async (before: string) =>
    (await outcome(planned(pool(template("new")), pool(template(before))))).machines[0]!.replaced;
  assert.deepEqual([await replaced("old"), await replaced("new")], [true, false]);
  assert.equal((await outcome(planned(pool(template("new"))))).machines[0]!.replaced, false);
});

test("machines that are there before they are ordered are named, and have no price", async () => {
  const driver: Partial<MachineDriver> = { candidates: async () => ["h-1", "h-2"], priceOf: async () => undefined };
  const { candidates, ...group } = (await outcome(planned(pool({ count: 1 })), driver)).machines[0]!;
  assert.deepEqual([candidates, "price" in group], [["h-1", "h-2"], false]);
});

test("an account or a price that can't be read leaves what is known, and says why", async () => {
  const object = planned(pool({ count: 2 }));
  const priceless = await outcome(object, {
    priceOf: () => Promise.reject(new Fault("Unavailable", "cloud", "it is away")),
  });
  assert.deepEqual(
    priceless.machines.map(({ count, provider, price, unknown }) => [count, provider, price, unknown]),
    [[2, "cloud", undefined, "cloud: it is away"]],
  );
  assert.equal(priceless.machines[0]!.concerns.length, 1);
  const missing = new Fault("MissingInput", "Secret/ns/own", "it is not there", { remedy: "create it" });
  const look = { accounts: { fleet: () => Promise.reject(missing) }, own: { namespace: "ns", secret: "own" } };
  const cluster = new ClusterAsPlanned({ find: async () => undefined });
  const { machines } = await outcomeOf(object, { ...look, cluster, planned: [object] } as unknown as Look);
  assert.deepEqual([machines[0]!.provider, machines[0]!.unknown], [undefined, missing.advice]);
});

test("an object without a place is named, and nobody is asked for a price", async () => {
  const asked: string[] = [];
  const { machines } = await outcome(planned(pool({ count: 1, plan: "" })), {
    priceOf: async ({ plan }) => void asked.push(plan),
  });
  assert.deepEqual(
    machines[0]!.concerns.map(({ field, fatal }) => [field, fatal]),
    [["spec.plan", true]],
  );
  assert.deepEqual([machines[0]!.provider, asked], ["cloud", []]);
});

test("what can't work whoever serves it stands beside what the provider says", async () => {
  const { machines } = await outcome(planned(pool({ count: 1, provisionTimeout: "soon" })));
  assert.deepEqual(
    machines[0]!.concerns.map(({ field, line }) => [field, line]),
    [
      ["spec.provisionTimeout", 3],
      ["spec.metro", 7],
    ],
  );
});

test("an object that brings nothing about is an outcome without machines", async () => {
  const object = { ...pool({}), apiVersion: "v1", kind: "ConfigMap" };
  const { makes, machines } = await outcome(planned(object));
  assert.deepEqual([makes.size, machines], [0, []]);
});
