/** What BMCs show that the simulated ones do not: a service of a few fixed resources. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpAnswer, type HttpRequest, isFault, json, plain } from "@slipway/base";
import fc from "fast-check";
import type { LieName } from "../../../sim/bmc/sim-bmc.ts";
import { bmcWorld } from "../testing.ts";
import { fixed, link, members, SYSTEM } from "./testing.ts";

test("firmware settings have the limits of their registry", async () => {
  const registry = {
    RegistryEntries: {
      Attributes: [
        {
          AttributeName: "BootMode",
          Type: "Enumeration",
          ReadOnly: false,
          Value: [{ ValueName: "Uefi" }, { ValueName: "Bios" }],
        },
        { AttributeName: "Cores", Type: "Integer", LowerBound: 1, UpperBound: 8 },
        { AttributeName: "AssetTag", Type: "String", MinLength: 0, MaxLength: 63, ReadOnly: true },
      ],
    },
  };
  const { bmc, run } = fixed({
    [SYSTEM]: { Bios: link(`${SYSTEM}/Bios`) },
    [`${SYSTEM}/Bios`]: {
      AttributeRegistry: "BiosAttributeRegistry.v1_0_3",
      Attributes: { BootMode: "Uefi", Cores: 4, AssetTag: "", Unknown: null, Fast: true },
    },
    "/redfish/v1/Registries": members("/redfish/v1/Registries/Base", "/redfish/v1/Registries/Bios"),
    "/redfish/v1/Registries/Base": { Registry: "Base.1.19", Location: [] },
    "/redfish/v1/Registries/Bios": { Registry: "BiosAttributeRegistry.v1_0", Location: [{ Uri: "/registry.json" }] },
    "/registry.json": registry,
  });
  assert.deepEqual(await run(bmc.firmwareSettings()), [
    { name: "BootMode", value: "Uefi", type: "Enumeration", allowed: ["Uefi", "Bios"], readOnly: false },
    { name: "Cores", value: 4, type: "Integer", least: 1, most: 8 },
    { name: "AssetTag", value: "", type: "String", readOnly: true, minLength: 0, maxLength: 63 },
    { name: "Unknown", value: null },
    { name: "Fast", value: true },
  ]);
});

test("a registry with another id, or none, is not the settings' own, whatever its file is called", async () => {
  const entries = (most: number) => ({
    RegistryEntries: { Attributes: [{ AttributeName: "Cores", Type: "Integer", UpperBound: most }] },
  });
  const file = (name: string) => `/redfish/v1/Registries/${name}`;
  const { bmc, run } = fixed({
    [SYSTEM]: { Bios: link(`${SYSTEM}/Bios`) },
    [`${SYSTEM}/Bios`]: { AttributeRegistry: "Bios.v1", Attributes: { Cores: 4 } },
    "/redfish/v1/Registries": members(file("Bio%zz"), file("Bios"), file("B"), file("Last")),
    [file("Bios")]: { Registry: "Other.v1", Location: [{ Uri: "/other.json" }] },
    [file("B")]: { Location: [{ Uri: "/other.json" }] },
    [file("Last")]: { Id: "Bios.v1", Location: [{ Uri: "/bios.json" }] },
    "/other.json": entries(1),
    "/bios.json": entries(8),
  });
  assert.deepEqual(await run(bmc.firmwareSettings()), [{ name: "Cores", value: 4, type: "Integer", most: 8 }]);
});

test("a change that is refused in all its words is reported with the first refusal", async () => {
  let tries = 0;
  const Boot = { BootSourceOverrideEnabled: "Disabled", BootSourceOverrideMode: "UEFI" };
  const { bmc, fails } = fixed({
    [SYSTEM]: ({ method }) =>
      method === "GET"
        ? json(200, { Boot })
        : json(400, { error: { code: "x", message: ["the mode can't be written", "something else"][tries++] } }),
  });
  const error = await fails(bmc.bootFrom("pxe", { once: true, mode: "UEFI" }));
  assert.ok(isFault(error) && /the mode can't be written/.test(error.message), String(error));
  assert.equal(tries, 2);
});

test("the devices that a BMC offers may stand in its settings resource", async () => {
  const { bmc, fails, writes } = fixed({
    [SYSTEM]: {
      Boot: { BootSourceOverrideEnabled: "Disabled" },
      "@Redfish.Settings": { SettingsObject: link(`${SYSTEM}/Settings`) },
    },
    [`${SYSTEM}/Settings`]: { Boot: { "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Hdd"] } },
  });
  const error = await fails(bmc.bootFrom("pxe", { once: true }));
  assert.ok(isFault(error, "Unsupported") && /only from None, Hdd/.test(error.message), String(error));
  assert.deepEqual(writes, []);
});

test("what a BMC offers without an end is shown in part", async () => {
  const many = Array.from({ length: 20 }, (_, i) => `${i}${"x".repeat(1_000)}`);
  const Reset = { target: `${SYSTEM}/Reset`, "ResetType@Redfish.AllowableValues": many };
  const { bmc, fails } = fixed({
    [SYSTEM]: {
      PowerState: "Off",
      Actions: { "#ComputerSystem.Reset": Reset },
      Boot: { "BootSourceOverrideTarget@Redfish.AllowableValues": many },
    },
  });
  for (const call of [() => bmc.setPower("on"), () => bmc.bootFrom("pxe", { once: true })]) {
    const error = await fails(call());
    assert.ok(isFault(error, "Unsupported"), String(error));
    assert.match(error.message, /only (from )?0x{127}, 1x{127}, .*, 15x{126}, and 4 more$/);
  }
});

test("settings without a registry are shown without limits", async () => {
  const { bmc, run } = fixed({
    [SYSTEM]: { Bios: link(`${SYSTEM}/Bios`) },
    [`${SYSTEM}/Bios`]: { AttributeRegistry: "X", Attributes: { A: "b" } },
  });
  assert.deepEqual(await run(bmc.firmwareSettings()), [{ name: "A", value: "b" }]);
});

test("a machine's cards are those that it has, by their permanent addresses, each once", async () => {
  const cards = `${SYSTEM}/EthernetInterfaces`;
  const { bmc, run } = fixed({
    [SYSTEM]: { UUID: "ABCD", Model: "  R1 ", Manufacturer: "", EthernetInterfaces: link(cards) },
    [cards]: members(`${cards}/1`, `${cards}/2`, `${cards}/3`, `${cards}/4`, `${cards}/5`),
    [`${cards}/1`]: { PermanentMACAddress: "52-54-00-00-00-01", MACAddress: "02:00:00:00:00:01" },
    [`${cards}/2`]: { PermanentMACAddress: null, MACAddress: "5254.0000.0002" },
    [`${cards}/3`]: { MACAddress: "00:00:00:00:00:00" },
    [`${cards}/5`]: { MACAddress: "52:54:00:00:00:01" },
  });
  assert.deepEqual(await run(bmc.identity()), {
    ...{ model: "R1", uuid: "abcd", macs: ["52:54:00:00:00:01", "52:54:00:00:00:02"], system: SYSTEM },
  });
});

/** A machine whose boot override can be written. */
function bootable(boot: object, more: object = {}): HttpHandlerLike {
  let now: Record<string, unknown> = { BootSourceOverrideEnabled: "Disabled", ...boot };
  return (request) => {
    if (request.method === "PATCH") now = { ...now, ...(JSON.parse(request.body!) as { Boot: object }).Boot };
    return json(200, { ...more, Boot: now });
  };
}
type HttpHandlerLike = (request: HttpRequest) => HttpAnswer;

