import assert from "node:assert/strict";
import { test } from "node:test";
import type { Facts } from "./facts.ts";
import { install } from "./installer-stage.ts";
import type { HostStep } from "./step.ts";
import { at, bmcThat, factsOf } from "./testing.ts";

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
