import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { noteMedia, startsFromMedia, takeOutMedia } from "./agent-media.ts";
import { endLive, isLive, startLive } from "./live-stage.ts";
import { at, bmcThat, factsOf, NOW } from "./testing.ts";

const image = { url: "http://images/live.iso", format: "live-iso" };
const done = { do: "write", fields: {} } as const;
const start = (more: Parameters<typeof factsOf>[1]) =>
  startLive(factsOf("provisioning", { spec: { image }, ...more }), done);
const message = (step: ReturnType<typeof start>): unknown => step.do === "write" && step.fields.errorMessage;

test("a live image is one that no installer is asked for beside", () => {
  const live = (spec: object): boolean => isLive({ spec } as never);
  assert.deepEqual(
    [
      live({ image }),
      live({ image: { ...image, format: "raw" } }),
      live({ image, customDeploy: { method: "ipxe" } }),
      live({}),
    ],
    [true, false, false, false],
  );
});

test("a machine is started from its drive, on or restarted, and what comes of it is written when it has", () => {
  for (const [power, action] of [
    ["off", "on"],
    ["on", "restart"],
  ] as const) {
    const step = start({ bmc: bmcThat(power) });
    assert.ok(step.do === "power");
    assert.deepEqual([step.action, step.from, step.done], [action, "media", done]);
    assert.equal(step.announce.operation?.restartedAt, at("12:00:00.000"));
  }
  const wait = start({ bmc: bmcThat("turning-on") });
  assert.equal(wait.do === "wait" && wait.forWhat, "the host's power, which is turning-on");
});

test("without a BMC, by another protocol, or with a BMC that fails it is an error that names why", () => {
  assert.match(`${message(start({ bmc: undefined }))}`, /live-iso is started by a BMC, and the host has none/);
  const ftp = { spec: { image: { ...image, url: "ftp://x/y.iso" } }, bmc: bmcThat("on") };
  assert.match(`${message(start(ftp))}`, /spec\.image\.url: a BMC fetches by http and https only/);
  const https = start({ spec: { image: { ...image, url: "https://x/y.iso" } }, bmc: bmcThat("on") });
  assert.equal(https.do, "power");
  const fails = { is: "fails", fault: new Fault("Unavailable", "bmc", "no answer") } as const;
  assert.equal(message(start({ bmc: fails })), "bmc: no answer");
});

test("what ran from the drive is taken out once, by a BMC, and of nothing else", () => {
  const operation = { attempt: 1, startedAt: at("11:00:00") };
  const end = (more: Parameters<typeof factsOf>[1], ejectedAt?: string) =>
    endLive(factsOf("deprovisioning", { bmc: bmcThat("on"), status: { lastAttemptedImage: image }, ...more }), {
      ...operation,
      ...(ejectedAt !== undefined && { ejectedAt }),
    });
  const step = end({});
  assert.ok(step?.do === "eject");
  assert.equal(step.done.fields.operation?.ejectedAt, at("12:00:00.000"));
  assert.equal(end({}, at("11:10:00")), undefined);
  assert.equal(end({ bmc: undefined }), undefined);
  assert.equal(end({ status: { lastAttemptedImage: { url: "http://images/a.raw" } } }), undefined);
  assert.equal(end({ status: {} }), undefined);
});

test("the agent's CD is for addresses of virtual media with UEFI, is noted when it may be in, and taken out by a BMC that answers", () => {
  const bmc = (address: string) => ({ bmc: { address, credentialsName: "s" } });
  const media = (spec: object): boolean => startsFromMedia({ spec } as never);
  assert.deepEqual(
    [
      media(bmc("redfish-virtualmedia://b")),
      media(bmc("idrac-virtualmedia://b")),
      media(bmc("redfish://b")),
      media({ ...bmc("redfish-virtualmedia://b"), bootMode: "legacy" }),
      media({}),
    ],
    [true, true, false, false, false],
  );
  assert.deepEqual(noteMedia(factsOf("inspecting", { spec: bmc("redfish-virtualmedia://b") })), {
    agentMediaAt: new Date(NOW).toISOString(),
  });
  assert.deepEqual(noteMedia(factsOf("inspecting", { spec: bmc("redfish://b") })), {});
  const out = (more: Parameters<typeof factsOf>[1]) =>
    takeOutMedia(factsOf("available", { bmc: bmcThat("on"), status: { agentMediaAt: at("11:00:00") }, ...more }));
  const step = out({});
  assert.ok(step?.do === "eject");
  assert.equal(step.done.fields.agentMediaAt, undefined);
  assert.equal(step.announce.agentMediaAt, at("11:00:00"));
  assert.equal(out({ status: {} }), undefined);
  assert.equal(out({ bmc: undefined }), undefined);
  assert.equal(out({ bmc: { is: "fails", fault: new Fault("Unavailable", "bmc", "x") } }), undefined);
});
