/** What each step does to BMC, netboot and API, in its order; the parts are played by the test. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type Tallied } from "@slipway/base";
import { DONE } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Bmc, FirmwareSetting } from "../bmc/bmc.ts";
import { INVENTORY } from "../discovery/testing.ts";
import { carryOut, type StepPorts } from "./carry-out.ts";
import type { Facts } from "./facts.ts";
import { HostMemory } from "./host-memory.ts";
import type { HostStep } from "./step.ts";
import { at, bmcThat, factsOf, NOW } from "./testing.ts";

const MAC = "52:54:00:00:00:01";
const event = { type: "Normal", reason: "PowerOn", message: "on" } as const;
const announce = { operation: { attempt: 1, startedAt: at("11:00:00"), poweredAt: at("12:00:00.000") } };

type Call = readonly unknown[];

interface Stage {
  state?: string;
  more?: Parameters<typeof factsOf>[1];
  /** What the BMC answers with a fault. */
  refuses?: Partial<Record<keyof Bmc, Fault>>;
  /** Addresses that netboot gives. */
  urls?: { boot?: string; media?: string };
  /** What the machine's order is answered with. */
  orderFails?: Fault;
  signal?: AbortSignal;
  /** What the BMC shows of the firmware's settings. */
  settings?: FirmwareSetting[];
  /** What the API has, whatever is asked for. */
  found?: object;
}

async function done(step: HostStep, { state = "provisioning", more = {}, refuses = {}, ...of }: Stage = {}) {
  const calls: Call[] = [];
  const tallied: Tallied[] = [];
  const machine = { name: "host-1", mac: MAC, session: undefined } as never;
  const spec = { bootMACAddress: MAC.toUpperCase(), bmc: { address: "redfish://bmc", credentialsName: "s" } };
  const facts: Facts = factsOf(state, { machine, bmc: bmcThat("on"), ...more, spec: { ...spec, ...more.spec } });
  const note =
    (name: keyof Bmc) =>
    async (...args: unknown[]): Promise<void> => {
      calls.push([name, ...args.slice(0, -1)]);
      if (refuses[name] !== undefined) throw refuses[name];
    };
  const bmc = Object.fromEntries(
    (["setPower", "bootFrom", "insertMedia", "ejectMedia"] as const).map((name) => [name, note(name)]),
  ) as unknown as Bmc;
  bmc.firmwareSettings = async () => {
    if (of.settings !== undefined) return of.settings;
    throw refuses.firmwareSettings ?? new Fault("Unavailable", "bmc", "busy");
  };
  const record = {
    object: facts.host,
    async write(fields: object) {
      calls.push(["write", fields]);
      record.object = { ...record.object, status: { ...record.object.status, ...fields } } as BareMetalHost;
    },
  };
  const memory = new HostMemory();
  const ports = {
    record,
    memory,
    tallies: { add: (each: Tallied) => void tallied.push(each) },
    http: async () => assert.fail("nothing is fetched"),
    views: {
      toChange: async () => bmc,
      read: async (_: unknown, __: unknown, ask: (bmc: Bmc) => Promise<unknown>) => ask(bmc),
    },
    machines: {
      setBoot: (...args: unknown[]) => void calls.push(["setBoot", ...args]),
      endInstall: (...args: unknown[]) => void calls.push(["endInstall", ...args]),
      endAskedBoot: (mac: string) => void calls.push(["endAskedBoot", mac]),
      forget: (name: string) => void calls.push(["forget", name]),
      install: (name: string, id: string) => void calls.push(["install", name, id]),
      askBoot: (...args: unknown[]) => {
        calls.push(["askBoot", ...args]);
        return of.urls?.boot;
      },
      askMedia: (...args: unknown[]) => {
        calls.push(["askMedia", ...args]);
        return of.urls?.media;
      },
      order: async (...args: unknown[]) => {
        calls.push(["order", ...args]);
        if (of.orderFails !== undefined) throw of.orderFails;
      },
    },
    context: {
      signal: of.signal ?? new AbortController().signal,
      cache: { get: () => undefined },
      client: {
        patch: async (_: unknown, __: unknown, { body }: { body: object }) => {
          calls.push(["patch", body]);
          return facts.host;
        },
        find: async () => of.found,
        create: async ({ kind }: { kind: string }, object: object) => {
          calls.push(["create", kind]);
          return object;
        },
        updateStatus: async ({ kind }: { kind: string }, object: object) => {
          calls.push(["updateStatus", kind]);
          return object;
        },
      },
      clock: { now: () => NOW },
      clean: <T>(value: T): T => (typeof value === "string" ? (value.replaceAll("\n", " ") as T) : value),
      events: {
        normal: (_: unknown, reason: string, message: string) => void calls.push(["Normal", reason, message]),
        warning: (_: unknown, reason: string, message: string) => void calls.push(["Warning", reason, message]),
      },
    },
  } as unknown as StepPorts;
  const outcome = await carryOut(step, facts, ports);
  /** The calls without what was written, but for its names. */
  const told = calls.map((call) => (call[0] === "write" ? "write" : call));
  const written = calls.flatMap(([name, fields]) => (name === "write" ? [fields as BareMetalHost["status"]] : []));
  return { outcome, told, written, tallied, memory, facts };
}

