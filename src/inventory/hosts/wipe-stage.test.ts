import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostStep } from "./step.ts";
import { at, bmcThat, factsOf, NOW } from "./testing.ts";
import { planDeprovisioning, planPreparing } from "./wipe-stage.ts";

const DISKS = [
  { name: "/dev/sda", byId: ["wwn-a"], serial: "A", readOnly: false },
  { name: "/dev/sdb", byId: [], byPath: "pci-b", readOnly: false },
  { name: "/dev/sr0", byId: [], readOnly: true },
];
const STARTED = { attempt: 1, startedAt: at("11:00:00"), id: "o-1" };
const session = { spokeAt: NOW, registeredAt: NOW - 60_000 };

/** A machine in the agent whose wipe has ended so. */
function wiped(result: object, more: object = {}) {
  return {
    ...{ name: "host-1", boot: "agent", session, inventory: { disks: DISKS } },
    order: { is: { id: "o-1", order: "wipe" }, givenAt: NOW, result },
    ...more,
  } as never;
}
const proof = (disk: string, proven = true) => ({ disk, how: "metadata", proven, detail: "read back" });
const GOOD = { ok: true, message: "done", disks: [proof("/dev/sda"), proof("/dev/sdb")] };

const message = (step: HostStep): unknown =>
  step.do === "write" ? step.fields.errorMessage || step.event?.message : step.do === "wait" ? step.forWhat : step.do;
const stateIn = (step: HostStep): unknown => step.do === "write" && step.fields.provisioning?.state;

function preparing(machine: never, more: Parameters<typeof factsOf>[1] = {}): HostStep {
  return planPreparing(factsOf("preparing", { machine, bmc: bmcThat("on"), ...more }), STARTED);
}

test("a host is available once every disk that can be written is proven to be wiped, and the event says how", () => {
  const step = preparing(wiped(GOOD));
  assert.equal(stateIn(step), "available");
  assert.equal(message(step), "wiped, and read back: /dev/sda (metadata), /dev/sdb (metadata)");
  const none = preparing(wiped({ ok: true, message: "done" }, { inventory: { disks: [] } }));
  assert.equal(message(none), "wiped, and read back: no disks");
});

test("a disk that was there at the inspection and is not at the wipe is named by a warning: nobody knows what is on it", () => {
  const kept = [
    { name: "/dev/disk/by-id/other-name", serialNumber: "A" },
    { name: "/dev/disk/by-path/pci-b", alternateNames: ["/dev/sdz"] },
    { name: "/dev/disk/by-id/virtual-cd", alternateNames: ["/dev/sr1"] },
  ];
  const of = (storage: object[]) => {
    const step = preparing(wiped(GOOD), { status: { hardware: { storage } } });
    return step.do === "write" ? [stateIn(step), step.event?.type, step.event?.message] : [step.do];
  };
  const good = "wiped, and read back: /dev/sda (metadata), /dev/sdb (metadata)";
  assert.deepEqual(of(kept), ["available", "Normal", good]);
  const gone = [
    { name: "/dev/disk/by-id/wwn-a", serialNumber: "C" },
    { name: "/dev/sdc", alternateNames: ["/dev/sda"] },
  ];
  assert.deepEqual(of([...kept, ...gone]), [
    "available",
    "Warning",
    `${good}; NOT wiped, since they are not there any more: /dev/disk/by-id/wwn-a (serial C), /dev/sdc`,
  ]);
});

test("nothing is proven of a machine whose disks nobody knows", () => {
  const step = preparing(wiped(GOOD, { inventory: undefined }));
  assert.equal(message(step), "the disks are not wiped: its agent has not reported which it has");
  assert.equal(stateIn(step), "preparing");
});

test("a wipe that failed, left a disk out or proved nothing of one is a failure that names it", () => {
  const cases: [object, string][] = [
    [{ ok: false, message: "busy" }, "the disks are not wiped: busy"],
    [{ ok: true, message: "", disks: [proof("/dev/sda")] }, "the disks are not wiped: nothing is proven of /dev/sdb"],
    [
      { ok: true, message: "", disks: [proof("/dev/sda"), proof("/dev/sdb", false)] },
      "the disks are not wiped: nothing is proven of /dev/sdb",
    ],
    [{ ok: true, message: "" }, "the disks are not wiped: nothing is proven of /dev/sda, /dev/sdb"],
    // A disk that nobody has reported, and that is not proven.
    [
      { ok: true, message: "", disks: [...GOOD.disks, proof("/dev/sdc", false)] },
      "the disks are not wiped: nothing is proven of /dev/sdc",
    ],
  ];
  for (const [result, said] of cases) {
    const step = preparing(wiped(result));
    assert.equal(message(step), said);
    assert.equal(step.do === "write" && step.fields.operationalStatus, "error");
  }
});

test("the annotation of a wipe that was asked for goes when the proof is there", () => {
  const facts = factsOf("preparing", { machine: wiped(GOOD), bmc: bmcThat("on") });
  facts.host.metadata.annotations = { "slipway.dev/wipe": "" };
  assert.deepEqual(planPreparing(facts, STARTED), { do: "unannotate", annotations: ["slipway.dev/wipe"] });
});