test("virtual media of a Supermicro is a CD at the USB port, elsewhere a CD", async () => {
  const offered = { "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe", "Cd", "UsbCd"] };
  for (const [Manufacturer, target] of [
    ["Supermicro", "UsbCd"],
    ["Other", "Cd"],
  ] as const) {
    const { bmc, run, writes } = fixed({ [SYSTEM]: bootable(offered, { Manufacturer }) });
    await run(bmc.bootFrom("virtual-media", { once: true }));
    assert.deepEqual(writes[0]?.body, {
      Boot: { BootSourceOverrideEnabled: "Once", BootSourceOverrideTarget: target },
    });
  }
});

test("a single boot that the BMC turns into a lasting one is reported as that", async () => {
  const { bmc, run } = fixed({
    [SYSTEM]: (request) =>
      json(200, {
        Boot: {
          BootSourceOverrideEnabled: "Continuous",
          BootSourceOverrideTarget: request.method === "GET" ? "Pxe" : "",
        },
      }),
  });
  assert.deepEqual(await run(bmc.bootFrom("pxe", { once: true })), { once: false });
});

test("another mode than the wanted one is no effect", async () => {
  const stuck = {
    BootSourceOverrideEnabled: "Once",
    BootSourceOverrideTarget: "Pxe",
    BootSourceOverrideMode: "Legacy",
  };
  const { bmc, fails } = fixed({ [SYSTEM]: { Boot: stuck } });
  assert.ok(isFault(await fails(bmc.bootFrom("pxe", { once: true, mode: "UEFI" })), "NoEffect"));
});

