import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isoTime } from "@slipway/base";
import { bringUpAgent } from "./agent-stage.ts";
import type { BmcView } from "./facts.ts";
import { bmcThat, factsOf, NOW } from "./testing.ts";

const MINUTE = 60_000;
const ago = (ms: number): string => isoTime(NOW - ms);
const silent = (code: ConstructorParameters<typeof Fault>[0]): BmcView => ({
  is: "fails",
  fault: new Fault(code, "bmc", "no answer"),
});

/** What is done for a machine that was started so long ago, and whose agent has not come. */
function next(startedMs: number, more: Parameters<typeof factsOf>[1] = {}) {
  const operation = { attempt: 1, startedAt: ago(startedMs), poweredAt: ago(startedMs) };
  const facts = factsOf("inspecting", { bmc: bmcThat("on"), ...more, status: { operation } });
  return bringUpAgent(facts, operation);
}

test("a machine that was started is waited for, though its BMC does not answer meanwhile; a refusal is an error at once", () => {
  for (const code of ["Unavailable", "Timeout", "LostAnswer", "Throttled"] as const) {
    const step = next(2 * MINUTE, { bmc: silent(code) });
    assert.equal(step?.do, "wait", code);
    assert.match(step?.do === "wait" ? step.forWhat! : "", /agent .* to register; its BMC does not answer meanwhile/);
  }
  const refused = next(2 * MINUTE, { bmc: silent("BadCredentials") });
  assert.equal(refused?.do === "write" && refused.fields.errorMessage, "bmc: no answer");
  const late = next(20 * MINUTE, { bmc: silent("Unavailable") });
  assert.equal(late?.do === "write" && late.fields.operationalStatus, "error");
});

test("a start that a process has died over is made again after five minutes, one that was made is waited for", () => {
  const another = { isStarted: () => false };
  assert.equal(next(5 * MINUTE, another)?.do, "wait");
  const again = next(5 * MINUTE + 1, another);
  assert.deepEqual([again?.do, again?.do === "power" && again.action], ["power", "restart"]);
  assert.equal(next(19 * MINUTE)?.do, "wait");
});

const message = (step: ReturnType<typeof bringUpAgent>): unknown =>
  step?.do === "write" ? step.fields.errorMessage : step?.do === "wait" ? step.forWhat : step?.do;
const OPERATION = { attempt: 1, startedAt: ago(MINUTE) };
const bring = (more: Parameters<typeof factsOf>[1], operation: object = {}) =>
  bringUpAgent(factsOf("inspecting", more), { ...OPERATION, ...operation });
const inAgent = { boot: "agent", session: { spokeAt: NOW, registeredAt: NOW } } as never;

test("an agent that speaks is there; one on a machine that nobody approved waits for that, and says how it is given", () => {
  assert.equal(bring({ machine: inAgent, bmc: bmcThat("on") }), undefined);
  const standing = { trust: "discovered", because: "nobody approved it" } as never;
  assert.match(
    `${message(bring({ machine: inAgent, standing }))}`,
    /approved: nobody approved it; the annotation slipway\.dev\/approved/,
  );
});

test("a machine that would leave the agent at its next start is to boot it", () => {
  assert.deepEqual(bring({ machine: { boot: "disk" } as never, bmc: bmcThat("on") }), { do: "boot", from: "agent" });
});

test("a machine is started from the network: on where it is off, else restarted, and again where it is still off after a minute", () => {
  const first = bring({ bmc: bmcThat("off") });
  assert.deepEqual(first?.do === "power" && [first.action, first.from, first.announce.operation?.poweredAt], [
    "on",
    "network",
    isoTime(NOW),
  ]);
  const on = bring({ bmc: bmcThat("on") });
  assert.equal(on?.do === "power" && on.action, "restart");
  assert.equal(next(MINUTE, { bmc: bmcThat("off") })?.do, "wait");
  assert.equal(next(MINUTE + 1, { bmc: bmcThat("off") })?.do, "power");
});

