import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Purchase } from "./claimant.ts";
import { type Claim, type Journal, mayStillAppear, nextPurchase, nextStep, SETTLE_MS } from "./lifecycle.ts";
import type { Machine, Phase } from "./machine.ts";
import { aMachine } from "./testing.ts";

const MINUTE = 60_000;
const T0 = Date.UTC(2026, 0, 1);

const claim: Claim = {
  id: "uid-1",
  placements: [
    { plan: "c3.small.x86", metro: "sg" },
    { plan: "c3.small.x86", metro: "ny" },
  ],
  network: undefined,
  passes: 1,
  provisionTimeoutMs: 30 * MINUTE,
  joinTimeoutMs: 60 * MINUTE,
  pollMs: 15_000,
  lastStage: { awaited: "the installed machine to join as a Ready Node", missed: "no Ready Node" },
};

const journal: Journal = {
  machineId: "m-1",
  purchase: { attempt: 1, at: T0, state: "Done", placement: 0 },
  boot: { id: "b1", pass: 1, at: T0, sent: true },
  signals: {},
  runningSince: undefined,
  joined: false,
  networkSet: false,
};

const machine = aMachine({
  ...{
    hostname: "pool-abcdefgh",
    phase: "building",
    providerState: "provisioning",
    plan: "c3.small.x86",
    createdAt: T0,
  },
});

test("H1 an order without an answer is looked for, and repeated only when no list can hide a sale any more", () => {
  const lost: Journal = {
    ...journal,
    machineId: undefined,
    purchase: { attempt: 1, at: T0, state: "Pending", placement: 0 },
  };

  assert.equal(nextPurchase(claim, lost, T0 + 5_000).do, "look");
  assert.equal(nextPurchase(claim, lost, T0 + SETTLE_MS - 1).do, "look");
  assert.deepEqual(nextPurchase(claim, lost, T0 + SETTLE_MS), { do: "order", attempt: 2, placement: 0 });
});

test("H22 a full metro leads to the next place at once, and after the last place to a wait of minutes", () => {
  const refused = (attempt: number, placement: number): Journal => ({
    ...journal,
    machineId: undefined,
    purchase: { attempt, at: T0, state: "Refused", placement },
  });

  assert.deepEqual(nextPurchase(claim, refused(1, 0), T0), { do: "order", attempt: 2, placement: 1 });
  assert.deepEqual(nextPurchase(claim, refused(2, 1), T0), {
    do: "wait",
    for: "capacity at the provider",
    recheckMs: MINUTE,
  });
  assert.deepEqual(nextPurchase(claim, refused(2, 1), T0 + MINUTE), { do: "order", attempt: 3, placement: 0 });
  assert.deepEqual(nextPurchase(claim, refused(40, 1), T0), {
    do: "wait",
    for: "capacity at the provider",
    recheckMs: 10 * MINUTE,
  });
});

const PHASES: Phase[] = ["building", "running", "reinstalling", "stopped", "releasing", "failed", "unknown"];

test("H9 every state of a machine leads to a step, and none waits for ever", () => {
  for (const phase of PHASES) {
    const seen = { ...machine, phase, providerState: phase };
    const running = { ...journal, runningSince: T0 };
    const soon = nextStep({ claim, journal: running, machine: seen, settled: true, now: T0 + MINUTE });
    assert.ok(soon.do !== "wait" || soon.for !== "", phase);
    const late = nextStep({ claim, journal: running, machine: seen, settled: true, now: T0 + 24 * 60 * MINUTE });
    assert.equal(late.do, "giveUp", `${phase} after a day`);
    // Seen running for the first time, it has its whole time to join; the others never even got there.
    const unbooted = { ...journal, boot: undefined };
    const never = nextStep({ claim, journal: unbooted, machine: seen, settled: true, now: T0 + 24 * 60 * MINUTE });
    assert.equal(never.do, phase === "running" ? "wait" : "giveUp", `${phase} after a day without ever running`);
  }
});

test("H9 a machine that somebody switched off on its way is switched on again, one in service is not", () => {
  const off: Machine = { ...machine, phase: "stopped", providerState: "inactive" };
  const running = { ...journal, runningSince: T0 };

  assert.deepEqual(nextStep({ claim, journal: running, machine: off, settled: true, now: T0 + MINUTE }), {
    do: "powerOn",
  });
  assert.equal(
    nextStep({ claim, journal: { ...running, joined: true }, machine: off, settled: true, now: T0 + MINUTE }).do,
    "wait",
  );
});

