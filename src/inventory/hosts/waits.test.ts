/** How long the engine waits before it looks again, and until when: each wait of each stage. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isoTime } from "@slipway/base";
import { bringUpAgent } from "./agent-stage.ts";
import { install } from "./installer-stage.ts";
import { startLive } from "./live-stage.ts";
import { told } from "./moves.ts";
import { carryOut } from "./order-stage.ts";
import { HOST_FINALIZER, planHost } from "./plan.ts";
import { managePower } from "./power-stage.ts";
import type { HostStep } from "./step.ts";
import { bmcThat, factsOf, NOW } from "./testing.ts";
import { planDeprovisioning } from "./wipe-stage.ts";

type Of = Parameters<typeof factsOf>[1];
const [SECOND, MINUTE] = [1_000, 60_000];
const ago = (ms: number): string => isoTime(NOW - ms);

/** Until the next look, and from now until it is given up. */
function waits(step: HostStep | { result: unknown } | undefined): (number | undefined)[] | undefined {
  if (step === undefined || !("do" in step) || step.do !== "wait") return undefined;
  return [step.recheckMs, ...(step.deadline === undefined ? [] : [step.deadline - NOW])];
}
const untrusted = { trust: "discovered", because: "nobody approved it" } as never;
const inAgent = { boot: "agent", session: { spokeAt: NOW, registeredAt: NOW } };

test("an agent is looked for every 5 s for 20 minutes, and an approval every 5 minutes", () => {
  const started = { attempt: 1, startedAt: ago(MINUTE), poweredAt: ago(MINUTE) };
  const bring = (more: Of, operation = started) => waits(bringUpAgent(factsOf("inspecting", more), operation));
  assert.deepEqual(bring({ bmc: bmcThat("on") }), [5 * SECOND, 19 * MINUTE]);
  const silent = { is: "fails", fault: new Fault("Unavailable", "bmc", "no answer") } as const;
  assert.deepEqual(bring({ bmc: silent }), [5 * SECOND, 19 * MINUTE]);
  assert.deepEqual(bring({ machine: inAgent as never, standing: untrusted }), [5 * MINUTE]);
  const lacks = { trust: "discovered", lacks: "bmc", because: "demanded" } as never;
  assert.deepEqual(bring({ standing: lacks }), [5 * MINUTE]);
  assert.deepEqual(bring({}, { ...started, startedAt: ago(30 * MINUTE) }), [90 * SECOND, 30 * MINUTE]);
});

test("an agent's start is announced with its deadline", () => {
  const step = bringUpAgent(factsOf("inspecting", { bmc: bmcThat("off") }), { attempt: 1, startedAt: ago(0) });
  assert.ok(step?.do === "power");
  assert.deepEqual(
    [step.announce.deadline, step.announce.waitingFor],
    [isoTime(NOW + 20 * MINUTE), "the agent on the host to register"],
  );
});

const order = (id: string) => ({ order: { is: { id, order: "wipe" }, givenAt: NOW - MINUTE } });
const carry = (machine: object, more: Of = {}) =>
  carryOut(
    factsOf("preparing", { machine: { ...inAgent, ...machine } as never, ...more }),
    { attempt: 1, startedAt: ago(MINUTE), id: "o" },
    "wipe",
  );

test("an order that a user gave, and an approval, are looked for every 5 minutes", () => {
  assert.deepEqual(waits(carry(order("u"))), [5 * MINUTE]);
  assert.deepEqual(waits(carry({}, { standing: untrusted })), [5 * MINUTE]);
  const begun = { attempt: 1, startedAt: ago(MINUTE) };
  const begin = (machine: object, more: Of = {}) =>
    waits(install(factsOf("provisioning", { machine: machine as never, bmc: bmcThat("on"), ...more }), begun));
  assert.deepEqual(begin({ inventory: {} }, { standing: untrusted }), [5 * MINUTE]);
  assert.deepEqual(begin({ inventory: {}, ...order("u") }), [5 * MINUTE]);
});

