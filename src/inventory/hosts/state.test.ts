import assert from "node:assert/strict";
import { test } from "node:test";
import { type HostState, isWork, needsRoom } from "./state.ts";

test("a host takes part of the machines' room while an agent works on it, and not while it only waits or is switched", () => {
  const busy: HostState[] = ["inspecting", "preparing", "provisioning", "deprovisioning"];
  const others: HostState[] = ["registering", "available", "provisioned", "powering off before delete", "deleting"];
  for (const state of busy) assert.deepEqual([state, needsRoom(state), isWork(state)], [state, true, true]);
  for (const state of others) assert.equal(needsRoom(state), false, state);
});
