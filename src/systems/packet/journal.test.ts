import assert from "node:assert/strict";
import { test } from "node:test";
import type { Journal } from "../../machines/lifecycle.ts";
import type { Machine } from "../../machines/machine.ts";
import { asReported } from "../../machines/status-journal.ts";
import { told } from "../infrastructure/conditions.ts";
import { journalOf } from "./journal.ts";
import { machineIdOf, machineTags, oldMachineTags, providerIDOf } from "./names.ts";
import { aPacketMachine } from "./testing.ts";

const AT = "2026-01-01T00:00:00Z";
const ORDERED = Date.parse(AT);
const HANDED = ORDERED + 60_000;
const BOOT = { id: "b1", pass: 1, at: AT };
const ready = (status: boolean) =>
  told(
    undefined,
    { type: "InstanceReady", status, reason: "InstanceReady", message: "" },
    { now: HANDED, observedGeneration: 1 },
  );

test("a machine that its provider installs has succeeded when it is handed over; until then its order counts", () => {
  const silent = { reports: false, joined: false };
  const of = (status: Parameters<typeof aPacketMachine>[1]) => journalOf(aPacketMachine({}, status), silent);
  assert.deepEqual(of({ boot: BOOT, conditions: ready(true) }).signals, { succeeded: HANDED });
  assert.deepEqual(of({ boot: BOOT, conditions: ready(false) }).signals, { succeeded: ORDERED });
  assert.deepEqual(of({ conditions: ready(true) }).signals, {});
  assert.deepEqual(
    [of({ conditions: ready(true) }).runningSince, of({ conditions: ready(false) }).runningSince],
    [HANDED, undefined],
  );
});

test("a machine that boots from the network is as far as it says itself", () => {
  const install = { bootID: "b1", scriptFetched: AT };
  const journal = journalOf(aPacketMachine({}, { boot: BOOT, install, conditions: ready(true) }), {
    reports: true,
    joined: true,
  });
  assert.deepEqual(journal.signals, { scriptFetched: ORDERED });
  assert.deepEqual([journal.joined, journal.networkSet, journal.purchase], [true, true, undefined]);
});

test("B51 a machine is known by the status, else by the providerID that the original or a move left", () => {
  const id = (spec: object, status?: object) =>
    journalOf(aPacketMachine(spec, status), { reports: false, joined: false }).machineId;
  assert.equal(id({ providerID: "equinixmetal://m-9" }, { instanceID: "m-1" }), "m-1");
  assert.equal(id({ providerID: "equinixmetal://m-9" }, { instanceID: "" }), "m-9");
  assert.equal(id({ providerID: "equinixmetal://m-9" }), "m-9");
  assert.equal(id({}), undefined);
});

test("a machine that has fetched its bootstrap data, or is a Node, runs before its provider says so; nothing else does", () => {
  const at = (phase: Machine["phase"], signals: Journal["signals"], joined = false) =>
    asReported({ phase } as Machine, { signals, joined }).phase;
  assert.equal(at("building", { scriptFetched: 1, configFetched: 2 }), "running");
  assert.equal(at("building", {}, true), "running");
  assert.equal(at("building", { scriptFetched: 1 }), "building");
  for (const phase of ["failed", "releasing", "stopped", "reinstalling", "unknown", "running"] as const)
    assert.equal(at(phase, { configFetched: 2 }, true), phase);
});

test("a providerID names a machine of this provider or nothing", () => {
  assert.equal(providerIDOf("m-1"), "equinixmetal://m-1");
  assert.equal(machineIdOf("equinixmetal://m-1"), "m-1");
  for (const none of ["equinixmetal://", "aws:///zone/m-1", "", undefined]) assert.equal(machineIdOf(none), undefined);
});

test("B51 machines of the original are found by its tags, of its old releases too", () => {
  const names = { namespace: "shop", cluster: "capp:c1", machine: "m" };
  assert.deepEqual(machineTags(names), ["capp:cluster-id:capp:c1", "capp:machine-uid:m", "capp:namespace:shop"]);
  assert.deepEqual(oldMachineTags(names), [
    "cluster-api-provider-packet:cluster-id:capp:c1",
    "cluster-api-provider-packet:machine-uid:m",
    "cluster-api-provider-packet:namespace:shop",
  ]);
});