test("the reset types that a BMC names elsewhere are looked up, and none that it has not are sent", async () => {
  const reset = { target: `${SYSTEM}/reset`, "@Redfish.ActionInfo": "/info" };
  const { bmc, fails, writes } = fixed({
    [SYSTEM]: { PowerState: "Off", Actions: { "#ComputerSystem.Reset": reset } },
    "/info": { Parameters: [{ Name: "ResetType", AllowableValues: ["ForceOff"] }] },
  });
  const error = await fails(bmc.setPower("on"));
  assert.ok(isFault(error, "Unsupported") && /no reset for on, only ForceOff/.test(error.message), String(error));
  assert.deepEqual(writes, []);
});

test("a reset is seen by its time, where the BMC keeps that, once the machine is on again", async () => {
  let last = "2026-01-01T00:00:00Z";
  const states = ["Off", "PoweringOn", "On"];
  let power = "On";
  const reset = { target: `${SYSTEM}/reset`, "ResetType@Redfish.AllowableValues": ["ForceRestart"] };
  const { bmc, run, writes } = fixed({
    [SYSTEM]: () => {
      if (writes.length > 0) power = states.shift() ?? "On";
      return json(200, { PowerState: power, LastResetTime: last, Actions: { "#ComputerSystem.Reset": reset } });
    },
    [`${SYSTEM}/reset`]: () => {
      last = "2026-01-01T00:01:00Z";
      return plain(204, "");
    },
  });
  await run(bmc.setPower("reset"));
  assert.deepEqual([power, states], ["On", []]);
  assert.deepEqual(writes, [{ line: `POST ${SYSTEM}/reset`, body: { ResetType: "ForceRestart" } }]);
});

test("an order that fails within the BMC is not sent again: it may have been carried out", async () => {
  const reset = { target: `${SYSTEM}/reset` };
  const { bmc, fails, writes } = fixed({
    [SYSTEM]: { PowerState: "On", Actions: { "#ComputerSystem.Reset": reset } },
    [`${SYSTEM}/reset`]: () => plain(500, ""),
  });
  assert.ok(isFault(await fails(bmc.setPower("reset")), "Unavailable"));
  assert.equal(writes.length, 1);
});

test("a machine without virtual media, or without a reset, is unsupported", async () => {
  const { bmc, fails } = fixed({ [SYSTEM]: { PowerState: "Off" } });
  assert.ok(isFault(await fails(bmc.insertMedia("http://boot.example/a.iso")), "Unsupported"));
  assert.ok(isFault(await fails(bmc.setPower("on")), "Unsupported"));
});