const powered = (more: Partial<Extract<HostStep, { do: "power" }>> = {}) =>
  ({ do: "power", action: "on", announce, event, ...more }) as const;

test("power is announced first, and what netboot gave for another start counts no more", async () => {
  const { outcome, told, tallied, memory } = await done(powered());
  assert.equal(outcome, "again");
  assert.deepEqual(told, ["write", ["endAskedBoot", MAC], ["setPower", "on"], ["Normal", "PowerOn", "on"]]);
  assert.ok(memory.hasStarted("metal/node-1", at("12:00:00.000")));
  assert.deepEqual(
    tallied.map(({ name, labels }) => [name, labels?.on_off]),
    [["metal3_operation_power_change_total", "on"]],
  );
});

test("switching is counted as on or off", async () => {
  for (const [action, counted] of [
    ["off", "off"],
    ["soft-off", "off"],
    ["restart", "on"],
  ] as const) {
    const { tallied } = await done(powered({ action }));
    assert.equal(tallied[0]?.labels?.on_off, counted, action);
  }
});

test("what is written down when it has happened is written after it, with its event", async () => {
  const after = { do: "write", fields: { poweredOn: true }, event: { ...event, reason: "Done" } } as const;
  const { told, written } = await done(powered({ done: after as never }));
  assert.deepEqual(told.slice(2), [["setPower", "on"], ["Normal", "PowerOn", "on"], "write", ["Normal", "Done", "on"]]);
  assert.deepEqual(written[1], { poweredOn: true });
});

test("each start says from which device, once or always, and in which mode", async () => {
  const cases: [object, Partial<Extract<HostStep, { do: "power" }>>, Call][] = [
    [{}, { from: "network" }, ["bootFrom", "pxe", { once: true }]],
    [{ bootMode: "legacy" }, { from: "network" }, ["bootFrom", "pxe", { once: true, mode: "legacy" }]],
    [{ bootMode: "UEFI" }, { from: "disk" }, ["bootFrom", "disk", { once: false, mode: "UEFI" }]],
    [{ bootMode: "UEFISecureBoot" }, { from: "disk" }, ["bootFrom", "disk", { once: false, mode: "UEFI" }]],
  ];
  for (const [spec, step, call] of cases) {
    const { told } = await done(powered(step), { more: { spec } });
    assert.deepEqual(told, ["write", ["endAskedBoot", MAC], call, ["setPower", "on"], ["Normal", "PowerOn", "on"]]);
  }
});

test("an image that runs from the drive is put in before the machine is to start from there", async () => {
  const image = { url: "http://images/live.iso", format: "live-iso" };
  const { told } = await done(powered({ from: "media" }), { more: { spec: { image } } });
  assert.deepEqual(told.slice(1, 5), [
    ["insertMedia", image.url],
    ["endAskedBoot", MAC],
    ["bootFrom", "virtual-media", { once: false }],
    ["setPower", "on"],
  ]);
});

const HTTP = { bmc: { address: "redfish-uefihttp://bmc", credentialsName: "s" } };
const MEDIA = { bmc: { address: "redfish-virtualmedia://bmc", credentialsName: "s" } };

test("a start by HTTP has an address of its own, for the machine's architecture; without one it is the firmware's", async () => {
  const boot = "http://netboot/once/1";
  const given = await done(powered({ from: "network" }), { more: { spec: HTTP }, urls: { boot } });
  assert.deepEqual(given.told.slice(2, 4), [
    ["askBoot", MAC, "x86_64"],
    ["bootFrom", "uefi-http", { once: true, httpBootUri: boot }],
  ]);
  const arm = { spec: { ...HTTP, architecture: "aarch64" } };
  const none = await done(powered({ from: "network" }), { more: arm });
  assert.deepEqual(none.told.slice(2, 4), [
    ["askBoot", MAC, "aarch64"],
    ["bootFrom", "uefi-http", { once: true }],
  ]);
});