test("H9 a machine that is not handed over in time, and one that the provider takes back, are given up, each with its reason", () => {
  const reason = (seen: Partial<Machine>, now: number): string | undefined => {
    const step = nextStep({ claim, journal, machine: { ...machine, ...seen }, settled: true, now });
    return step.do === "giveUp" ? step.reason : undefined;
  };
  assert.equal(reason({}, T0 + 30 * MINUTE - 1), undefined);
  assert.equal(reason({}, T0 + 30 * MINUTE), "ProvisionTimeout");
  assert.equal(reason({ phase: "unknown", providerState: "odd" }, T0 + 30 * MINUTE), "ProvisionTimeout");
  assert.equal(reason({ phase: "releasing", providerState: "deprovisioning" }, T0), "MachineTakenBack");
});

test("H9 a failed machine is given up with what the provider said", () => {
  const step = nextStep({
    claim,
    journal,
    machine: { ...machine, phase: "failed", providerState: "failed", lastEvent: "disk error" },
    settled: true,
    now: T0,
  });

  assert.deepEqual(step, {
    do: "giveUp",
    reason: "MachineFailed",
    message: "the provider reports the machine as failed: disk error",
  });
});

test("H10 a machine that does not join in time is given up, and the message names what it hung at", () => {
  const started = { ...journal, runningSince: T0, signals: { scriptFetched: T0, configFetched: T0, started: T0 } };
  const active = { ...machine, phase: "running" as const };

  assert.equal(nextStep({ claim, journal: started, machine: active, settled: true, now: T0 + 59 * MINUTE }).do, "wait");
  assert.deepEqual(nextStep({ claim, journal: started, machine: active, settled: true, now: T0 + 60 * MINUTE }), {
    do: "giveUp",
    reason: "JoinTimeout",
    message: "no Ready Node within 60m: it was waiting for the installer to finish",
  });
});

test("H11 the provider's active alone never counts as installed, after a reinstall neither", () => {
  const active = { ...machine, phase: "running" as const, providerState: "active" };
  const second: Journal = { ...journal, boot: { id: "b2", pass: 2, at: T0, sent: true }, runningSince: T0 };

  assert.deepEqual(
    nextStep({ claim: { ...claim, passes: 2 }, journal: second, machine: active, settled: true, now: T0 + MINUTE }),
    {
      do: "wait",
      for: "the machine to fetch its boot script",
      recheckMs: 15_000,
      deadline: T0 + 60 * MINUTE,
    },
  );
});

test("H23 a spot machine that the provider takes back is given up at once, also when it serves", () => {
  const revoked = { ...machine, phase: "running" as const, terminatesAt: T0 + 2 * MINUTE };

  const step = nextStep({ claim, journal: { ...journal, joined: true }, machine: revoked, settled: true, now: T0 });
  assert.equal(step.do === "giveUp" && step.reason, "SpotRevoked");
});

test("H30 one pass never reinstalls; two passes set the network, reinstall once, and repeat only what was not sent", () => {
  const active = { ...machine, phase: "running" as const };
  const twice: Claim = { ...claim, passes: 2 };
  const running = { ...journal, runningSince: T0 };

  assert.equal(nextStep({ claim, journal: running, machine: active, settled: true, now: T0 }).do, "wait");
  assert.equal(nextStep({ claim: twice, journal: running, machine: active, settled: false, now: T0 }).do, "setNetwork");
  assert.equal(nextStep({ claim: twice, journal: running, machine: active, settled: true, now: T0 }).do, "reinstall");
  const prepared: Journal = { ...running, boot: { id: "b2", pass: 2, at: T0, sent: false } };
  assert.equal(
    nextStep({ claim: twice, journal: prepared, machine: active, settled: true, now: T0 }).do,
    "wait",
    "the answer may still come",
  );
  assert.equal(
    nextStep({ claim: twice, journal: prepared, machine: active, settled: true, now: T0 + SETTLE_MS }).do,
    "reinstall",
  );
  const asked = { ...prepared, signals: { scriptFetched: T0 } };
  assert.equal(
    nextStep({ claim: twice, journal: asked, machine: active, settled: true, now: T0 + SETTLE_MS }).do,
    "wait",
    "the machine asked for it: it was sent",
  );
  assert.equal(
    nextStep({
      claim: twice,
      journal: { ...prepared, boot: { ...prepared.boot!, sent: true } },
      machine: active,
      settled: true,
      now: T0,
    }).do,
    "wait",
  );
});