test("links that lead to another server are not followed", async () => {
  const { bmc, fails } = fixed({ [SYSTEM]: { Bios: link("https://elsewhere.example/Bios") } });
  const error = await fails(bmc.firmwareSettings());
  assert.ok(isFault(error, "Unavailable") && /another server/.test(error.message), String(error));
});

test("a session and a task are followed at the BMC, whatever it calls itself", async () => {
  const sessions = "/redfish/v1/SessionService/Sessions";
  let power = "Off";
  const { bmc, run, writes } = fixed({
    "/redfish/v1/": { Links: { Sessions: link(sessions) } },
    [sessions]: () => json(201, {}, { "x-auth-token": "t", location: `https://ilo-7.internal${sessions}/7` }),
    [`${sessions}/7`]: () => plain(204, ""),
    [SYSTEM]: () =>
      json(200, { PowerState: power, Actions: { "#ComputerSystem.Reset": { target: `${SYSTEM}/reset` } } }),
    [`${SYSTEM}/reset`]: () => json(202, {}, { location: "https://ilo-7.internal/tasks/1" }),
    "/tasks/1": () => {
      power = "On";
      return plain(202, "");
    },
  });
  await run(bmc.setPower("on"));
  await run(bmc.close());
  assert.equal(writes.at(-1)?.line, `DELETE ${sessions}/7`);
});

test("a BMC that ends its sessions at once is unavailable, not one that refuses the credentials", async () => {
  const sessions = "/redfish/v1/SessionService/Sessions";
  const { bmc, fails, writes } = fixed({
    "/redfish/v1/": { SessionService: link("/redfish/v1/SessionService") },
    [sessions]: () => json(201, { "@odata.id": `${sessions}/1` }, { "x-auth-token": "t" }),
    [SYSTEM]: () => plain(401, ""),
  });
  const error = await fails(bmc.readPower());
  assert.ok(isFault(error, "Unavailable") && /ends its sessions at once/.test(error.message), String(error));
  assert.equal(writes.length, 4);
});

test("a read follows every kind of redirect at the BMC, and not without an end", async () => {
  const to = (status: number, location: string) => () => plain(status, "", { location });
  const { bmc, run } = fixed({
    [SYSTEM]: to(301, "/a"),
    "/a": to(302, "b"),
    "/b": to(303, "https://odd.example/c"),
    "/c": { PowerState: "On" },
  });
  assert.equal(await run(bmc.readPower()), "on");
  const endless = fixed({ [SYSTEM]: to(307, SYSTEM) });
  const error = await endless.fails(endless.bmc.readPower());
  assert.ok(isFault(error, "Unavailable") && /redirects without an end/.test(error.message), String(error));
});

test("an override is taken back with all words that BMCs know for none", async () => {
  const boot = { BootSourceOverrideEnabled: "Continuous", BootSourceOverrideTarget: "Pxe" };
  const { bmc, run, writes } = fixed({ [SYSTEM]: bootable(boot) });
  await run(bmc.bootFrom("default", { once: false }));
  assert.deepEqual(writes, [
    {
      line: `PATCH ${SYSTEM}`,
      body: { Boot: { BootSourceOverrideEnabled: "Disabled", BootSourceOverrideTarget: "None" } },
    },
  ]);
});

test("an override is taken back by its one word where a BMC refuses more", async () => {
  const machine = bootable({ BootSourceOverrideEnabled: "Continuous", BootSourceOverrideTarget: "Pxe" });
  const { bmc, run, writes } = fixed({
    [SYSTEM]: (request: HttpRequest) => {
      const { Boot = {} } = JSON.parse(request.body ?? "{}") as { Boot?: object };
      return Object.keys(Boot).length > 1 ? plain(400, "") : machine(request);
    },
  });
  await run(bmc.bootFrom("default", { once: false }));
  assert.deepEqual(writes.at(-1)?.body, { Boot: { BootSourceOverrideEnabled: "Disabled" } });
});

