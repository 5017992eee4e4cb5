import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { begin, planInspecting, planRegistering, planUnmanaged } from "./registration.ts";
import type { HostStep } from "./step.ts";
import { at, bmcThat, factsOf, NOW } from "./testing.ts";

type Of = Parameters<typeof factsOf>[1] & { annotations?: Record<string, string> };
const BMC = { bmc: { address: "redfish://bmc", credentialsName: "s" }, bootMACAddress: "52:54:00:00:00:01" };
const TRUSTED = { trust: "declared", because: "" } as never;
const UNTRUSTED = { trust: "discovered", because: "nobody approved it" } as never;
const inAgent = {
  boot: "agent",
  inventory: { disks: [] },
  inventoryAt: NOW,
  session: { spokeAt: NOW, registeredAt: NOW },
} as never;

function factsFor(state: string, { annotations = {}, ...of }: Of = {}) {
  const facts = factsOf(state, of);
  facts.host.metadata.annotations = annotations;
  return facts;
}
const where = (step: HostStep): string =>
  step.do === "write" ? `${step.fields.provisioning?.state}` : step.do === "wait" ? `${step.forWhat}` : step.do;

test("a new host is registered by its BMC, or by an agent that may be given orders; else nobody manages it", () => {
  const of = (more: Of): string => where(begin(factsFor("", more)));
  assert.equal(of({ spec: BMC }), "registering");
  assert.equal(of({}), "unmanaged");
  assert.equal(of({ machine: inAgent, standing: TRUSTED }), "registering");
  assert.equal(of({ machine: inAgent, standing: UNTRUSTED }), "unmanaged");
  assert.equal(of({ machine: inAgent }), "unmanaged");
  assert.equal(of({ machine: {} as never, standing: TRUSTED }), "unmanaged");
  assert.equal(of({ machine: inAgent, standing: TRUSTED, rival: "metal/node-2" }), "unmanaged");
});

test("an unmanaged host says what it waits for: a start from the network, or an approval and how it is given", () => {
  const of = (more: Of): string => where(planUnmanaged(factsFor("unmanaged", more)));
  assert.match(of({}), /spec\.bmc, or the machine to start from the network/);
  assert.match(of({ machine: inAgent }), /to be approved: it is neither declared nor approved; the annotation/);
  assert.match(of({ machine: inAgent, standing: UNTRUSTED }), /to be approved: nobody approved it; the annotation/);
  assert.equal(of({ machine: inAgent, standing: TRUSTED }), "registering");
  assert.equal(of({ spec: BMC }), "registering");
  const external = { spec: { externallyProvisioned: true } };
  assert.equal(of({ ...external, machine: { boot: "agent" } as never }), "boot");
  assert.match(of({ ...external, machine: { boot: "disk" } as never }), /spec\.bmc, or/);
  assert.match(of({ ...external, machine: inAgent, standing: UNTRUSTED }), /approved/);
  assert.match(of({ machine: { boot: "agent" } as never }), /spec\.bmc, or/);
});

test("a registered host is inspected, or prepared at once where nobody is to look, and what was found is kept", () => {
  const bmc = bmcThat("on");
  const step = planRegistering(factsFor("registering", { spec: BMC, bmc }));
  assert.ok(step.do === "write");
  assert.deepEqual(
    [where(step), step.event?.message, step.fields.poweredOn],
    ["inspecting", "Registered by its BMC", true],
  );
  assert.deepEqual(step.fields.goodCredentials, {
    credentials: { name: "s", namespace: "metal" },
    credentialsVersion: "1",
  });
  assert.equal(step.fields.provisioning?.ID, "uid-1");
  const off = planRegistering(factsFor("registering", { spec: BMC, bmc: bmcThat("off") }));
  assert.equal(off.do === "write" && off.fields.poweredOn, false);
  const without = planRegistering(factsFor("registering", { machine: inAgent, standing: TRUSTED }));
  assert.deepEqual(
    without.do === "write" && [without.event?.message, without.fields.poweredOn, without.fields.goodCredentials],
    ["Registered by its agent", true, undefined],
  );
  for (const of of [
    { spec: { ...BMC, inspectionMode: "disabled" }, bmc },
    { spec: BMC, bmc, annotations: { "inspect.metal3.io": "disabled" } },
  ])
    assert.equal(where(planRegistering(factsFor("registering", of))), "preparing");
  assert.equal(
    where(planRegistering(factsFor("registering", { spec: BMC, bmc, annotations: { "inspect.metal3.io": "" } }))),
    "inspecting",
  );
});

test("hardware that was brought along is written down where nobody is to look, once", () => {
  const annotations = { "inspect.metal3.io/hardwaredetails": '{"ramMebibytes":1}', "inspect.metal3.io": "disabled" };
  const of = { spec: BMC, bmc: bmcThat("on"), annotations };
  const step = planRegistering(factsFor("registering", of));
  assert.deepEqual(step, { do: "describe", hardware: { ramMebibytes: 1 } });
  assert.equal(where(planRegistering(factsFor("registering", { ...of, status: { hardware: {} } }))), "preparing");
  const looked = { ...of, annotations: { "inspect.metal3.io/hardwaredetails": "{}" } };
  assert.equal(where(planRegistering(factsFor("registering", looked))), "inspecting");
  const broken = planRegistering(
    factsFor("registering", { ...of, annotations: { ...annotations, "inspect.metal3.io/hardwaredetails": "{" } }),
  );
  assert.match(`${broken.do === "write" && broken.fields.errorMessage}`, /hardwaredetails: it is no JSON object/);
});

