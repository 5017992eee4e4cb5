import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { credentialsTally, dataTally, HOST_TALLIES, talliedOf } from "./host-tallies.ts";
import { factsOf } from "./testing.ts";

const names = new Set(HOST_TALLIES.map(({ name }) => name));
const host = (state: string, status: object = {}, metadata: object = {}): BareMetalHost => {
  const made = factsOf(state, { status }).host;
  return { ...made, metadata: { ...made.metadata, ...metadata } };
};

test("why a BMC can't be asked is counted by its code, under a name that is declared", () => {
  const counted = (["MissingInput", "BadCredentials", "Invalid", "Timeout"] as const).map(
    (code) => credentialsTally({ code }).name,
  );
  assert.deepEqual(counted, [
    "metal3_credentials_missing_total",
    "metal3_credentials_invalid_total",
    "metal3_credentials_invalid_total",
    "metal3_credentials_no_management_access_total",
  ]);
  assert.ok(counted.every((name) => names.has(name)));
});

test("data that are missing are counted by their field, and nothing else is", () => {
  const missing = dataTally({ code: "MissingInput", on: "spec.networkData" });
  assert.deepEqual(missing?.labels, { host_data_type: "networkData" });
  assert.ok(names.has(missing!.name));
  assert.equal(dataTally({ code: "MissingInput", on: "spec.image" }), undefined);
  assert.equal(dataTally({ code: "Forbidden", on: "spec.userData" }), undefined);
});

test("an operation's time is counted once, when it ends, in seconds", () => {
  const start = "2026-01-01T12:00:00Z";
  const running = host("provisioning", { operationHistory: { provision: { start, end: null } } });
  const ended = host("provisioned", { operationHistory: { provision: { start, end: "2026-01-01T12:03:20Z" } } });
  const timesOf = (before: BareMetalHost, after: BareMetalHost) =>
    talliedOf(before, after).filter(({ name }) => name.endsWith("_seconds"));
  assert.deepEqual(timesOf(running, running), []);
  assert.deepEqual(timesOf(ended, ended), []);
  assert.deepEqual(timesOf(running, ended), [
    {
      name: "metal3_operation_provision_duration_seconds",
      labels: { namespace: "metal", host: "node-1" },
      of: "metal/node-1",
      value: 200,
    },
  ]);
});

test("a failure counts when it is new, and a status that stays the same counts nothing", () => {
  const [well, failed] = [host("inspecting"), host("inspecting", { errorCount: 1, errorType: "inspection error" })];
  assert.deepEqual(talliedOf(well, well), []);
  assert.deepEqual(talliedOf(failed, failed), []);
  assert.deepEqual(talliedOf(failed, well), []);
  assert.deepEqual(talliedOf(well, failed), [
    { name: "metal3_host_error_total", labels: { error_type: "InspectionError" } },
  ]);
});

test("a host that others make wait counts as delayed by the work that it waits for", () => {
  const delayedIn = (state: string) =>
    talliedOf(host(state), host(state, { operationalStatus: "delayed" })).map(({ name }) => name);
  const [provisioning, deprovisioning] = ["metal3_delayed__provisioning_total", "metal3_delayed__deprovisioning_total"];
  assert.deepEqual(delayedIn("available"), [provisioning]);
  assert.deepEqual(delayedIn("inspecting"), [provisioning]);
  assert.deepEqual(delayedIn("provisioned"), [deprovisioning]);
  assert.deepEqual(delayedIn("deprovisioning"), [deprovisioning]);
});

test("every state but the same is a change, with what it was called before", () => {
  const labels = { prev_state: "", new_state: "unmanaged" };
  assert.deepEqual(talliedOf(host(""), host("unmanaged")), [
    { name: "metal3_provisioning_state_change_total", labels },
    { name: "metal3_host_unmanaged_total" },
  ]);
});

test("the names and labels that are declared are those of Metal3's operator", () => {
  const declared = HOST_TALLIES.map(({ name, labels = [] }) => [name.replace("metal3_", ""), ...labels].join(" "));
  assert.deepEqual(declared, [
    "reconcile_total namespace host",
    "reconcile_error_total",
    "host_error_total error_type",
    "operation_power_change_total namespace host on_off",
    ...["credentials_missing_total", "credentials_invalid_total", "credentials_updated_total"],
    "credentials_no_management_access_total",
    "host_config_data_error_total host_data_type",
    "delayed__provisioning_total namespace host",
    "delayed__deprovisioning_total namespace host",
    "provisioning_state_change_total prev_state new_state",
    ...["host_registration_required_total", "host_unmanaged_total", "delete_without_deprovisioning_total"],
    ...["delete_without_powering_off_total", "delete_delayed_for_detached_total", "provisioner_not_ready_total"],
    ...["register", "inspect", "provision", "deprovision"].map(
      (each) => `operation_${each}_duration_seconds namespace host`,
    ),
  ]);
  const buckets = new Map(HOST_TALLIES.map((each) => [each.name, "buckets" in each ? each.buckets : undefined]));
  assert.deepEqual(
    buckets.get("metal3_operation_register_duration_seconds"),
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  );
  assert.deepEqual(buckets.get("metal3_operation_inspect_duration_seconds"), [30, 90, 180, 360, 720, 1440]);
});

test("credentials count as updated where another version than before was good", () => {
  const good = (credentialsVersion?: string) =>
    host("available", credentialsVersion === undefined ? {} : { goodCredentials: { credentialsVersion } });
  const counted = (before: BareMetalHost, after: BareMetalHost) => talliedOf(before, after).map(({ name }) => name);
  assert.deepEqual(counted(good("1"), good("2")), ["metal3_credentials_updated_total"]);
  assert.deepEqual(
    [counted(good("1"), good("1")), counted(good(), good("1")), counted(good("1"), good())],
    [[], [], []],
  );
});

test("a registration that begins, and a deletion that waits for a host to be attached, are counted once", () => {
  assert.deepEqual(
    talliedOf(host("unmanaged"), host("registering")).map(({ name }) => name),
    ["metal3_provisioning_state_change_total", "metal3_host_registration_required_total"],
  );
  const detached = { "baremetalhost.metal3.io/detached": '{"deleteAction":"delay"}' };
  const leaving = { annotations: detached, deletionTimestamp: "2026-01-01T00:00:00Z" };
  const waits = { waitingFor: "baremetalhost.metal3.io/detached, which delays the deletion, to be taken off" };
  const counted = (before: BareMetalHost, after: BareMetalHost) => talliedOf(before, after).map(({ name }) => name);
  const delayed = host("provisioned", waits, leaving);
  assert.deepEqual(counted(host("provisioned", {}, leaving), delayed), ["metal3_delete_delayed_for_detached_total"]);
  assert.deepEqual(counted(delayed, delayed), []);
  assert.deepEqual(counted(host("provisioned"), host("provisioned", waits, { annotations: detached })), []);
  assert.deepEqual(counted(host("provisioned"), host("provisioned", {}, leaving)), []);
});

test("each of the four operations has its time", () => {
  for (const operation of ["register", "inspect", "provision", "deprovision"]) {
    const history = (end: string | null) => ({
      operationHistory: { [operation]: { start: "2026-01-01T12:00:00Z", end } },
    });
    const [tallied] = talliedOf(host("available", history(null)), host("available", history("2026-01-01T12:00:07Z")));
    assert.deepEqual([tallied?.name, tallied?.value], [`metal3_operation_${operation}_duration_seconds`, 7]);
  }
});
