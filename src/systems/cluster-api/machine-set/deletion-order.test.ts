import assert from "node:assert/strict";
import { test } from "node:test";
import { ANNOTATIONS } from "../../../cluster-api/names.ts";
import { ago, is, machine, NOW } from "../testing.ts";
import { deletionPriority, isUnhealthy, machinesToDelete, type Order } from "./deletion-order.ts";

const good = { nodeRef: { name: "n" } };
const aged = (name: string, days: number) =>
  machine(name, { metadata: { creationTimestamp: ago(days * 86_400) }, status: good });
const names = (machines: Parameters<typeof machinesToDelete>[0], count: number, order: Order) =>
  machinesToDelete(machines, count, order, NOW).map(({ metadata }) => metadata.name);

test("those that are leaving go first, then those that are marked, then those that are of no use", () => {
  const machines = [
    aged("old", 300),
    machine("sick", { status: { ...good, conditions: [is("NodeHealthy", "False")] } }),
    machine("marked", { metadata: { annotations: { [ANNOTATIONS.deleteMachine]: "" } }, status: good }),
    machine("leaving", { metadata: { deletionTimestamp: ago(1) }, status: good }),
    aged("new", 1),
  ];
  for (const order of ["Newest", "Oldest", "Random"] as const)
    assert.deepEqual(names(machines, 3, order), ["leaving", "marked", "sick"], order);
  assert.deepEqual(names(machines, 4, "Oldest").at(-1), "old");
  assert.deepEqual(names(machines, 4, "Newest").at(-1), "new");
});

test("age decides among the rest, a tie by name, and no more are chosen than asked for", () => {
  const machines = [aged("b", 2), aged("c", 0), aged("a", 2)];
  assert.deepEqual(names(machines, 2, "Oldest"), ["a", "b"]);
  assert.deepEqual(names(machines, 2, "Newest"), ["c", "a"]);
  assert.deepEqual(names(machines, 2, "Random"), ["a", "b"]);
  assert.deepEqual(names(machines, 0, "Oldest"), []);
  assert.deepEqual(names(machines, -1, "Oldest"), []);
});

test("no age outweighs a Machine of no use, and ages differ most in the first ten days", () => {
  assert.ok(deletionPriority(aged("a", 3000), "Oldest", NOW) <= deletionPriority(machine("no-node"), "Oldest", NOW));
  assert.equal(Math.round(deletionPriority(aged("a", 10), "Oldest", NOW)), 32);
  assert.equal(Math.round(deletionPriority(aged("a", 10), "Newest", NOW)), 18);
  assert.equal(deletionPriority(aged("from a clock ahead", -1), "Oldest", NOW), 0);
});

test("a Machine is of no use without a Node, or with a health check that failed", () => {
  const of = (status: object) => isUnhealthy(machine("m", { status }));
  assert.equal(of(good), false);
  assert.equal(of({}), true);
  assert.equal(of({ ...good, conditions: [is("HealthCheckSucceeded", "False")] }), true);
  assert.equal(of({ ...good, conditions: [is("HealthCheckSucceeded", "Unknown"), is("NodeHealthy", "True")] }), false);
});
