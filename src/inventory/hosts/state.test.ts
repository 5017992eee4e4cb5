import assert from "node:assert/strict";
import { test } from "node:test";
import { type HostState, isWork, needsRoom, stateOf } from "./state.ts";

test("a host takes part of the machines' room while an agent works on it, and not while it only waits or is switched", () => {
  const busy: HostState[] = ["inspecting", "preparing", "provisioning", "deprovisioning"];
  const others: HostState[] = ["registering", "available", "provisioned", "powering off before delete", "deleting"];
  for (const state of busy) assert.deepEqual([state, needsRoom(state), isWork(state)], [state, true, true]);
  for (const state of others) assert.equal(needsRoom(state), false, state);
});

test("which states are work, and which are ends", () => {
  const ends: HostState[] = ["unmanaged", "available", "provisioned", "externally provisioned"];
  const work: HostState[] = ["", "registering", "powering off before delete", "deleting"];
  assert.deepEqual([ends.map(isWork), work.map(isWork)], [ends.map(() => false), work.map(() => true)]);
});

test("a state has the name of today, and one that nobody knows counts as none", () => {
  const of = (state?: string) =>
    stateOf({ status: state === undefined ? undefined : { provisioning: { state } } } as never);
  assert.deepEqual([of("ready"), of("match profile"), of("available")], ["available", "preparing", "available"]);
  assert.deepEqual([of(), of(""), of("toasted"), of("externally provisioned")], ["", "", "", "externally provisioned"]);
});
