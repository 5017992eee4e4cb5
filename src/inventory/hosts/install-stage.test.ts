import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { planProvisioning, wanted, wantsInstalling, wantsOther } from "./install-stage.ts";
import type { HostStep } from "./step.ts";
import { at, bmcThat, factsOf, NOW } from "./testing.ts";

const image = { url: "http://images/a.raw", checksum: "a".repeat(64), checksumType: "sha256" };
const WRITTEN = { attempt: 1, startedAt: at("11:00:00"), writtenAt: at("11:30:00") };

function step(restartedAt: string | undefined, power: "on" | "off" = "on", spokeAt?: string): HostStep {
  const operation = { ...WRITTEN, ...(restartedAt !== undefined && { restartedAt }) };
  const machine = {
    boot: "disk",
    ...(spokeAt !== undefined && { session: { spokeAt: Date.parse(spokeAt) } }),
  } as never;
  const facts = factsOf("provisioning", {
    spec: { image },
    status: { operation, lastAttemptedImage: image },
    bmc: bmcThat(power),
    machine,
  });
  return planProvisioning(facts, operation);
}

const stateIn = (step: HostStep): unknown => step.do === "write" && step.fields.provisioning?.state;

test("a written host is started from its disk, and provisioned once its agent was silent for 90 s", () => {
  const first = step(undefined);
  assert.deepEqual([first.do, first.do === "power" && first.action], ["power", "restart"]);
  const off = step(undefined, "off");
  assert.deepEqual([off.do, off.do === "power" && off.action], ["power", "on"]);
  const soon = step(at("11:58:30"));
  assert.deepEqual([soon.do, soon.do === "wait" && soon.forWhat], ["wait", "the agent on the host to be gone"]);
  assert.equal(stateIn(step(at("11:58:29"))), "provisioned");
});

test("a host whose agent goes on speaking, or that is off, was not restarted: it is again", () => {
  assert.equal(step(at("11:58:00"), "on", at("11:59:00")).do, "power");
  assert.equal(stateIn(step(at("11:58:00"), "on", at("11:58:00"))), "provisioned");
  assert.equal(step(at("11:58:00"), "off").do, "power");
});

test("another image than was begun with is installed from the beginning", () => {
  const operation = WRITTEN;
  const other = factsOf("provisioning", {
    spec: { image: { ...image, url: "http://images/b.raw" } },
    status: { operation, lastAttemptedImage: image },
  });
  assert.equal(stateIn(planProvisioning(other, operation)), "deprovisioning");
});

test("an image is asked for by its address, anything else by its method; an empty address asks for nothing", () => {
  const method = { customDeploy: { method: "ipxe" } };
  const wants = (spec: object) => [wantsInstalling({ spec } as never), wanted({ spec } as never)];
  assert.deepEqual(wants({}), [false, "nothing"]);
  assert.deepEqual(wants({ image: { url: "" } }), [false, ""]);
  assert.deepEqual(wants({ image }), [true, image.url]);
  assert.deepEqual(wants({ image, ...method }), [true, "ipxe"]);
  const other = (spec: object, used: object) => wantsOther({ spec } as never, used);
  assert.deepEqual([other({ image }, { image }), other({ image }, {}), other({}, { image })], [false, true, true]);
  assert.deepEqual(
    [other(method, method), other(method, {}), other({ image }, { image, ...method })],
    [false, true, true],
  );
});

/** The next step of an installation whose machine is in the agent. */
function next(operation: object, more: Parameters<typeof factsOf>[1] = {}): HostStep {
  const held = { attempt: 1, startedAt: at("11:00:00"), ...operation };
  const machine = { boot: "agent", session: { spokeAt: NOW, registeredAt: NOW }, ...more.machine } as never;
  const status = { operation: held, lastAttemptedImage: image, ...more.status };
  return planProvisioning(
    factsOf("provisioning", { spec: { image }, bmc: bmcThat("on"), ...more, status, machine }),
    held,
  );
}
const ended = (id: string, order: string, ok: boolean) => ({
  order: { is: { id, order }, result: { ok, message: "no space" } },
});