test("an installer is waited for in its parts: its start, its first file, its end", () => {
  const announced = {
    attempt: 1,
    startedAt: ago(5 * MINUTE),
    orderedAt: ago(MINUTE),
    restartedAt: ago(MINUTE),
    install: "i",
  };
  const given = (more: object) => ({ install: { id: "i", reports: true, hasFiles: true, ...more } });
  const next = (more: object, of: Of = {}) =>
    install(factsOf("provisioning", { machine: given(more) as never, bmc: bmcThat("on"), ...of }), announced);
  assert.deepEqual(waits(next({})), [5 * SECOND, 19 * MINUTE]);
  const served = { servedAt: NOW - MINUTE, servedLastAt: NOW - MINUTE };
  assert.deepEqual(waits(next(served)), [90 * SECOND, 29 * MINUTE]);
  assert.deepEqual(waits(next({ ...served, fetched: { a: {} } })), [90 * SECOND, 119 * MINUTE]);
  const script = { hasFiles: false, reports: false };
  assert.deepEqual(waits(next({ ...script, servedAt: NOW - 59 * SECOND })), [SECOND]);
  assert.equal(next({ ...script, ...served })?.do, "endInstall");
  const loops = (servedLastAt: number) => {
    const step = next({ servedAt: NOW - 30 * MINUTE, servedLastAt });
    return step?.do === "write" && step.fields.errorMessage;
  };
  assert.match(`${loops(NOW - MINUTE)}`, /none of its files in 30 minutes: its loader tries again and again/);
  assert.match(`${loops(NOW - MINUTE - 1)}`, /none of its files in 30 minutes$/);
  const ended = next({ servedAt: NOW - 120 * MINUTE, fetched: { a: {} } });
  assert.match(`${ended?.do === "write" && ended.fields.errorMessage}`, /reported in 2 hours$/);
});

test("power that is being switched is looked at every 5 s, a system that ends too, and a host at rest every minute", () => {
  const power = (of: Of) => waits(managePower(factsOf("provisioned", of)));
  assert.deepEqual(power({ bmc: bmcThat("turning-on") }), [5 * SECOND]);
  const operation = { attempt: 1, startedAt: ago(MINUTE), poweredAt: ago(MINUTE) };
  const ending = { spec: { online: false }, status: { poweredOn: true, operation } };
  assert.deepEqual(power({ bmc: bmcThat("on"), ...ending }), [5 * SECOND, 2 * MINUTE]);
  const fails = { is: "fails", fault: new Fault("Unavailable", "bmc", "no answer") } as const;
  assert.deepEqual(power({ bmc: fails, status: { errorMessage: "bmc: no answer" } }), [60 * SECOND]);
  const image = { url: "http://images/a.iso", format: "live-iso" };
  const live = startLive(factsOf("provisioning", { spec: { image }, bmc: bmcThat("turning-off") }), {} as never);
  assert.deepEqual(waits(live), [5 * SECOND]);
});

test("a rival is looked for every 30 s, room every 5 s, and a restarted agent every 5 s", () => {
  const plan = (state: string, of: Of) => {
    const facts = factsOf(state, of);
    facts.host.metadata.finalizers = [HOST_FINALIZER];
    return waits(planHost(facts));
  };
  assert.deepEqual(plan("inspecting", { rival: "metal/node-2" }), [30 * SECOND]);
  const image = { url: "http://images/a.raw" };
  assert.deepEqual(plan("available", { spec: { image }, hasRoom: false, status: { operationalStatus: "delayed" } }), [
    5 * SECOND,
  ]);
  const held = { attempt: 1, startedAt: ago(5 * MINUTE), writtenAt: ago(MINUTE), id: "o" };
  const machine = { boot: "agent", session: { spokeAt: NOW, registeredAt: NOW - 2 * MINUTE } };
  const done = { order: { is: { id: "o", order: "reboot" }, result: { ok: true, message: "" } } };
  const step = planDeprovisioning(factsOf("deprovisioning", { machine: { ...machine, ...done } as never }), held);
  assert.deepEqual(waits(step), [5 * SECOND]);
});

test("a status that nobody has begun gets all its required fields with the first that is written", () => {
  const { host } = factsOf("");
  const { conditions: _, ...fields } = told({ host: { ...host, status: undefined as never }, now: NOW }, {});
  assert.deepEqual(fields, {
    ...{ operationalStatus: "", errorMessage: "", errorCount: 0, provisioningFailCount: 0, poweredOn: false },
    lastUpdated: isoTime(NOW),
  });
});
