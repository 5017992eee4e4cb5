/** What a client may order by PATCH and POST, and what each wrong order is answered with. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpAnswer, type HttpRequest, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { SimMachine } from "../sim/bmc/sim-machine.ts";
import { isWebUrl, patchSystem } from "./boot-patch.ts";
import type { BootOverride } from "./machine.ts";
import { type RedfishServiceOptions, redfishService } from "./service.ts";

const [ID, MAC] = ["m1", "52:54:00:00:00:01"];
const SYSTEM = `/redfish/v1/Systems/${ID}`;
const SESSIONS = "/redfish/v1/SessionService/Sessions";
const basic = (name: string) => ({ authorization: `Basic ${Buffer.from(`${name}:${name}`).toString("base64")}` });
const ADMIN = basic("admin");

function machineOf(more: object = {}) {
  const clock = new VirtualClock();
  return Object.assign(new SimMachine({ clock, id: ID, name: "m", uuid: ID, macs: [MAC] }), more);
}

interface Told {
  MessageId: string;
  MessageArgs: string[];
}
const told = (list: readonly Told[] | undefined): string[] =>
  (list ?? []).map(({ MessageId, MessageArgs }) => [MessageId.split(".").at(-1), ...MessageArgs].join(" "));

/** Status, what was refused, and the override after it. */
async function patched(body: Record<string, unknown>, boot: Partial<BootOverride> = {}, more: object = {}) {
  const machine = machineOf(more);
  await machine.setBoot({ enabled: "Disabled", target: "None", mode: "UEFI", ...boot });
  const answer = await patchSystem(machine, body);
  const read = JSON.parse(answer.body) as Record<string, unknown>;
  const inside = (read.error ?? read) as { "@Message.ExtendedInfo"?: Told[] };
  return { status: answer.status, refused: told(inside["@Message.ExtendedInfo"]), boot: machine.boot() };
}
const patch = (Boot: unknown, boot: Partial<BootOverride> = {}) => patched({ Boot }, boot);

test("an override has its three parts, each changed by itself", async () => {
  const set = { enabled: "Continuous", target: "Hdd", mode: "UEFI" } as const;
  for (const [change, after] of [
    [{ BootSourceOverrideEnabled: "Once" }, { ...set, enabled: "Once" }],
    [{ BootSourceOverrideTarget: "Cd" }, { ...set, target: "Cd" }],
    [{ BootSourceOverrideMode: "Legacy" }, { ...set, mode: "Legacy" }],
    [{ BootSourceOverrideEnabled: "Disabled" }, { enabled: "Disabled", target: "None", mode: "UEFI" }],
    [{ BootSourceOverrideTarget: "None" }, { enabled: "Disabled", target: "None", mode: "UEFI" }],
    [
      { "@odata.type": "x", BootSourceOverrideTarget: "Pxe" },
      { ...set, target: "Pxe" },
    ],
  ] as const)
    assert.deepEqual(await patch(change, set), { status: 200, refused: [], boot: after });
});

test("what an override can't be is refused by its name", async () => {
  for (const [change, said] of [
    [{ BootSourceOverrideEnabled: "Always" }, "PropertyValueNotInList Always Boot/BootSourceOverrideEnabled"],
    [{ BootSourceOverrideTarget: "Usb" }, "PropertyValueNotInList Usb Boot/BootSourceOverrideTarget"],
    [{ BootSourceOverrideMode: "BIOS" }, "PropertyValueNotInList BIOS Boot/BootSourceOverrideMode"],
    [{ toString: "x" }, "PropertyUnknown Boot/toString"],
    [{ HttpBootUri: 7 }, "PropertyValueTypeError 7 Boot/HttpBootUri"],
  ] as const)
    assert.partialDeepStrictEqual(await patch(change), { status: 400, refused: [said] });
  assert.deepEqual((await patch(null)).refused, ["PropertyValueTypeError null Boot"]);
  assert.deepEqual((await patch("Pxe")).refused, ['PropertyValueTypeError "Pxe" Boot']);
  assert.deepEqual((await patch({})).refused, ["NoOperation"]);
  const mixed = await patched({
    Name: "x",
    Boot: { BootSourceOverrideTarget: "Pxe", BootSourceOverrideEnabled: "Once" },
  });
  assert.deepEqual([mixed.status, mixed.refused, mixed.boot.target], [200, ["PropertyNotWritable Name"], "Pxe"]);
});

test("an address for HTTP boot stays with that boot alone", async () => {
  const http = { enabled: "Once", target: "UefiHttp", mode: "UEFI", httpBootUri: "http://a/b" } as const;
  assert.deepEqual((await patch({ BootSourceOverrideEnabled: "Continuous" }, http)).boot, {
    ...http,
    enabled: "Continuous",
  });
  const { httpBootUri: _, ...without } = http;
  assert.deepEqual((await patch({ HttpBootUri: null }, http)).boot, without);
  assert.deepEqual((await patch({ BootSourceOverrideTarget: "Cd" }, http)).boot, { ...without, target: "Cd" });
});