test("an image counts as inserted by its name, or where none is shown, and not when it is another one", async () => {
  const media = `${SYSTEM}/VirtualMedia`;
  const insert = (shown: object) => {
    let isIn = false;
    const action = { target: `${media}/insert` };
    return fixed({
      [SYSTEM]: { VirtualMedia: link(media) },
      [media]: members(`${media}/floppy`, `${media}/1`),
      [`${media}/floppy`]: { MediaTypes: ["Floppy"], Inserted: false },
      [`${media}/1`]: () =>
        json(200, { Inserted: isIn, ...(isIn && shown), Actions: { "#VirtualMedia.InsertMedia": action } }),
      [`${media}/insert`]: () => {
        isIn = true;
        return plain(204, "");
      },
    });
  };
  for (const shown of [{ Image: "//host/share/agent.iso" }, { Image: null }, {}]) {
    const { bmc, run, writes } = insert(shown);
    await run(bmc.insertMedia("http://boot.example/images/agent.iso"));
    assert.deepEqual(writes, [
      { line: `POST ${media}/insert`, body: { Image: "http://boot.example/images/agent.iso" } },
    ]);
  }
  const { bmc, fails } = insert({ Image: "http://boot.example/other.iso" });
  assert.ok(isFault(await fails(bmc.insertMedia("http://boot.example/images/agent.iso")), "NoEffect"));
});

test("virtual media that take the image alone, and by PATCH, get it so", async () => {
  const media = `${SYSTEM}/VirtualMedia`;
  let image: unknown = null;
  const { bmc, run, writes } = fixed({
    [SYSTEM]: { VirtualMedia: link(media) },
    [media]: members(`${media}/1`),
    [`${media}/1`]: (request) => {
      const { Image, ...more } =
        request.method === "PATCH" ? (JSON.parse(request.body!) as Record<string, unknown>) : {};
      if (Object.keys(more).length > 0) return plain(400, "");
      if (request.method === "PATCH") image = Image;
      return json(200, { MediaTypes: ["CD"], Image: image });
    },
  });
  await run(bmc.insertMedia("http://boot.example/a.iso"));
  assert.equal(image, "http://boot.example/a.iso");
  await run(bmc.ejectMedia());
  assert.equal(image, null);
  assert.deepEqual(writes.at(-1)?.body, { Image: null });
});

test("an image that the BMC refuses for a reason of its own is not asked for in other words", async () => {
  const media = `${SYSTEM}/VirtualMedia`;
  const action = { "#VirtualMedia.InsertMedia": { target: `${media}/insert` } };
  const { bmc, fails, writes } = fixed({
    [SYSTEM]: { VirtualMedia: link(media) },
    [media]: members(`${media}/1`),
    [`${media}/1`]: { MediaTypes: ["CD"], Inserted: false, Actions: action },
    [`${media}/insert`]: () => json(400, { error: { message: "The image is too old." } }),
  });
  const error = await fails(bmc.insertMedia("http://boot.example/a.iso"));
  assert.ok(isFault(error, "Unsupported") && /The image is too old/.test(error.message), String(error));
  assert.equal(writes.length, 1);
});

test("a task is asked while it runs: not when it is busy, no more when it is over, and its failure is reported", async () => {
  const slow = (...monitor: (() => HttpAnswer)[]) => {
    const asked: string[] = [];
    const world = fixed({
      [SYSTEM]: { PowerState: "Off", Actions: { "#ComputerSystem.Reset": { target: `${SYSTEM}/reset` } } },
      [`${SYSTEM}/reset`]: () => json(202, { "@odata.id": "/task", "@odata.type": "#Task.v1_4_0.Task" }),
      "/task": () => {
        asked.push("task");
        return (monitor.length > 1 ? monitor.shift()! : monitor[0]!)();
      },
    });
    return { ...world, asked };
  };
  const task =
    (TaskState: string, more: object = {}) =>
    () =>
      json(200, { "@odata.type": "#Task.v1_4_0.Task", TaskState, ...more });
  const failing = slow(
    task("Running"),
    ...Array.from({ length: 4 }, () => () => plain(503, "")),
    task("Exception", { Messages: [{ Message: "first" }, { Message: "The fan is stuck." }] }),
  );
  const error = await failing.fails(failing.bmc.setPower("on"));
  assert.ok(isFault(error, "Unavailable") && /task failed: The fan is stuck\./.test(error.message), String(error));
  assert.equal(failing.asked.length, 6);

  for (const last of [task("Completed"), () => plain(404, ""), () => plain(204, "")]) {
    const done = slow(task("Pending"), last);
    assert.ok(isFault(await done.fails(done.bmc.setPower("on")), "NoEffect"));
    assert.equal(done.asked.length, 2);
  }
});

