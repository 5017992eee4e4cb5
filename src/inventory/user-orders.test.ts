import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { type HostOrder, hostStanding, inspect, power, release, reset, wipe } from "./user-orders.ts";

interface Of {
  spec?: object;
  status?: object;
  annotations?: Record<string, string>;
  deleted?: boolean;
}

const bmc = { address: "redfish://bmc", credentialsName: "s" };
const image = { url: "http://images/a.raw" };
const consumerRef = { kind: "Machine", name: "m-1" };
const available = { provisioning: { state: "available", ID: "" }, operationalStatus: "OK", poweredOn: true };

function hostOf({ spec, status = available, annotations = {}, deleted = false }: Of = {}): BareMetalHost {
  const gone = deleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
  return {
    metadata: { namespace: "metal", name: "node-1", annotations, ...gone },
    spec: { online: true, bmc, ...spec },
    status,
  } as unknown as BareMetalHost;
}

/** Why it would not be done, with what to do instead; undefined: it would. */
function refusal(order: HostOrder, of: Of = {}): string | undefined {
  try {
    order.check(hostOf(of));
    return undefined;
  } catch (error) {
    assert.ok(isFault(error, "Conflict"));
    assert.equal(error.on, "BareMetalHost/metal/node-1");
    return error.advice;
  }
}

const ORDERS = { on: power(true), off: power(false), reset: reset({ hard: true }), inspect, wipe };
const ALL = { ...ORDERS, release: release({ force: false }) };

test("no order is given to a host that nothing would be done with", () => {
  for (const [name, order] of Object.entries(ALL)) {
    assert.equal(refusal(order), undefined, name);
    assert.match(refusal(order, { deleted: true })!, /being deleted.*wait until it is gone/, name);
    assert.match(refusal(order, { annotations: { "baremetalhost.metal3.io/paused": "" } })!, /paused by/, name);
    assert.match(refusal(order, { annotations: { "baremetalhost.metal3.io/detached": "" } })!, /is detached/, name);
    const unmanaged = { provisioning: { state: "unmanaged", ID: "" }, waitingFor: "a start" };
    assert.match(refusal(order, { status: unmanaged })!, /not managed: it waits for a start/, name);
    assert.match(refusal(order, { status: {} })!, /not managed: it waits for the operator/, name);
  }
});

test("a machine that nobody vouches for gets no orders, unless its BMC does", () => {
  const status = { ...available, agent: { trust: "discovered" } };
  assert.match(refusal(wipe, { status, spec: { bmc: undefined } })!, /not trusted.*slipway\.dev\/approved/);
  assert.equal(refusal(wipe, { status }), undefined);
  const declared = { ...available, agent: { trust: "declared" } };
  assert.equal(refusal(wipe, { status: declared, spec: { bmc: undefined } }), undefined);
});

test("power needs a BMC, and says what does the same without", () => {
  const spec = { bmc: undefined };
  assert.match(refusal(ORDERS.on, { spec })!, /no BMC.*by hand/);
  assert.match(refusal(ORDERS.off, { spec })!, /no BMC.*slipway order poweroff node-1/);
  assert.match(refusal(ORDERS.reset, { spec })!, /no BMC.*slipway order reboot node-1/);
  assert.match(refusal(ORDERS.reset, { spec: { online: false } })!, /to be off.*slipway power on/);
});

test("a host in use is neither inspected nor wiped, and one whose cleaning or inspection is off says so", () => {
  for (const order of [inspect, wipe]) {
    assert.match(refusal(order, { spec: { consumerRef } })!, /in use: by Machine m-1.*slipway release/);
    assert.match(refusal(order, { spec: { image } })!, /in use: something is installed/);
    assert.match(refusal(order, { spec: { customDeploy: { method: "ipxe" } } })!, /in use: something/);
  }
  assert.match(refusal(inspect, { spec: { inspectionMode: "disabled" } })!, /inspectionMode is disabled/);
  assert.match(refusal(wipe, { spec: { automatedCleaningMode: "disabled" } })!, /CleaningMode is disabled/);
});