test("an address is one of HTTP, and at most 2,048 characters long", () => {
  const long = (length: number) => "http://a/".padEnd(length, "x");
  assert.deepEqual([long(2_048), long(2_049), "https://a", "ftp://a", "http://", 7, undefined].map(isWebUrl), [
    true,
    false,
    true,
    false,
    false,
    false,
    false,
  ]);
});

function world(options: Partial<RedfishServiceOptions> = {}) {
  const clock = new VirtualClock();
  const machine = machineOf();
  const accounts = [
    { username: "admin", password: "admin", role: "Administrator" as const },
    { username: "op", password: "op", role: "Operator" as const },
    { username: "eye", password: "eye", role: "ReadOnly" as const },
  ];
  const random = seededRandom(1);
  const service = redfishService({
    ...{ clock, random, uuid: ID, machines: () => [machine], accounts: () => accounts },
    ...options,
  });
  const ask = async (method: string, path: string, headers: Record<string, string> = ADMIN, body?: unknown) => {
    const text = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const url = `https://bmc.example${path}`;
    let answer: HttpAnswer | undefined;
    const request = { method: method as HttpRequest["method"], url, headers, ...text, remote: "192.0.2.1" };
    void service.handle(request).then((one) => {
      answer = one;
    });
    await clock.run(10_000, () => answer !== undefined);
    return answer!;
  };
  return { clock, machine, service, ask };
}
const messages = ({ body }: HttpAnswer): string[] =>
  told((JSON.parse(body) as { error: { "@Message.ExtendedInfo": Told[] } }).error["@Message.ExtendedInfo"]);