test("a start from a CD puts it in, and goes by PXE where netboot has none, or the BMC takes none", async () => {
  const media = "http://netboot/once/1/agent.iso";
  const more = { spec: MEDIA };
  const given = await done(powered({ from: "network" }), { more, urls: { media } });
  assert.deepEqual(given.told.slice(1, 6), [
    ["endAskedBoot", MAC],
    ["askMedia", MAC, "x86_64"],
    ["insertMedia", media],
    ["bootFrom", "virtual-media", { once: true }],
    ["setPower", "on"],
  ]);
  const none = await done(powered({ from: "network" }), { more });
  assert.deepEqual(none.told.slice(2, 4), [
    ["askMedia", MAC, "x86_64"],
    ["bootFrom", "pxe", { once: true }],
  ]);
  const refuses = { insertMedia: new Fault("Unsupported", "bmc", "no virtual media") };
  const taken = await done(powered({ from: "network" }), { more, urls: { media }, refuses });
  assert.deepEqual(taken.told.slice(3, 7), [
    ["insertMedia", media],
    ["endAskedBoot", MAC],
    ["bootFrom", "pxe", { once: true }],
    ["setPower", "on"],
  ]);
  const standing = { trust: "discovered", lacks: "bmc", because: "its namespace demands bmc" } as never;
  const lacking = await done(powered({ from: "network" }), { more: { ...more, standing }, urls: { media }, refuses });
  assert.ok(
    lacking.told.some(
      ([type, reason, message]) =>
        type === "Warning" && reason === "NoBootValue" && /no virtual media: its namespace/.test(`${message}`),
    ),
  );
});

test("a BMC that refuses is a failure of its power, with what to do, and nothing that was to follow is done", async () => {
  const refuses = { setPower: new Fault("NoEffect", "bmc", "nothing changed", { remedy: "look at its log" }) };
  const after = { do: "write", fields: { poweredOn: true } } as const;
  const { outcome, told, written, tallied, memory } = await done(powered({ done: after as never }), { refuses });
  assert.equal(outcome, "again");
  assert.deepEqual(told.slice(2), [
    ["setPower", "on"],
    "write",
    ["Warning", "PowerManagementError", "bmc: nothing changed; look at its log"],
  ]);
  assert.deepEqual(
    [written[1]?.errorType, written[1]?.errorMessage, written[1]?.errorCount],
    ["power management error", "bmc: nothing changed; look at its log", 1],
  );
  assert.deepEqual([tallied, memory.hasStarted("metal/node-1", at("12:00:00.000"))], [[], false]);
});

test("an order that is refused is a failure of the host's work, and data that are missing are counted", async () => {
  const orderFails = new Fault("MissingInput", "spec.userData", "Secret a/b is not there", { remedy: "create it" });
  const step = { do: "order", name: "reboot", id: "o-1", announce } as const;
  const { told, written, tallied } = await done(step, { orderFails });
  assert.deepEqual(told, [
    "write",
    ["order", "host-1", { order: "reboot" }, "o-1"],
    "write",
    ["Warning", "OrderRefused", "spec.userData: Secret a/b is not there; create it"],
  ]);
  assert.equal(written[1]?.errorType, "provisioning error");
  assert.deepEqual(tallied, [{ name: "metal3_host_config_data_error_total", labels: { host_data_type: "userData" } }]);
});

test("an order that was given is remembered as offered here; without a machine it is refused", async () => {
  const step = { do: "order", name: "wipe", id: "o-1", announce } as const;
  const { told, memory } = await done(step);
  assert.deepEqual(told[1], ["order", "host-1", { order: "wipe", how: "metadata", disks: "all" }, "o-1"]);
  assert.ok(memory.offers("metal/node-1", "o-1"));
  const none = await done(step, { more: { machine: undefined } });
  assert.equal(none.memory.offers("metal/node-1", "o-1"), false);
  assert.match(none.written[1]?.errorMessage ?? "", /no machine was seen/);
  const install = await done({ do: "install", id: "i-1", announce }, { more: { machine: undefined } });
  assert.match(install.written[1]?.errorMessage ?? "", /no machine was seen/);
});

