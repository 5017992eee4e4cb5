import assert from "node:assert/strict";
import { test } from "node:test";
import type { Facts } from "./facts.ts";
import { install } from "./installer-stage.ts";
import type { HostStep } from "./step.ts";
import { at, bmcThat, factsOf, NOW } from "./testing.ts";

const ANNOUNCED = { attempt: 1, startedAt: at("11:50:00"), orderedAt: at("11:59:00"), install: "i-1" };

function next(machine: object, more: Partial<Facts> = {}): HostStep | undefined {
  return install(factsOf("provisioning", { machine: machine as never, bmc: bmcThat("on"), ...more }), ANNOUNCED);
}

test("an installation that was announced and not offered is offered, under the id it was announced with", () => {
  for (const step of [
    next({}),
    next({ install: { id: "i-0", result: { ok: true, message: "" } } }),
    next({ install: { id: "i-1" } }, { isOffered: () => false }),
  ])
    assert.equal(step?.do === "install" && step.id, "i-1");
});

test("a machine whose trust is not approved is offered nothing", () => {
  const standing = { trust: "discovered", because: "nobody approved it" } as never;
  const step = next({}, { standing });
  assert.match(step?.do === "wait" ? `${step.forWhat}` : "", /to be approved: nobody approved it/);
});

test("an installation that was reported ends as it was reported", () => {
  assert.equal(next({ install: { id: "i-1", result: { ok: true, message: "" } } }), undefined);
  const failed = next({ install: { id: "i-1", result: { ok: false, message: "no disk" } } });
  assert.equal(failed?.do === "write" && failed.event?.reason, "InstallationFailed");
});

const MINUTE = 60_000;
const message = (step: HostStep | undefined): unknown =>
  step?.do === "write" ? step.fields.errorMessage : step?.do === "wait" ? step.forWhat : step?.do;
const served = (more: object) => ({
  install: { id: "i-1", reports: true, hasFiles: true, servedAt: NOW - MINUTE, ...more },
});

test("an installation begins with an id of its own, once the disks are known and the machine is at rest", () => {
  const begin = (machine: object, more: Partial<Facts> = {}): HostStep | undefined =>
    install(factsOf("provisioning", { machine: machine as never, bmc: bmcThat("on"), ...more }), {
      attempt: 1,
      startedAt: at("11:50:00"),
    });
  const step = begin({ inventory: {} });
  assert.ok(step?.do === "install");
  assert.deepEqual(
    [step.id, step.announce.operation?.install, step.announce.operation?.orderedAt],
    ["new", "new", at("12:00:00.000")],
  );
  assert.match(`${step.announce.waitingFor}`, /the machine to start its installer/);
  const order = { is: { id: "u", order: "wipe" }, givenAt: NOW };
  assert.match(`${message(begin({ inventory: {}, order }))}`, /the order "wipe" to end, which a user gave/);
  assert.equal(begin({ boot: "agent" })?.do, "power", "nobody knows its disks");
  assert.match(`${message(begin({ boot: "agent", inventory: {} }, { bmc: undefined }))}`, /somebody to start/);
});

test("a machine is started by its BMC once, again where that was not seen, and given up after 20 minutes", () => {
  const start = (operation: object, power: "on" | "off" = "on", machine: object = {}): HostStep | undefined =>
    install(
      factsOf("provisioning", { machine: { install: { id: "i-1" }, ...machine } as never, bmc: bmcThat(power) }),
      { ...ANNOUNCED, ...operation },
    );
  const first = start({});
  assert.deepEqual(first?.do === "power" && [first.action, first.from], ["restart", "network"]);
  const off = start({}, "off");
  assert.equal(off?.do === "power" && off.action, "on");
  assert.match(`${message(start({ restartedAt: at("11:59:30") }))}`, /to start its installer/);
  assert.match(`${message(start({ restartedAt: at("11:59:00") }, "off"))}`, /to start its installer/);
  assert.equal(start({ restartedAt: at("11:58:59") }, "off")?.do, "power");
  const speaks = { session: { spokeAt: NOW } };
  assert.equal(start({ restartedAt: at("11:58:59") }, "on", speaks)?.do, "power");
  assert.match(
    `${message(start({ restartedAt: at("11:58:59") }, "on", { session: { spokeAt: Date.parse(at("11:59:00")) } }))}`,
    /to start/,
  );
  assert.equal(
    message(start({ orderedAt: at("11:40:00") })),
    "the machine has not asked for its installer in 20 minutes",
  );
  assert.match(`${message(start({ orderedAt: at("11:40:00"), restartedAt: at("11:59:30") }))}`, /to start/);
});

test("an installer has half an hour to fetch its files, and two hours from its start to report", () => {
  const fetching = next(served({}));
  assert.deepEqual(fetching?.do === "wait" && [fetching.forWhat, fetching.recheckMs, fetching.deadline], [
    "the installer to fetch its files",
    90_000,
    NOW + 29 * MINUTE,
  ]);
  const old = { servedAt: NOW - 30 * MINUTE, servedLastAt: NOW - 30 * MINUTE };
  assert.equal(message(next(served(old))), "the installer has fetched none of its files in 30 minutes");
  assert.match(`${message(next(served({ ...old, servedLastAt: NOW - MINUTE })))}`, /its loader tries again and again/);
  const fetched = { fetched: { a: { at: NOW, from: "x" } } };
  assert.equal(message(next(served({ ...old, ...fetched }))), "the installer to report its end");
  assert.equal(
    message(next(served({ servedAt: NOW - 120 * MINUTE, ...fetched }))),
    "no end of the installation was reported in 2 hours",
  );
  assert.equal(message(next(served({ hasFiles: false }))), "the installer to report its end");
});

test("a script that reports nothing is over a minute after it was last given", () => {
  const script = (servedLastAt: number) => next(served({ reports: false, hasFiles: false, servedLastAt }));
  const wait = script(NOW - 59_000);
  assert.deepEqual(wait?.do === "wait" && [wait.forWhat, wait.recheckMs], [
    "the machine to go on by its script",
    1_000,
  ]);
  const end = script(NOW - MINUTE);
  assert.deepEqual(end?.do === "endInstall" && [end.id, end.result.ok], ["i-1", true]);
});

test("without a BMC its agent restarts the machine, and a BMC that fails is an error", () => {
  const order = { is: { id: "o-1", order: "reboot" }, givenAt: NOW };
  const facts = (machine: object) => factsOf("provisioning", { machine: machine as never });
  const told = install(facts({ install: { id: "i-1" } }), ANNOUNCED);
  assert.deepEqual(told?.do === "order" && told.name, "reboot");
  const waits = (result: object) =>
    install(facts({ install: { id: "i-1" }, order: { ...order, result } }), { ...ANNOUNCED, id: "o-1" });
  assert.match(`${message(waits({ ok: true, message: "" }))}`, /to start its installer/);
  assert.equal(message(waits({ ok: false, message: "locked" })), "locked");
});
