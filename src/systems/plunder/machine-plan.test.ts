import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import type { Journal } from "../../machines/lifecycle.ts";
import { aMachine } from "../../machines/testing.ts";
import { adopted, isAdopted } from "./adoption.ts";
import { claimOf } from "./claim.ts";
import { journalOf } from "./journal.ts";
import { type MachineView, planMachine } from "./machine-plan.ts";

const NOW = Date.UTC(2026, 0, 1);
const GATE = { reason: "WaitingForBootstrapData", what: "the Machine's bootstrap data" };
const DONE = { attempt: 1, at: NOW - 5_000, state: "Done" as const, placement: 0 };
const PENDING = { ...DONE, state: "Pending" as const };
const REFUSED = { ...DONE, state: "Refused" as const };

const machineOf = (spec: object = {}, status?: object): PlunderMachine =>
  ({
    metadata: { namespace: "shop", name: "w.1", uid: "u-1", generation: 3 },
    spec,
    ...(status && { status }),
  }) as unknown as PlunderMachine;

const journal = (more: Partial<Journal> = {}): Journal => ({
  ...{ machineId: undefined, purchase: undefined, boot: undefined, signals: {} },
  ...{ runningSince: undefined, joined: false, networkSet: true },
  ...more,
});
const taken = journal({ machineId: "rack/h-1/uid", purchase: DONE });
const host = (more: Parameters<typeof aMachine>[0] = {}) =>
  aMachine({ id: "rack/h-1/uid", providerState: "provisioned", ...more });

function plan({ spec, status, ...more }: Partial<MachineView> & { spec?: object; status?: object } = {}) {
  const machine = machineOf(spec, status);
  const wanted = { cluster: undefined, clusterName: "c", isControlPlane: false, failureDomain: undefined };
  return planMachine({
    ...{ machine, claim: claimOf({ ...wanted, machine }, 15_000), journal: journal(), sight: undefined },
    ...{ gate: undefined, address: undefined, now: NOW },
    ...more,
  });
}
const condition = ({ status }: ReturnType<typeof plan>, type = "Installed") => {
  const found = status.conditions?.find((one) => one.type === type) as { severity?: string } & NonNullable<
    typeof status.conditions
  >[number];
  return [found.status, found.reason, found.message];
};

test("N39 no host is taken behind a gate, and the status says what is waited for", () => {
  const gated = plan({ gate: GATE });
  assert.equal(gated.step.do, "wait");
  assert.deepEqual(condition(gated), ["False", GATE.reason, `waiting for ${GATE.what}`]);
  assert.deepEqual([gated.status.waitingFor, gated.status.ready], [GATE.what, false]);
  const open = plan();
  assert.equal(open.step.do, "order");
  assert.deepEqual(condition(open), ["False", "TakingHost", "a host is being taken"]);
  assert.deepEqual([open.status.hostName, open.status.observedGeneration], ["w-1", 3]);
});

test("a claim without an answer is looked for behind a gate, too; one that found no host says so", () => {
  assert.deepEqual(condition(plan({ gate: GATE, journal: journal({ purchase: PENDING }) })), [
    ...["False", "TakingHost", "a host is being taken"],
  ]);
  const [status, reason, message] = condition(plan({ journal: journal({ purchase: REFUSED }) }));
  assert.deepEqual([status, reason], ["False", "NoHost"]);
  assert.match(message!, /^waiting for /);
});

test("a machine that is stalled says by what, whatever it would wait for", () => {
  const conditions = [
    { type: "Stalled", status: "True", reason: "Invalid", message: "no such type", lastTransitionTime: "" },
  ];
  const stalled = plan({ gate: GATE, status: { conditions } });
  assert.deepEqual(condition(stalled).slice(0, 2), ["False", "Stalled"]);
  assert.match(condition(stalled)[2]!, /no such type/);
});

test("N36 a host that is installed is ready, and provisioned for ever; Ready says what Installed says", () => {
  const there = plan({ sight: host(), journal: taken });
  assert.deepEqual(condition(there), ["True", "Installed", ""]);
  assert.deepEqual(condition(there, "Ready"), condition(there));
  assert.deepEqual([there.status.ready, there.status.initialization], [true, { provisioned: true }]);
  const later = plan({ sight: host({ phase: "stopped" }), journal: taken, status: there.status });
  assert.deepEqual([later.status.ready, later.status.initialization], [false, { provisioned: true }]);
  for (const [phase, reason] of [
    ["stopped", "Stopped"],
    ["releasing", "MachineTakenBack"],
    ["building", "Installing"],
  ] as const) {
    const one = plan({ sight: host({ phase }), journal: taken });
    assert.deepEqual(condition(one).slice(0, 2), ["False", reason]);
    assert.equal(one.status.initialization, undefined);
  }
});