test("an image is written by the agent, and what came of that is written down", () => {
  const write = next({});
  assert.deepEqual([write.do, write.do === "order" && write.name], ["order", "write"]);
  assert.equal(next({}, { machine: { session: undefined } as never }).do, "power", "there is no agent yet");
  const failed = next({ id: "w" }, { machine: ended("w", "write", false) as never });
  assert.deepEqual(failed.do === "write" && [failed.fields.errorMessage, failed.event?.reason], [
    "no space",
    "OrderFailed",
  ]);
  const written = next({ id: "w" }, { machine: ended("w", "write", true) as never });
  assert.ok(written.do === "write");
  assert.deepEqual(written.fields.operation, {
    attempt: 1,
    startedAt: at("11:00:00"),
    writtenAt: at("12:00:00.000"),
    id: undefined,
  });
});

test("what is written starts from its disk: by the BMC, whose refusal is a failure", () => {
  const writtenAt = at("11:30:00");
  assert.deepEqual(next({ writtenAt }), { do: "boot", from: "disk" });
  const bmc = { is: "fails", fault: new Fault("Unavailable", "bmc", "no answer") } as const;
  const failed = next({ writtenAt }, { bmc, machine: { boot: "disk" } as never });
  assert.equal(failed.do === "write" && failed.fields.errorMessage, "bmc: no answer");
  const start = next({ writtenAt }, { machine: { boot: "disk" } as never });
  assert.ok(start.do === "power" && start.done !== undefined);
  assert.deepEqual(
    [start.from, start.announce.operation?.restartedAt, start.event.message],
    [...["disk", at("12:00:00.000"), "Host started from its disk"]],
  );
  assert.deepEqual([stateIn(start.done), start.done.event?.message], ["provisioned", `Installed: ${image.url}`]);
});

test("without a BMC the agent restarts the machine, and its leaving is enough", () => {
  const writtenAt = at("11:30:00");
  const leave = (operation: object, machine: object) =>
    next({ writtenAt, ...operation }, { bmc: undefined, machine: { boot: "disk", ...machine } as never });
  assert.deepEqual(leave({}, { boot: "agent" }), { do: "boot", from: "disk" });
  const order = leave({}, {});
  assert.deepEqual([order.do, order.do === "order" && order.name], ["order", "reboot"]);
  assert.equal(stateIn(leave({}, { session: undefined })), "provisioned");
  assert.equal(stateIn(leave({ id: "r" }, ended("r", "reboot", true))), "provisioned");
  const failed = leave({ id: "r" }, ended("r", "reboot", false));
  assert.equal(failed.do === "write" && failed.fields.errorMessage, "no space");
});

test("what was installed, and how, is kept with the host", () => {
  const spec = {
    image,
    rootDeviceHints: { deviceName: "/dev/sda" },
    bootMode: "UEFI",
    customDeploy: { method: "ipxe" },
  };
  const operation = { attempt: 1, startedAt: at("11:00:00"), method: "ipxe", install: "i" };
  const machine = { install: { id: "i", result: { ok: true, message: "" } } } as never;
  const done = planProvisioning(
    factsOf("provisioning", { spec, status: { operation, lastAttemptedImage: image }, bmc: bmcThat("on"), machine }),
    operation,
  );
  assert.ok(done.do === "write");
  assert.deepEqual(done.fields.provisioning, { ...spec, ID: "uid-1", state: "provisioned" });
  assert.deepEqual([done.fields.poweredOn, done.event?.message], [true, "Installed: ipxe"]);
});

test("an image that runs from the drive is started when the agent's CD is out", () => {
  const live = { url: "http://images/live.iso", format: "live-iso" };
  const operation = { attempt: 1, startedAt: at("11:00:00") };
  const start = (status: object) =>
    planProvisioning(
      factsOf("provisioning", {
        spec: { image: live },
        status: { operation, lastAttemptedImage: live, ...status },
        bmc: bmcThat("off"),
      }),
      operation,
    );
  assert.equal(start({ agentMediaAt: at("11:30:00") }).do, "eject");
  const step = start({});
  assert.deepEqual(
    [step.do, step.do === "power" && step.from, stateIn((step as { done: HostStep }).done)],
    ["power", "media", "provisioned"],
  );
});