test("a machine that never asked for its boot script is booted again every ten minutes, until its time is over", () => {
  const active = { ...machine, phase: "running" as const };
  const silent = { ...journal, runningSince: T0 };

  assert.equal(nextStep({ claim, journal: silent, machine: active, settled: true, now: T0 + 9 * MINUTE }).do, "wait");
  assert.deepEqual(nextStep({ claim, journal: silent, machine: active, settled: true, now: T0 + 10 * MINUTE }), {
    do: "reinstall",
    pass: 1,
  });
  const again: Journal = { ...silent, boot: { id: "b1", pass: 1, at: T0 + 10 * MINUTE, sent: true } };
  assert.equal(nextStep({ claim, journal: again, machine: active, settled: true, now: T0 + 15 * MINUTE }).do, "wait");
  for (const word of ["scriptFetched", "configFetched", "started", "succeeded"] as const) {
    const said = { ...silent, signals: { [word]: T0 + MINUTE } };
    assert.equal(nextStep({ claim, journal: said, machine: active, settled: true, now: T0 + 10 * MINUTE }).do, "wait");
  }
});

test("asking twice about the same world gives the same step", () => {
  const world = fc.record({
    phase: fc.constantFrom(...PHASES),
    joined: fc.boolean(),
    settled: fc.boolean(),
    passes: fc.constantFrom<1 | 2>(1, 2),
    now: fc.integer({ min: T0, max: T0 + 48 * 60 * MINUTE }),
    started: fc.option(fc.integer({ min: T0, max: T0 + MINUTE }), { nil: undefined }),
  });
  fc.assert(
    fc.property(world, ({ phase, joined, settled, passes, now, started }) => {
      const seen = { ...machine, phase };
      const book = { ...journal, joined, signals: started === undefined ? {} : { started } };
      const ask = () => nextStep({ claim: { ...claim, passes }, journal: book, machine: seen, settled, now });
      assert.deepEqual(ask(), ask());
    }),
  );
});

test("H16 a failure counts for the installation that reported it: not after a newer one has started", () => {
  const active = { ...machine, phase: "running" as const };
  const stepAfter = (signals: Journal["signals"]) => {
    const step = nextStep({
      claim,
      journal: { ...journal, runningSince: T0, signals },
      machine: active,
      settled: true,
      now: T0 + MINUTE,
    });
    return step.do === "giveUp" ? step.reason : step.do;
  };
  const asked = { scriptFetched: T0, configFetched: T0 };
  assert.equal(stepAfter({ ...asked, failed: T0 + 1_000, started: T0 + 2_000 }), "wait");
  assert.equal(stepAfter({ ...asked, failed: T0 + 2_000, started: T0 + 1_000 }), "InstallFailed");
  assert.equal(stepAfter({ ...asked, failed: T0 + 1_000, started: T0 + 1_000 }), "InstallFailed");
  assert.equal(stepAfter({ ...asked, failed: T0 + 1_000 }), "InstallFailed");
});

test("H10 what a machine on its way is waited for names the next thing that it has to do", () => {
  const active = { ...machine, phase: "running" as const };
  const signals: Journal["signals"] = {};
  const waitsFor = () => {
    const step = nextStep({
      claim,
      journal: { ...journal, runningSince: T0, signals: { ...signals } },
      machine: active,
      settled: true,
      now: T0 + 1_000,
    });
    return step.do === "wait" && step.for;
  };
  const seen = [waitsFor()];
  for (const name of ["scriptFetched", "configFetched", "started", "succeeded"] as const) {
    signals[name] = T0;
    seen.push(waitsFor());
  }
  assert.deepEqual(seen, [
    "the machine to fetch its boot script",
    "the machine to fetch its configuration",
    "the installer to start",
    "the installer to finish",
    "the installed machine to join as a Ready Node",
  ]);
});

test("H1 a machine may still turn up for a minute after its order, while nothing else is known of the order", () => {
  const pending: Purchase = { attempt: 1, at: T0, state: "Pending", placement: 0 };
  const may = (of: Partial<Journal>, now = T0) =>
    mayStillAppear({ ...journal, machineId: undefined, purchase: pending, ...of }, now);
  assert.equal(may({}), true);
  assert.equal(may({}, T0 + 59_999), true);
  assert.equal(may({}, T0 + 60_000), false);
  assert.equal(may({ machineId: "m-1" }), false);
  assert.equal(may({ purchase: { ...pending, state: "Refused" } }), false);
  assert.equal(may({ purchase: undefined }), false);
});