test("N37 the status has the host by namespace and name, the card it boots from, and its addresses", () => {
  const addresses = [
    { address: "10.0.0.5", family: 4 as const, public: false, management: true },
    { address: "fd00::5", family: 6 as const, public: false, management: true },
  ];
  const { status } = plan({ sight: host({ addresses, bootMac: "52:54:00:00:00:01" }), journal: taken });
  assert.deepEqual(
    [status.instanceID, status.host, status.state, status.macAddress, status.ipAddress],
    ["rack/h-1/uid", "rack/h-1", "provisioned", "52:54:00:00:00:01", "10.0.0.5"],
  );
  assert.deepEqual(status.addresses, [
    { type: "Hostname", address: "w-1" },
    { type: "InternalIP", address: "10.0.0.5" },
    { type: "InternalIP", address: "fd00::5" },
  ]);
  const named = (view: Parameters<typeof plan>[0]) => plan({ sight: host({ addresses }), ...view }).status;
  assert.equal(named({ address: "10.0.0.8" }).ipAddress, "10.0.0.8");
  const own = named({ address: "10.0.0.8", spec: { ipAddress: "10.0.0.9" }, status: { hostName: "kept" } });
  assert.deepEqual(own.addresses, [
    { type: "Hostname", address: "kept" },
    { type: "InternalIP", address: "10.0.0.9" },
  ]);
  assert.ok(!("ipAddress" in plan({ sight: host({ addresses: [] }), journal: taken }).status));
  assert.ok(!("instanceID" in plan({ sight: "gone", journal: taken }).status));
});

test("a host that is another's by now is given up, and a failure that is written down stays the reason", () => {
  const gone = plan({ sight: "gone", journal: taken });
  assert.equal(gone.step.do, "giveUp");
  assert.deepEqual(condition(gone).slice(0, 2), ["False", "MachineGone"]);
  const failed = plan({
    ...{ sight: host(), journal: taken },
    status: { failureReason: "Broken", failureMessage: "the disk is" },
  });
  assert.equal(failed.step.do, "wait");
  assert.deepEqual(condition(failed), ["False", "Broken", "the disk is"]);
});

test("N38 Joined follows the Machine's Node, and what runs since when is in the journal", () => {
  assert.deepEqual(condition(plan({ sight: host(), journal: taken }), "Joined").slice(0, 2), [
    ...["False", "WaitingForNode"],
  ]);
  const joined = plan({ sight: host(), journal: { ...taken, joined: true } });
  assert.deepEqual(condition(joined, "Joined"), ["True", "NodeJoined", ""]);
  assert.equal(joined.status.waitingFor, undefined);
  const remembered = journalOf(machineOf({}, joined.status), true);
  assert.deepEqual([remembered.machineId, remembered.runningSince, remembered.joined], ["rack/h-1/uid", NOW, true]);
  const off = plan({ sight: host({ phase: "stopped" }), journal: taken, status: joined.status });
  assert.equal(journalOf(machineOf({}, off.status), false).runningSince, undefined);
});

test("N41 a machine that the original installed is ready as it is, and nothing is done for it", () => {
  const mac = { providerID: "plunder://52:54:00:00:00:01" };
  assert.ok(isAdopted(machineOf(mac)));
  assert.ok(!isAdopted(machineOf({ providerID: "packet://1" })));
  assert.ok(!isAdopted(machineOf(mac, { instanceID: "rack/h-1/uid" })));
  assert.ok(!isAdopted(machineOf(mac, { purchase: PENDING })));
  const fresh = adopted(machineOf({ ...mac, ipAddress: "10.0.0.9" }), false, NOW);
  assert.deepEqual(
    [fresh.ready, fresh.initialization, fresh.macAddress, fresh.ipAddress, fresh.addresses],
    [true, { provisioned: true }, "52:54:00:00:00:01", "10.0.0.9", [{ type: "InternalIP", address: "10.0.0.9" }]],
  );
  const said = (status: typeof fresh) =>
    status.conditions?.map((one) => `${one.type} ${one.status} ${one.reason}`).toSorted();
  assert.deepEqual(said(fresh), ["Installed True Adopted", "Joined False WaitingForNode", "Ready True Adopted"]);
  const known = adopted(machineOf(mac, { macAddress: "52:54:00:00:00:09", ipAddress: "10.0.0.7" }), true, NOW);
  assert.deepEqual([known.macAddress, known.ipAddress], ["52:54:00:00:00:09", "10.0.0.7"]);
  assert.ok(said(known)!.includes("Joined True NodeJoined"));
  assert.ok(!("addresses" in adopted(machineOf(mac), true, NOW)));
});