test("a host without a card that it is known by is an error that names those its BMC knows; one of others needs none", () => {
  const { bootMACAddress: _, ...without } = BMC;
  const of = (more: Of): HostStep =>
    planRegistering(factsFor("registering", { spec: without, bmc: bmcThat("on"), ...more }));
  const message = (step: HostStep): string => `${step.do === "write" && step.fields.errorMessage}`;
  assert.match(message(of({})), /and is not set$/);
  const macs = ["52:54:00:00:00:01", "52:54:00:00:00:02"];
  assert.match(
    message(of({ bmc: { ...bmcThat("on"), macs } as never })),
    /not set: the BMC names 52:54:00:00:00:01, 52:/,
  );
  assert.equal(where(of({ machine: inAgent })), "inspecting");
  assert.equal(where(of({ spec: { ...without, externallyProvisioned: true } })), "externally provisioned");
  const said = message(of({}));
  const operation = { attempt: 2, startedAt: at("11:00:00"), againAt: at("12:00:10") };
  assert.match(where(of({ status: { errorMessage: said, operation } })), /another try after/);
  assert.equal(of({ status: { errorMessage: "another", operation } }).do, "write");
});

test("a BMC that refuses is an error with what was tried; the same again waits, another is said at once", () => {
  const bmc = { is: "fails", fault: new Fault("BadCredentials", "bmc", "it refuses"), credentials: "7" } as const;
  const step = planRegistering(factsFor("registering", { spec: BMC, bmc }));
  assert.ok(step.do === "write");
  assert.deepEqual([step.fields.errorType, step.event?.reason], ["registration error", "RegistrationError"]);
  assert.equal(step.fields.triedCredentials?.credentialsVersion, "7");
  const operation = { attempt: 2, startedAt: at("11:00:00"), againAt: at("12:00:10") };
  const status = { errorMessage: "bmc: it refuses", operation };
  assert.match(where(planRegistering(factsFor("registering", { spec: BMC, bmc, status }))), /another try/);
  const other = { ...status, errorMessage: "no answer" };
  assert.equal(planRegistering(factsFor("registering", { spec: BMC, bmc, status: other })).do, "write");
  const secretless = { is: "fails", fault: new Fault("MissingInput", "Secret", "not there") } as const;
  const none = planRegistering(factsFor("registering", { spec: BMC, bmc: secretless }));
  assert.equal(none.do === "write" && none.fields.triedCredentials, undefined);
});

test("a host that others have installed is taken as it is, and goes on to its disk", () => {
  const spec = { ...BMC, externallyProvisioned: true };
  const of = (machine: object | undefined): string =>
    where(planRegistering(factsFor("registering", { spec, bmc: bmcThat("on"), machine: machine as never })));
  assert.equal(of(undefined), "externally provisioned");
  assert.equal(of({ boot: "agent" }), "boot");
  assert.equal(of({ boot: "disk" }), "externally provisioned");
});

const INSPECTING = { attempt: 1, startedAt: at("11:00:00") };

test("an inspection looks anew at what is known, writes it down, reads the firmware's settings, and takes its annotation off", () => {
  const annotations = { "inspect.metal3.io": "" };
  const of = (more: Of): HostStep =>
    planInspecting(
      factsFor("inspecting", {
        spec: BMC,
        bmc: bmcThat("on"),
        machine: inAgent,
        standing: TRUSTED,
        annotations,
        ...more,
      }),
      INSPECTING,
    );
  const old = { ...(inAgent as object), inventoryAt: Date.parse(at("10:00:00")) } as never;
  const look = of({ machine: old, status: { hardware: {} } });
  assert.deepEqual([look.do, look.do === "order" && look.name], ["order", "inspect"]);
  assert.equal(of({ machine: old }).do, "unannotate", "what its agent has just said for the first time is new");
  assert.equal(of({ isDescribed: false }).do, "describe");
  assert.equal(of({ isFirmwareRead: false }).do, "firmware");
  assert.equal(of({ isFirmwareRead: false, bmc: undefined }).do, "unannotate");
  assert.deepEqual(of({}), { do: "unannotate", annotations: ["inspect.metal3.io"] });
  assert.equal(where(of({ annotations: {} })), "preparing");
  const failed = {
    ...(old as object),
    order: { is: { id: "o", order: "inspect" }, result: { ok: false, message: "no lspci" } },
  } as never;
  const step = planInspecting(
    factsFor("inspecting", {
      spec: BMC,
      bmc: bmcThat("on"),
      machine: failed,
      standing: TRUSTED,
      status: { hardware: {} },
    }),
    { ...INSPECTING, id: "o" },
  );
  assert.equal(step.do === "write" && step.fields.errorMessage, "no lspci");
});