test("what is installed is taken away from a consumer by force alone, and never from others' disks", () => {
  assert.match(refusal(ALL.release, { spec: { consumerRef, image } })!, /used by Machine m-1.*--force/);
  assert.equal(refusal(release({ force: true }), { spec: { consumerRef, image } }), undefined);
  assert.match(refusal(release({ force: true }), { spec: { externallyProvisioned: true } })!, /not Slipway's/);
});

test("what is written to the host are the fields and annotations of Metal3's users", () => {
  const annotated = (name: string, value: string) => ({ metadata: { annotations: { [name]: value } } });
  assert.deepEqual(power(true).patch, { spec: { online: true } });
  assert.deepEqual(power(false).patch, { spec: { online: false } });
  assert.deepEqual(reset({ hard: true }).patch, annotated("reboot.metal3.io", '{"mode":"hard","force":true}'));
  assert.deepEqual(reset({ hard: false }).patch, annotated("reboot.metal3.io", '{"mode":"soft","force":true}'));
  assert.deepEqual(inspect.patch, annotated("inspect.metal3.io", ""));
  assert.deepEqual(wipe.patch, annotated("slipway.dev/wipe", ""));
  const nothing = { image: null, customDeploy: null, userData: null, networkData: null, metaData: null };
  assert.deepEqual(release({ force: false }).patch, {
    metadata: { labels: { "slipway.dev/consumer": null } },
    spec: { ...nothing, consumerRef: null },
  });
});

test("an order is done when all that it asked for has come about, and not before", () => {
  const isDone = (order: HostOrder, of: Of = {}): boolean => order.isDone(hostOf(of));
  const off = { ...available, poweredOn: false };
  assert.deepEqual([isDone(ORDERS.on), isDone(ORDERS.off)], [true, false]);
  assert.deepEqual([isDone(ORDERS.on, { status: off }), isDone(ORDERS.off, { status: off })], [false, true]);
  assert.equal(isDone(ORDERS.reset), true);
  assert.equal(isDone(ORDERS.reset, { status: off }), false);
  assert.equal(isDone(ORDERS.reset, { annotations: { "reboot.metal3.io": "{}" } }), false);
  for (const [order, name] of [
    [inspect, "inspect.metal3.io"],
    [wipe, "slipway.dev/wipe"],
  ] as const) {
    assert.equal(isDone(order), true, name);
    assert.equal(isDone(order, { annotations: { [name]: "" } }), false, name);
    const preparing = { ...available, provisioning: { state: "preparing", ID: "" } };
    assert.equal(isDone(order, { status: preparing }), false, name);
    assert.equal(isDone(order, { status: { ...available, operationalStatus: "error" } }), false, name);
  }
  assert.equal(isDone(ALL.release), true);
  for (const spec of [{ consumerRef }, { image }, { customDeploy: { method: "ipxe" } }])
    assert.equal(isDone(ALL.release, { spec }), false);
});

test("where a host stands is its state, with what it waits for or else what is wrong", () => {
  const standing = (status: object | undefined): string =>
    hostStanding({ ...hostOf(), ...(status === undefined ? { status: {} } : { status }) } as BareMetalHost);
  const provisioning = { state: "preparing", ID: "" };
  assert.equal(standing(undefined), "new");
  assert.equal(standing({ provisioning: { state: "", ID: "" } }), "new");
  assert.equal(standing({ provisioning }), "preparing");
  assert.equal(standing({ provisioning, waitingFor: "" }), "preparing");
  assert.equal(standing({ provisioning, waitingFor: "an agent", errorMessage: "x" }), "preparing: waits for an agent");
  assert.equal(standing({ provisioning, errorMessage: "no disk" }), "preparing: no disk");
});