test("disks are left as they are where the host says so, and no agent is needed for that", () => {
  const step = preparing(undefined as never, { spec: { automatedCleaningMode: "disabled" } });
  assert.equal(stateIn(step), "available");
  assert.match(`${message(step)}`, /left as they are: spec\.automatedCleaningMode is disabled/);
});

test("what Slipway does not do to a host before it is available is refused by its field", () => {
  for (const [spec, field] of [
    [{ raid: { hardwareRAIDVolumes: [{ level: "1" }] } }, "spec.raid"],
    [{ raid: { softwareRAIDVolumes: [{ level: "1" }] } }, "spec.raid"],
    [{ firmware: { sriovEnabled: true } }, "spec.firmware"],
  ] as const)
    assert.ok(`${message(preparing(wiped(GOOD), { spec }))}`.startsWith(field), field);
  for (const spec of [{ raid: { softwareRAIDVolumes: [] } }, { raid: {} }, { firmware: {} }])
    assert.equal(stateIn(preparing(wiped(GOOD), { spec })), "available");
});

function deprovisioning(machine: never, more: Parameters<typeof factsOf>[1] = {}, operation: object = {}): HostStep {
  const facts = factsOf("deprovisioning", { machine, bmc: bmcThat("on"), ...more });
  return planDeprovisioning(facts, { ...STARTED, ...operation });
}

test("a host that is taken back does not start its last user's installer, is wiped, then off, and only then available", () => {
  const install = { id: "i-1" };
  assert.deepEqual(deprovisioning(wiped(GOOD, { install })), { do: "boot", from: "agent" });
  const ended = { id: "i-1", result: { ok: true, message: "" } };
  const proven = deprovisioning(wiped(GOOD, { install: ended }));
  assert.deepEqual(
    [stateIn(proven), proven.do === "write" && proven.event?.reason],
    ["deprovisioning", "DeprovisioningComplete"],
  );
  const written = { writtenAt: at("11:30:00") };
  const off = deprovisioning(wiped(GOOD), {}, written);
  assert.deepEqual([off.do, off.do === "power" && off.action], ["power", "off"]);
  const free = deprovisioning(wiped(GOOD), { bmc: bmcThat("off") }, written);
  assert.equal(stateIn(free), "available");
  const { image, customDeploy, rootDeviceHints, ID } =
    (free.do === "write" && free.fields.provisioning) || ({} as never);
  assert.deepEqual([image, customDeploy, rootDeviceHints, ID], [undefined, undefined, undefined, "id"]);
});

test("a host that is deleted is powered off after its wipe, and nothing of its installation is kept", () => {
  const facts = factsOf("deprovisioning", { machine: wiped(GOOD), bmc: bmcThat("on") });
  facts.host.metadata.deletionTimestamp = at("11:00:00");
  const step = planDeprovisioning(facts, { ...STARTED, writtenAt: at("11:30:00") });
  assert.equal(stateIn(step), "powering off before delete");
});

test("without a BMC the machine has to begin anew after its wipe: by itself, or told by its agent", () => {
  const written = { writtenAt: at("11:30:00"), id: undefined };
  const anew = wiped(GOOD, { session: { spokeAt: NOW, registeredAt: NOW - 1_000 } });
  assert.equal(stateIn(deprovisioning(anew, { bmc: undefined }, written)), "available");
  const old = { session: { spokeAt: NOW, registeredAt: Date.parse(at("11:00:00")) } };
  const told = deprovisioning(wiped(GOOD, old), { bmc: undefined }, written);
  assert.deepEqual([told.do, told.do === "order" && told.name], ["order", "reboot"]);
  const reboot = (result: object) =>
    deprovisioning(
      wiped(GOOD, { ...old, order: { is: { id: "o-2", order: "reboot" }, givenAt: NOW, result } }),
      { bmc: undefined },
      { ...written, id: "o-2" },
    );
  assert.equal(message(reboot({ ok: true, message: "" })), "the agent to register after its restart");
  assert.equal(message(reboot({ ok: false, message: "no" })), "no");
  const gone = { session: { spokeAt: NOW - 600_000, registeredAt: Date.parse(at("11:00:00")) } };
  const person = deprovisioning(wiped(GOOD, gone), { bmc: undefined }, { ...written, startedAt: at("11:40:00") });
  assert.match(`${message(person)}`, /somebody to start the machine/);
});

test("an image that ran from the drive is taken out before the disks are wiped", () => {
  const lastAttemptedImage = { url: "http://images/live.iso", format: "live-iso" };
  const step = deprovisioning(wiped(GOOD), { status: { lastAttemptedImage } });
  assert.equal(step.do, "eject");
  const out = deprovisioning(wiped(GOOD), { status: { lastAttemptedImage } }, { ejectedAt: at("11:20:00") });
  assert.equal(out.do, "write");
  assert.equal(deprovisioning(wiped(GOOD), { status: { lastAttemptedImage }, bmc: undefined }).do, "write");
});