test("an agent that came and has gone is started again; one that never came is given up after 20 minutes", () => {
  const gone = { boot: "agent", session: { registeredAt: NOW - 5 * MINUTE, spokeAt: NOW - 2 * MINUTE } } as never;
  assert.equal(next(6 * MINUTE, { machine: gone })?.do, "power");
  const before = { boot: "agent", session: { registeredAt: NOW - 7 * MINUTE, spokeAt: NOW - 2 * MINUTE } } as never;
  assert.equal(next(6 * MINUTE, { machine: before })?.do, "wait");
  assert.match(`${message(next(20 * MINUTE))}`, /no agent has registered 20 minutes after .*: its console shows/);
  assert.equal(message(next(20 * MINUTE - 1)), "the agent on the host to register");
});

test("without a BMC somebody has an hour to start the machine", () => {
  const wait = bring({}, { startedAt: ago(59 * MINUTE) });
  assert.match(`${message(wait)}`, /somebody to start the machine from the network: it has no BMC/);
  assert.equal(wait?.do === "wait" && wait.recheckMs, MINUTE);
  const early = bring({}, { startedAt: ago(MINUTE) });
  assert.equal(early?.do === "wait" && early.recheckMs, 90_000);
  assert.match(`${message(bring({}, { startedAt: ago(60 * MINUTE) }))}`, /nobody has started the machine/);
});

test("the agent's CD is taken out once its agent has come, and not before", () => {
  const status = { agentMediaAt: ago(MINUTE) };
  assert.equal(bring({ machine: inAgent, bmc: bmcThat("on"), status })?.do, "eject");
  const older = { boot: "agent", session: { spokeAt: NOW, registeredAt: NOW - 2 * MINUTE } } as never;
  assert.equal(bring({ machine: older, bmc: bmcThat("on"), status }), undefined);
});

const LACKS = { trust: "discovered", lacks: "bmc", because: "its namespace demands a start by its BMC" } as never;
const HTTP = { bmc: { address: "redfish-uefihttp://b", credentialsName: "s" } };

test("a host that has to be started by its BMC needs an address for that, and is started though an agent speaks", () => {
  for (const more of [{}, { spec: { bmc: { address: "redfish://b", credentialsName: "s" } }, bmc: bmcThat("on") }])
    assert.match(
      `${message(bring({ standing: LACKS, ...more }))}`,
      /spec\.bmc with an address of redfish-uefihttp or for virtual media/,
    );
  const start = (more: Parameters<typeof factsOf>[1], operation: object = {}) =>
    bring({ standing: LACKS, spec: HTTP, bmc: bmcThat("on"), machine: inAgent, ...more }, operation);
  assert.equal(start({})?.do, "power");
  assert.deepEqual(start({ machine: { boot: "disk" } as never }), { do: "boot", from: "agent" });
  assert.match(`${message(start({ bmc: silent("BadCredentials") }))}`, /no answer/);
  const poweredAt = ago(MINUTE);
  assert.match(`${message(start({}, { poweredAt }))}`, /its agent came otherwise: its namespace demands/);
  assert.equal(start({ isStarted: () => false }, { poweredAt })?.do, "power");
});

test("a machine that nobody approved waits for that; one that its agent alone can show is started into it first", () => {
  const standing = (more: object) => ({ trust: "discovered", because: "nobody approved it", ...more }) as never;
  const machine = { boot: "agent" } as never;
  const of = (more: object) => message(bring({ bmc: bmcThat("on"), machine, standing: standing(more) }));
  assert.match(`${of({})}`, /approved: nobody approved it/);
  assert.equal(of({ lacks: "tpm" }), "power");
});

test("a start by the BMC that a dead process may not have made is made again, from whatever the power is", () => {
  const again = (power: "on" | "off") => {
    const machine = { boot: "agent", session: { spokeAt: NOW, registeredAt: NOW } } as never;
    const more = { standing: LACKS, spec: HTTP, bmc: bmcThat(power), machine, isStarted: () => false };
    const step = bring(more, { poweredAt: ago(MINUTE) });
    return step?.do === "power" && step.action;
  };
  assert.deepEqual([again("off"), again("on")], ["on", "restart"]);
});