test("a process that has lost its lease, or ends, writes no failure down", async () => {
  for (const code of ["NotLeader", "Undeclared"] as const) {
    const refuses = { setPower: new Fault(code, "client", "not any more") };
    await assert.rejects(done(powered(), { refuses }), { code });
  }
  const refuses = { setPower: new Fault("Unavailable", "bmc", "gone") };
  await assert.rejects(done(powered(), { refuses, signal: AbortSignal.abort() }), { code: "Unavailable" });
});

test("what is in the drive is taken out, and the firmware's own order holds; a BMC without a drive has nothing in it", async () => {
  const step = { do: "eject", announce: {}, done: { do: "write", fields: { errorMessage: "" } } } as const;
  for (const refuses of [{}, { ejectMedia: new Fault("Unsupported", "bmc", "no virtual media") }]) {
    const { told } = await done(step as never, { refuses });
    assert.deepEqual(told, ["write", ["ejectMedia"], ["bootFrom", "default", { once: false }], "write"]);
  }
  const { told } = await done(step as never, { refuses: { ejectMedia: new Fault("NoEffect", "bmc", "it stays") } });
  assert.deepEqual(told.slice(1), [["ejectMedia"], "write", ["Warning", "PowerManagementError", "bmc: it stays"]]);
});

test("a host that is let go is forgotten by netboot where its machine is its own, and is off or has left the agent", async () => {
  const step = { do: "letGo", event: { ...event, reason: "Deleted" } } as const;
  const inAgent = { name: "host-1", mac: MAC, session: { spokeAt: NOW, registeredAt: NOW } } as never;
  const trusted = { trust: "declared", because: "" } as never;
  const forgets = async (more: Stage["more"]) =>
    (await done(step, { more: { standing: trusted, ...more } })).told.some(([name]) => name === "forget");
  assert.equal(await forgets({ machine: inAgent, bmc: bmcThat("off") }), true);
  assert.equal(await forgets({ machine: inAgent, bmc: bmcThat("on") }), false);
  assert.equal(await forgets({ bmc: bmcThat("on") }), true);
  assert.equal(await forgets({ machine: inAgent, bmc: undefined }), false);
  assert.equal(await forgets({ isShared: true }), false);
  assert.equal(await forgets({ standing: { trust: "discovered", because: "" } as never }), false);
  assert.equal(await forgets({ machine: undefined }), false);
});

test("a wait is written down when it is another one, and says when it is looked at again", async () => {
  const step = { do: "wait", forWhat: "the agent", recheckMs: 5_000, deadline: NOW + 60_000 } as const;
  const first = await done(step);
  assert.deepEqual([first.outcome, first.told], [{ againAfterMs: 5_000 }, ["write"]]);
  assert.equal(first.written[0]?.waitingFor, "the agent");
  const again = await done(step, { more: { status: { waitingFor: "the agent" } } });
  assert.deepEqual(again.told, []);
  const lines = { ...step, forWhat: "the BMC:\nbusy" };
  assert.equal((await done(lines)).written[0]?.waitingFor, "the BMC: busy");
  const same = await done(lines, { more: { status: { waitingFor: "the BMC: busy" } } });
  assert.deepEqual(same.told, [], "it stands there as it may leave the process");
  const { outcome } = await done({ do: "wait" });
  assert.deepEqual(outcome, DONE);
});

test("what the boot service gets, and which annotations are removed", async () => {
  assert.deepEqual((await done({ do: "boot", from: "disk" })).told, [["setBoot", "host-1", "disk"]]);
  const result = { ok: true, message: "it went on" };
  assert.deepEqual((await done({ do: "endInstall", id: "i-1", result })).told, [
    ["endInstall", "host-1", "i-1", result],
  ]);
  const off = await done({ do: "unannotate", annotations: ["a", "b"] });
  assert.deepEqual(
    [off.outcome, off.told],
    [DONE, [["patch", { metadata: { resourceVersion: "1", annotations: { a: null, b: null } } }]]],
  );
});

test("firmware settings that can't be read are an event, once an inspection, and the host goes on", async () => {
  const { outcome, told, memory } = await done({ do: "firmware" });
  assert.deepEqual([outcome, told], ["again", [["Warning", "FirmwareSettingsNotRead", "bmc: busy"]]]);
  assert.ok(memory.hasReadFirmware("metal/node-1", undefined));
  await assert.rejects(
    done({ do: "firmware" }, { refuses: { firmwareSettings: new Fault("NotLeader", "client", "gone") } }),
    { code: "NotLeader" },
  );
});