test("a reset and an image that are wrong are refused with the parameter", async () => {
  const { ask } = world();
  const reset = (body: unknown) => ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, ADMIN, body);
  const insert = (body: unknown) =>
    ask("POST", `${SYSTEM}/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia`, ADMIN, body);
  const [Reset, Insert, Image] = ["ComputerSystem.Reset", "VirtualMedia.InsertMedia", "http://a/b.iso"];
  for (const [answer, said] of [
    [await reset({}), `ActionParameterMissing ${Reset} ResetType`],
    [await ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`), `ActionParameterMissing ${Reset} ResetType`],
    [await reset({ ResetType: "Nmi" }), `ActionParameterValueNotInList Nmi ResetType ${Reset}`],
    [await insert({}), `ActionParameterMissing ${Insert} Image`],
    [await insert({ Image: "a.iso" }), `ActionParameterValueNotInList a.iso Image ${Insert}`],
    [await insert({ Image, valueOf: 1 }), `ActionParameterNotSupported valueOf ${Insert}`],
    [await insert({ Image, WriteProtected: false }), `ActionParameterValueNotInList false WriteProtected ${Insert}`],
    [await insert({ Image, Inserted: false }), `ActionParameterValueNotInList false Inserted ${Insert}`],
    [await insert({ Image, MediaType: "Floppy" }), `ActionParameterValueNotInList Floppy MediaType ${Insert}`],
  ] as const) {
    assert.equal(answer.status, 400, said);
    assert.deepEqual(messages(answer), [said]);
  }
  for (const type of ["On", "ForceRestart", "GracefulRestart", "GracefulShutdown", "ForceOff"])
    assert.ok((await reset({ ResetType: type })).status < 300, type);
});

test("each method that a path has is named, with HEAD beside GET, and HEAD is answered as GET is", async () => {
  const { ask } = world();
  const allow = async (path: string) => (await ask("GET", path)).headers.allow;
  assert.equal(await allow(SYSTEM), "GET, HEAD, PATCH");
  assert.equal(await allow(SESSIONS), "GET, HEAD, POST");
  assert.equal((await ask("HEAD", SYSTEM)).status, 200);
  assert.equal((await ask("HEAD", "/redfish/v1/", {})).status, 200);
  for (const [method, path] of [
    ["PUT", SYSTEM],
    ["PATCH", SESSIONS],
    ["GET", `${SYSTEM}/Actions/ComputerSystem.Reset`],
    ["open", "/redfish/v1"],
  ] as const) {
    const answer = await ask(method, path);
    assert.deepEqual([answer.status, messages(answer)], [405, ["OperationNotAllowed"]], `${method} ${path}`);
  }
  assert.equal((await ask("POST", "/redfish/v1/", {})).status, 401, "open for reading alone");
  assert.equal((await ask("DELETE", SESSIONS, {})).status, 401);
});

test("a path is known by all its parts, with or without a slash at its end, and up to 1,024 characters", async () => {
  const { ask } = world();
  const status = async (path: string) => (await ask("GET", path)).status;
  assert.deepEqual(
    [await status(`${SYSTEM}/`), await status(`${SYSTEM}/x`), await status("/redfish/v2")],
    [200, 404, 404],
  );
  const missing = await ask("GET", "/redfish/v1/Nothing");
  assert.deepEqual(messages(missing), ["ResourceMissingAtURI /redfish/v1/Nothing"]);
  const asksFor: string[] = [];
  const { ask: longAsk } = world({
    machines: () => [machineOf({ id: "x".repeat(1_024 - 21) }), machineOf({ id: "x".repeat(1_025 - 21) })],
  });
  for (const length of [1_024, 1_025]) {
    const path = "/redfish/v1/Systems/".padEnd(length - 1, "x");
    asksFor.push(`${path.length} ${(await longAsk("GET", path)).status}`);
  }
  assert.deepEqual(asksFor, ["1023 200", "1024 200"]);
  assert.equal((await longAsk("GET", "/redfish/v1/Systems/".padEnd(1_025, "x"))).status, 404);
});

test("a session is ended by who opened it, or by an administrator", async () => {
  const { ask } = world();
  const open = async (name: string): Promise<string> =>
    (await ask("POST", SESSIONS, {}, { UserName: name, Password: name })).headers.location!;
  const end = async (path: string, who: string) => (await ask("DELETE", path, basic(who))).status;
  const [first, second] = [await open("op"), await open("op")];
  assert.equal((await ask("GET", first)).status, 200);
  assert.deepEqual([await end(first, "eye"), await end(first, "op"), await end(first, "op")], [403, 204, 404]);
  assert.deepEqual([await end(second, "admin"), await end(`${SESSIONS}/9`, "admin")], [204, 404]);
  for (const [body, missing] of [
    [{ UserName: "op" }, "Password"],
    [{ Password: "op" }, "UserName"],
    [{ UserName: 1, Password: 2 }, "UserName"],
  ] as const)
    assert.deepEqual(messages(await ask("POST", SESSIONS, {}, body)), [`CreateFailedMissingReqProperties ${missing}`]);
});

test("a version of OData, a query and a body that nobody understands have their own answers", async () => {
  const { ask } = world();
  const status = async (path: string, headers: object) => (await ask("GET", path, { ...ADMIN, ...headers })).status;
  assert.deepEqual(
    [await status(SYSTEM, { "odata-version": "4.0" }), await status(SYSTEM, { "odata-version": "4" })],
    [200, 412],
  );
  assert.deepEqual([await status(`${SYSTEM}?a=1&$top=1`, {}), await status(`${SYSTEM}?a=$top`, {})], [501, 200]);
  for (const body of ["[]", "null", "7", "{", ""])
    assert.deepEqual(messages(await ask("PATCH", SYSTEM, ADMIN, body)), ["MalformedJSON"]);
  const { etag } = (await ask("GET", SYSTEM)).headers as { etag: string };
  const known = await ask("GET", SYSTEM, { ...ADMIN, "if-none-match": etag });
  assert.deepEqual([known.status, known.headers.etag, known.body], [304, etag, ""]);
  assert.equal(await status(SYSTEM, { "if-none-match": '"x"' }), 200);
});

test("a machine that fails to answer is an error of the service, which goes on", async () => {
  const logged: unknown[] = [];
  const broken = machineOf({
    power() {
      throw new Error("broken");
    },
  });
  const log = { error: (fields: unknown) => void logged.push(fields) } as never;
  const { ask } = world({ machines: () => [broken], log });
  const answer = await ask("GET", SYSTEM);
  assert.deepEqual([answer.status, messages(answer), logged], [500, ["InternalError"], [{ error: "Error: broken" }]]);
  assert.equal((await ask("GET", "/redfish/v1/Systems")).status, 200);
});

test("only who shows a password is held up for guessing, and is told for how long", async () => {
  const { ask, clock } = world();
  const open = await ask("POST", SESSIONS, {}, { UserName: "op", Password: "op" });
  const token = { "x-auth-token": open.headers["x-auth-token"]! };
  for (let n = 0; n < 12; n++) assert.equal((await ask("GET", SYSTEM, { "x-auth-token": "gone" })).status, 401);
  assert.equal((await ask("GET", SYSTEM)).status, 200, "a token that has ended is no guess");
  for (let n = 0; n < 10; n++)
    assert.equal((await ask("POST", SESSIONS, {}, { UserName: "op", Password: "no" })).status, 401);
  assert.equal((await ask("GET", SYSTEM)).headers["retry-after"], "60");
  await clock.run(500);
  const held = await ask("GET", SYSTEM);
  assert.deepEqual(
    [held.status, held.headers["retry-after"], messages(held)],
    [503, "60", ["ServiceTemporarilyUnavailable 60"]],
  );
  assert.equal((await ask("POST", SESSIONS, {}, { UserName: "op", Password: "op" })).status, 503);
  assert.equal((await ask("GET", "/redfish/v1/", {})).status, 200);
  const reset = await ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, token, { ResetType: "ForceOff" });
  assert.equal(reset.status, 204);
});

test("sessions end after half an hour, and an effect is waited for for a second, unless told otherwise", async () => {
  const { ask, clock, service } = world();
  assert.equal(service.sessions.timeoutMs, 1_800_000);
  const began = clock.monotonic();
  const on = await ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, ADMIN, { ResetType: "On" });
  assert.deepEqual([on.status, clock.monotonic() - began], [202, 1_000]);
});