test("a machine's media are looked for at its manager, too, by either name of the link", async () => {
  for (const name of ["ManagedBy", "Managers"]) {
    const { bmc, run, writes } = fixed({
      [SYSTEM]: { Links: { [name]: [link("/m")] } },
      "/m": { FirmwareVersion: "2.1", VirtualMedia: link("/m/media") },
      "/m/media": members("/m/media/1"),
      "/m/media/1": { MediaTypes: ["DVD"], Inserted: false },
    });
    await run(bmc.ejectMedia());
    assert.deepEqual(writes, []);
    assert.equal((await run(bmc.identity())).bmcVersion, "2.1");
  }
});

test("whatever a BMC answers, a call ends with a value or a fault", async () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, true, 7, "", "On", "/redfish/v1/Systems/1", "#ComputerSystem.v1_0_0.ComputerSystem"),
      fc.array(tie("any"), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          "@odata.id",
          "@odata.type",
          "Members",
          "Boot",
          "Actions",
          "Links",
          "PowerState",
          "UUID",
          "target",
          "Bios",
        ),
        tie("any"),
        { maxKeys: 5 },
      ),
    ),
  })).any;
  await fc.assert(
    fc.asyncProperty(value, value, async (root, system) => {
      const { bmc, fails } = fixed({ "/redfish/v1/": { a: root }, [SYSTEM]: () => json(200, system) });
      const calls = [() => bmc.readPower(), () => bmc.identity(), () => bmc.firmwareSettings(), () => bmc.ejectMedia()];
      for (const call of calls) {
        const end = await fails(call());
        assert.ok(isFault(end) || /it did not fail/.test(String(end)), String(end));
      }
    }),
    { numRuns: 200 },
  );
});

const BEARABLE: readonly LieName[] = [
  ...([
    "drops-requests",
    "session-table-full",
    "forgets-sessions",
    "etag-always-changes",
    "redirects-to-slash",
  ] as const),
  ...(["refuses-mode", "forgets-mode", "media-by-patch", "demands-transfer-protocol"] as const),
];
/** Nobody can meet both. */
const OPPOSED: readonly (readonly LieName[])[] = [
  ["refuses-mode", "forgets-mode"],
  ["media-by-patch", "demands-transfer-protocol"],
];

test("a machine is provisioned through a BMC with any mix of faults that can be borne", async () => {
  await fc.assert(
    fc.asyncProperty(fc.subarray([...BEARABLE]), async (lies) => {
      fc.pre(!OPPOSED.some((pair) => pair.every((lie) => lies.includes(lie))));
      const { open, run, machine } = bmcWorld({ lies });
      const bmc = open();
      await again(() => run(bmc.insertMedia("http://boot.example/agent.iso")));
      await again(() => run(bmc.bootFrom("virtual-media", { once: true, mode: "UEFI" })));
      await again(() => run(bmc.setPower("on")));
      assert.equal(machine.starts[0]?.from, "Cd");
    }),
    { numRuns: 60 },
  );
});

/** As a controller does: what is retryable is tried again, a few times. */
async function again(call: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await call();
      return;
    } catch (error) {
      if (!isFault(error) || !error.retryable || tries === 10) throw error;
    }
  }
}