test("a deletion that gave up a wipe, or has not seen the host off, is counted", async () => {
  for (const [reason, name] of [
    ["NotWiped", "metal3_delete_without_deprovisioning_total"],
    ["NotPoweredOff", "metal3_delete_without_powering_off_total"],
  ] as const) {
    const step = { do: "write", fields: {}, event: { type: "Warning", reason, message: "m" } } as const;
    const { told, tallied } = await done(step);
    assert.deepEqual([told, tallied], [["write", ["Warning", reason, "m"]], [{ name }]]);
  }
});

test("an installation that its owner ends, and what the machine boots, are said to netboot, and more may follow", async () => {
  const result = { ok: true, message: "it went on" };
  const ended = await done({ do: "endInstall", id: "i-1", result });
  assert.deepEqual([ended.outcome, ended.told], ["again", [["endInstall", "host-1", "i-1", result]]]);
  const boot = await done({ do: "boot", from: "disk" });
  assert.deepEqual([boot.outcome, boot.told], ["again", [["setBoot", "host-1", "disk"]]]);
});

test("the card of a start is the declared one where that is an address, else the one that was seen; without either it starts all the same", async () => {
  const asked = async (more: Parameters<typeof factsOf>[1]) =>
    (await done(powered({ from: "network" }), { more })).told.slice(1, 3).map((call) => call.slice(0, 2));
  assert.deepEqual(await asked({ spec: { bootMACAddress: "to be told" } }), [
    ["endAskedBoot", MAC],
    ["bootFrom", "pxe"],
  ]);
  const machine = { name: "host-1", mac: "52:54:00:00:00:09" } as never;
  assert.deepEqual((await asked({ machine }))[0], ["endAskedBoot", MAC]);
  assert.deepEqual((await asked({ machine, spec: { bootMACAddress: undefined } }))[0], [
    "endAskedBoot",
    "52:54:00:00:00:09",
  ]);
  const none = await asked({ machine: undefined, spec: { bootMACAddress: undefined } });
  assert.deepEqual(none, [
    ["bootFrom", "pxe"],
    ["setPower", "on"],
  ]);
});

test("what an agent found, or a host brought along, is written to its HardwareData and then to its status", async () => {
  const given = await done({ do: "describe", hardware: { ramMebibytes: 7 } });
  assert.deepEqual([given.outcome, given.told], [DONE, [["create", "HardwareData"], "write"]]);
  assert.deepEqual(given.written[0]?.hardware, { ramMebibytes: 7 });
  const machine = { name: "host-1", mac: MAC, inventory: INVENTORY } as never;
  const found = await done({ do: "describe" }, { more: { machine } });
  assert.equal(found.written[0]?.hardware?.ramMebibytes, 2048);
});

test("the firmware's settings are written beside the host, or an event says why not; the host goes on either way", async () => {
  const settings = [{ name: "BootMode", value: "Uefi" }];
  const read = await done({ do: "firmware" }, { settings, found: { metadata: {}, spec: { settings: {} } } });
  assert.deepEqual([read.outcome, read.told], ["again", [["updateStatus", "HostFirmwareSettings"]]]);
  const refused = await done({ do: "firmware" });
  assert.deepEqual([refused.outcome, refused.told], ["again", [["Warning", "FirmwareSettingsNotRead", "bmc: busy"]]]);
  for (const { memory } of [read, refused]) assert.ok(memory.hasReadFirmware("metal/node-1", undefined));
  const refuses = { firmwareSettings: new Fault("NotLeader", "client", "not any more") };
  await assert.rejects(done({ do: "firmware" }, { refuses }), { code: "NotLeader" });
});

test("an installer that is offered is remembered as offered here", async () => {
  const script = Buffer.from("#!ipxe").toString("base64");
  const spec = { customDeploy: { method: "ipxe" }, userData: { name: "own" } };
  const step = { do: "install", id: "i-1", announce } as const;
  const { told, memory, outcome } = await done(step, { more: { spec }, found: { data: { script } } });
  assert.deepEqual([outcome, told], ["again", ["write", ["install", "host-1", "i-1"]]]);
  assert.ok(memory.offers("metal/node-1", "i-1"));
});
