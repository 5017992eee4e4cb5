import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { type HttpAnswer, type HttpRequest, seededRandom } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { SimMachine } from "../sim/bmc/sim-machine.ts";
import type { Account } from "./accounts.ts";
import { type RedfishServiceOptions, redfishService } from "./service.ts";
import { answerUnknownMethods } from "./unknown-methods.ts";

const ID = "51b00000-0000-4000-8000-000000000001";
const SYSTEM = `/redfish/v1/Systems/${ID}`;
const SESSIONS = "/redfish/v1/SessionService/Sessions";
const MINUTE_MS = 60_000;

const ACCOUNTS: readonly Account[] = [
  { username: "admin", password: "correct horse", role: "Administrator" },
  { username: "op", password: "battery", role: "Operator" },
  { username: "eye", password: "staple", role: "ReadOnly" },
];

type Headers = Record<string, string>;

const basic = (username: string, password: string): Headers => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
});
const ADMIN = basic("admin", "correct horse");

function world(options: Partial<RedfishServiceOptions> = {}) {
  const clock = new VirtualClock();
  const machine = new SimMachine({ clock, id: ID, name: "m", uuid: ID, macs: ["52:54:00:00:00:01"] });
  const service = redfishService({
    ...{ clock, random: seededRandom(1), uuid: ID, machines: () => [machine], accounts: () => ACCOUNTS },
    ...options,
  });
  const askFrom =
    (remote: string) =>
    async (method: string, path: string, headers: Headers = {}, body?: unknown) => {
      const url = path.startsWith("http") ? path : `https://bmc.example${path}`;
      const text = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
      const request = { method: method as HttpRequest["method"], url, headers, ...text, remote };
      let answer: HttpAnswer | undefined;
      const asked = service.handle(request).then((one) => {
        answer = one;
      });
      await clock.run(10_000, () => answer !== undefined);
      await asked;
      return answer!;
    };
  return { clock, machine, ask: askFrom("192.0.2.1"), askFrom, service };
}

const json = (answer: HttpAnswer): Record<string, unknown> => JSON.parse(answer.body) as Record<string, unknown>;
const messageId = (answer: HttpAnswer): string | undefined =>
  (json(answer).error as { code?: string } | undefined)?.code?.split(".").at(-1);

test("root, version and metadata are open, everything else wants an account", async () => {
  const { ask } = world();
  for (const path of ["/redfish", "/redfish/v1", "/redfish/v1/", "/redfish/v1/odata", "/redfish/v1/$metadata"])
    assert.equal((await ask("GET", path)).status, 200, path);
  for (const path of [SYSTEM, "/redfish/v1/Systems", SESSIONS, "/redfish/v1/no/such/thing"]) {
    const answer = await ask("GET", path);
    assert.equal(answer.status, 401, path);
    assert.match(answer.headers["www-authenticate"] ?? "", /^Basic /);
  }
  assert.equal((await ask("GET", SYSTEM, basic("admin", "wrong"))).status, 401);
  assert.equal((await ask("GET", SYSTEM, { authorization: "Basic !" })).status, 401);
  assert.equal((await ask("GET", SYSTEM, ADMIN)).status, 200);
});

test("a machine that is on is enabled, and the metadata name each schema in the version of its resources", async () => {
  const { ask, machine } = world();
  const state = async () => (json(await ask("GET", SYSTEM, ADMIN)).Status as { State: string }).State;
  assert.equal(await state(), machine.power() === "Off" ? "Disabled" : "Enabled");
  const reset = `${SYSTEM}/Actions/ComputerSystem.Reset`;
  const was = machine.power();
  await ask("POST", reset, ADMIN, { ResetType: was === "Off" ? "On" : "ForceOff" });
  assert.notEqual(machine.power(), was);
  assert.equal(await state(), machine.power() === "Off" ? "Disabled" : "Enabled");
  const { body } = await ask("GET", "/redfish/v1/$metadata");
  assert.match(
    body,
    /ComputerSystem_v1\.xml"><edmx:Include Namespace="ComputerSystem"\/><edmx:Include Namespace="ComputerSystem\.v1_23_1"\/>/,
  );
  assert.match(
    body,
    /MessageRegistryFileCollection\.xml"><edmx:Include Namespace="MessageRegistryFileCollection"\/><\/edmx/,
  );
});

test("without TLS nothing is answered, unless the caller says that it may", async () => {
  const { ask } = world();
  assert.equal((await ask("GET", "http://bmc.example/redfish/v1/", ADMIN)).status, 403);
  const { ask: plainly } = world({ plainHttp: true });
  assert.equal((await plainly("GET", "http://bmc.example/redfish/v1/", ADMIN)).status, 200);
});

test("a session is shown by its token, and ends when it is deleted or unused for its time", async () => {
  const { ask, clock } = world({ sessionTimeoutMs: 30 * MINUTE_MS });
  const open = async (): Promise<{ path: string; token: Headers }> => {
    const answer = await ask("POST", SESSIONS, {}, { UserName: "admin", Password: "correct horse" });
    assert.equal(answer.status, 201);
    return { path: answer.headers.location!, token: { "x-auth-token": answer.headers["x-auth-token"]! } };
  };
  const first = await open();
  await clock.run(29 * MINUTE_MS);
  assert.equal((await ask("GET", SYSTEM, first.token)).status, 200);
  await clock.run(29 * MINUTE_MS);
  assert.equal((await ask("GET", SYSTEM, first.token)).status, 200);
  await clock.run(30 * MINUTE_MS);
  assert.equal((await ask("GET", SYSTEM, first.token)).status, 401);

  const second = await open();
  assert.equal((await ask("DELETE", second.path, second.token)).status, 204);
  assert.equal((await ask("GET", SYSTEM, second.token)).status, 401);
});

test("there are only so many sessions, and basic authentication works beside them", async () => {
  const { ask, clock } = world({ mostSessions: 2 });
  const login = () => ask("POST", SESSIONS, {}, { UserName: "op", Password: "battery" });
  const statuses = [(await login()).status, (await login()).status, (await login()).status];
  assert.deepEqual(statuses, [201, 201, 503]);
  assert.equal((await ask("GET", SYSTEM, ADMIN)).status, 200);
  await clock.run(30 * MINUTE_MS);
  assert.equal((await login()).status, 201);
});

test("a wrong login says the same whatever is wrong, and an incomplete one what is missing", async () => {
  const { ask } = world();
  const login = (body: unknown) => ask("POST", SESSIONS, {}, body);
  const name = await login({ UserName: "nobody", Password: "correct horse" });
  const password = await login({ UserName: "admin", Password: "wrong" });
  assert.deepEqual([name.status, name.body], [401, password.body]);
  assert.equal(messageId(await login({ UserName: "admin" })), "CreateFailedMissingReqProperties");
  assert.equal(messageId(await login("{")), "MalformedJSON");
});

test("an address that guesses passwords is held up, and others are not", async () => {
  const { askFrom, clock } = world();
  const [ask, askElsewhere] = [askFrom("192.0.2.9"), askFrom("192.0.2.10")];
  const login = await ask("POST", SESSIONS, {}, { UserName: "op", Password: "battery" });
  const token = { "x-auth-token": login.headers["x-auth-token"]! };
  const guess = () => ask("GET", SYSTEM, basic("admin", "guess"));
  for (let i = 0; i < 10; i++) assert.equal((await guess()).status, 401);
  const held = await guess();
  assert.deepEqual([held.status, Number(held.headers["retry-after"]) > 0], [503, true]);
  assert.equal((await ask("GET", SYSTEM, ADMIN)).status, 503);
  assert.equal((await ask("GET", SYSTEM, token)).status, 200);
  assert.equal((await askElsewhere("GET", SYSTEM, ADMIN)).status, 200);
  await clock.run(MINUTE_MS);
  assert.equal((await ask("GET", SYSTEM, ADMIN)).status, 200);
});

test("an operator switches machines, a reader only looks, and ends no other's session", async () => {
  const { ask, machine } = world();
  const reset = (who: Headers) => ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, who, { ResetType: "On" });
  assert.equal((await reset(basic("eye", "staple"))).status, 403);
  assert.equal(machine.power(), "Off");
  const { headers } = await ask("POST", SESSIONS, {}, { UserName: "op", Password: "battery" });
  assert.equal((await ask("DELETE", headers.location!, basic("eye", "staple"))).status, 403);
  assert.equal((await reset({ "x-auth-token": headers["x-auth-token"]! })).status, 202);
  assert.equal((await ask("DELETE", headers.location!, ADMIN)).status, 204);
});

test("what takes time is a task: 202, its monitor, and then what the order would have answered", async () => {
  const { ask, clock, machine } = world({ patienceMs: 1_000 });
  const reset = (type: string) => ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, ADMIN, { ResetType: type });
  const ordered = await reset("On");
  const monitor = ordered.headers.location!;
  assert.deepEqual([ordered.status, json(ordered).TaskState], [202, "Running"]);
  assert.equal((await ask("GET", monitor, ADMIN)).status, 202);
  await clock.run(5_000);
  assert.equal(machine.power(), "On");
  assert.equal((await ask("GET", monitor, ADMIN)).status, 204);
  assert.equal(json(await ask("GET", json(ordered)["@odata.id"] as string, ADMIN)).TaskState, "Completed");
  assert.equal((await reset("On")).status, 204);

  const soft = await reset("GracefulShutdown");
  await reset("ForceOff");
  const given = await ask("GET", soft.headers.location!, ADMIN);
  assert.deepEqual([given.status, /another order came/.test(given.body)], [409, true]);
});

test("tasks are forgotten, the oldest first", async () => {
  const { ask, clock } = world();
  const reset = (type: string) => ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, ADMIN, { ResetType: type });
  for (let i = 0; i < 70; i++) {
    await reset(i % 2 === 0 ? "On" : "GracefulShutdown");
    await clock.run(30_000);
  }
  const { Members } = json(await ask("GET", "/redfish/v1/TaskService/Tasks", ADMIN)) as { Members: unknown[] };
  assert.equal(Members.length, 64);
});

test("a resource has an ETag: it is not sent again while it holds, and no change is made on another one", async () => {
  const { ask, machine } = world();
  const { etag } = (await ask("GET", SYSTEM, ADMIN)).headers as { etag: string };
  assert.equal((await ask("GET", SYSTEM, { ...ADMIN, "if-none-match": etag })).status, 304);
  const change = (ifMatch: string, target: string) =>
    ask(
      "PATCH",
      SYSTEM,
      { ...ADMIN, "if-match": ifMatch },
      {
        Boot: { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: "Once" },
      },
    );
  assert.equal((await change(etag, "Pxe")).status, 200);
  assert.equal((await change(etag, "Hdd")).status, 412);
  assert.equal(machine.boot().target, "Pxe");
  assert.equal((await change("*", "Hdd")).status, 200);
});

test("a change of several properties carries out what it may and names what it may not", async () => {
  const { ask, machine } = world();
  const patch = (body: unknown) => ask("PATCH", SYSTEM, ADMIN, body);
  const mixed = await patch({
    PowerState: "On",
    Colour: "red",
    Boot: { BootSourceOverrideTarget: "Pxe", BootSourceOverrideEnabled: "Once", BootSourceOverrideMode: "Legacy" },
  });
  const told = (json(mixed)["@Message.ExtendedInfo"] as { MessageId: string; MessageArgs: string[] }[]).map(
    ({ MessageId, MessageArgs }) => [MessageId.split(".").at(-1), ...MessageArgs],
  );
  assert.deepEqual(
    [mixed.status, told],
    [
      200,
      [
        ["PropertyNotWritable", "PowerState"],
        ["PropertyUnknown", "Colour"],
      ],
    ],
  );
  assert.deepEqual(machine.boot(), { enabled: "Once", target: "Pxe", mode: "Legacy" });
  for (const [body, id] of [
    [{ PowerState: "On" }, "PropertyNotWritable"],
    [{ Boot: { BootSourceOverrideTarget: "Floppy" } }, "PropertyValueNotInList"],
    [{ Boot: { HttpBootUri: "file:///etc/passwd" } }, "PropertyValueTypeError"],
    [{ Boot: [] }, "PropertyValueTypeError"],
    [{ "@odata.id": "x" }, "NoOperation"],
    [{}, "NoOperation"],
    ["[]", "MalformedJSON"],
  ] as const) {
    const answer = await patch(body);
    assert.deepEqual([answer.status, messageId(answer)], [400, id]);
  }
});

test("an action with a parameter that is missing, unknown or wrong is refused", async () => {
  const { ask, machine } = world();
  const insert = (body: unknown) =>
    ask("POST", `${SYSTEM}/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia`, ADMIN, body);
  for (const body of [
    {},
    { Image: "nfs://x/y" },
    { Image: 7 },
    { Image: "http://a/b", Inserted: false },
    { Image: "http://a/b", UserName: "x" },
  ])
    assert.equal((await insert(body)).status, 400, JSON.stringify(body));
  assert.equal(machine.media(), undefined);
  const reset = await ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, ADMIN, { ResetType: "Nmi" });
  assert.equal(messageId(reset), "ActionParameterValueNotInList");
});

test("an image is inserted with every parameter that has a meaning, shown and ejected", async () => {
  const { ask, machine } = world({ patienceMs: 5_000 });
  const media = `${SYSTEM}/VirtualMedia/Cd`;
  const all = {
    Inserted: true,
    WriteProtected: true,
    TransferMethod: "Stream",
    TransferProtocolType: "HTTP",
    MediaType: "CD",
  };
  const image = "http://boot.example/images/agent.iso";
  const inserted = await ask("POST", `${media}/Actions/VirtualMedia.InsertMedia`, ADMIN, { Image: image, ...all });
  assert.equal(inserted.status, 204);
  const { Image, ImageName, Inserted, ConnectedVia } = json(await ask("GET", media, ADMIN));
  assert.deepEqual(
    { Image, ImageName, Inserted, ConnectedVia },
    {
      ...{ Image: image, ImageName: "agent.iso", Inserted: true, ConnectedVia: "URI" },
    },
  );
  assert.equal((await ask("POST", `${media}/Actions/VirtualMedia.EjectMedia`, ADMIN)).status, 204);
  assert.equal(machine.media(), undefined);
  const empty = json(await ask("GET", media, ADMIN));
  assert.deepEqual(
    [empty.Image, empty.ImageName, empty.Inserted, empty.ConnectedVia],
    [null, null, false, "NotConnected"],
  );
});

test("a failed task says so", async () => {
  const { ask } = world();
  const reset = (type: string) => ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, ADMIN, { ResetType: type });
  const on = await reset("On");
  assert.deepEqual([json(on).TaskStatus, json(on).Messages], ["OK", []]);
  await reset("ForceOff");
  const task = json(await ask("GET", json(on)["@odata.id"] as string, ADMIN));
  assert.deepEqual([task.TaskState, task.TaskStatus, (task.Messages as []).length], ["Exception", "Critical", 1]);
});

test("no order reaches a machine, a session or a task that is not there", async () => {
  const { ask } = world();
  for (const [method, path] of [
    ["POST", "/redfish/v1/Systems/9/Actions/ComputerSystem.Reset"],
    ["PATCH", "/redfish/v1/Systems/9"],
    ["DELETE", `${SESSIONS}/9`],
    ["GET", "/redfish/v1/TaskService/TaskMonitors/9"],
    ["GET", "/redfish/v1/AccountService/Accounts/9"],
    ["GET", "/redfish/v1/AccountService/Roles/constructor"],
    ["GET", `${SYSTEM}/EthernetInterfaces/2`],
    ["GET", "/redfish/v1/Registries/9"],
  ] as const)
    assert.equal(
      (await ask(method, path, ADMIN, method === "GET" ? undefined : { ResetType: "On" })).status,
      404,
      path,
    );
});

test("every link of the service leads to a resource that names itself so", async () => {
  const { ask } = world();
  const seen = new Set<string>();
  const types = new Set<string>();
  const follow = async (path: string): Promise<void> => {
    if (seen.has(path)) return;
    seen.add(path);
    const answer = await ask("GET", path, ADMIN);
    assert.equal(answer.status, 200, path);
    assert.equal(json(answer)["@odata.id"], path);
    types.add(json(answer)["@odata.type"] as string);
    const [, schema] = /schemas\/v1\/(.*)\.json/.exec(answer.headers.link!)!;
    assert.ok((json(answer)["@odata.type"] as string).startsWith(`#${schema}.`), path);
    for (const [, next] of answer.body.matchAll(/"@odata\.id":"([^"]+)"/g)) await follow(next!);
  };
  await ask("POST", SESSIONS, {}, { UserName: "op", Password: "battery" });
  await ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, ADMIN, { ResetType: "On" });
  await follow("/redfish/v1/");
  for (const part of [SYSTEM, `${SYSTEM}/VirtualMedia/Cd`, `/redfish/v1/Managers/${ID}`, `${SESSIONS}/1`])
    assert.ok(seen.has(part), part);
  const { body: metadata } = await ask("GET", "/redfish/v1/$metadata");
  for (const type of types)
    assert.ok(
      metadata.includes(`<edmx:Include Namespace="${type.slice(1).split(".").slice(0, -1).join(".")}"/>`),
      type,
    );
});

test("a session may be asked for at the collection's members, and there are 64 of them unless told otherwise", async () => {
  const { ask } = world();
  const login = () => ask("POST", `${SESSIONS}/Members`, {}, { UserName: "op", Password: "battery" });
  for (let i = 0; i < 64; i++) assert.equal((await login()).status, 201);
  assert.equal((await login()).status, 503);
});

test("a method that Node's parser does not know is not implemented, and other nonsense is a bad request", async (t) => {
  const { service } = world({ plainHttp: true });
  const server = await serveHttp(service.handle, { guard: answerUnknownMethods });
  t.after(() => server.close());
  const say = async (line: string): Promise<string> => {
    const socket = connect(server.port, "127.0.0.1");
    socket.setEncoding("utf8").write(`${line}\r\nhost: a\r\n\r\n`);
    let answer = "";
    for await (const text of socket) answer += text;
    return answer.split("\r\n")[0]!;
  };
  assert.equal(await say("FROB /redfish/v1/ HTTP/1.1"), "HTTP/1.1 501 Not Implemented");
  assert.equal(await say("GET /redfish/v1/ SMTP/1.1"), "HTTP/1.1 400 Bad Request");
});

test("a request without headers is answered", async () => {
  const { service } = world();
  const answer = await service.handle({ method: "GET", url: "https://bmc.example/redfish/v1/", remote: "192.0.2.1" });
  assert.equal(answer.status, 200);
});

test("what is not there, not allowed or not understood has its own status", async () => {
  const { ask } = world();
  assert.equal((await ask("GET", "/redfish/v1/Systems/9", ADMIN)).status, 404);
  assert.equal((await ask("GET", `/redfish/v1/${"x".repeat(2_000)}`, ADMIN)).status, 404);
  const deleted = await ask("DELETE", SYSTEM, ADMIN);
  assert.deepEqual([deleted.status, deleted.headers.allow], [405, "GET, HEAD, PATCH"]);
  assert.equal((await ask("GET", "/redfish/v1/Systems?$expand=.", ADMIN)).status, 501);
  assert.equal((await ask("GET", "/redfish/v1/Systems?pretty=1", ADMIN)).status, 200);
  assert.equal((await ask("GET", "/redfish/v1/", { "odata-version": "4.1" })).status, 412);
});

test("no answer holds a password", async () => {
  const { ask } = world();
  const paths = ["/redfish/v1/AccountService/Accounts/1", "/redfish/v1/AccountService/Accounts", SESSIONS];
  for (const path of paths) assert.doesNotMatch((await ask("GET", path, ADMIN)).body, /correct horse/);
});

test("a machine whose firmware takes no address for HTTP boot shows none, and one that is sent is refused", async () => {
  const { ask, machine } = world();
  const showsUri = async () => "HttpBootUri" in (json(await ask("GET", SYSTEM, ADMIN)).Boot as object);
  assert.equal(await showsUri(), true);
  Object.assign(machine, { takesBootUri: false });
  assert.equal(await showsUri(), false);
  const boot = { BootSourceOverrideTarget: "UefiHttp", BootSourceOverrideEnabled: "Once" };
  const refused = await ask("PATCH", SYSTEM, ADMIN, { Boot: { HttpBootUri: "http://192.0.2.1/a.efi" } });
  assert.deepEqual([refused.status, messageId(refused)], [400, "PropertyUnknown"]);
  assert.equal((await ask("PATCH", SYSTEM, ADMIN, { Boot: boot })).status, 200);
});

test("an address for HTTP boot is kept until it is taken back, and is no longer shown with another device", async () => {
  const { ask, machine } = world();
  const patch = async (Boot: object) => (await ask("PATCH", SYSTEM, ADMIN, { Boot })).status;
  const uri = "http://192.0.2.1/a.efi";
  const http = { BootSourceOverrideTarget: "UefiHttp", BootSourceOverrideEnabled: "Once" };
  assert.equal(await patch({ ...http, HttpBootUri: uri }), 200);
  assert.equal(machine.boot().httpBootUri, uri);
  assert.equal(await patch({ HttpBootUri: null }), 200);
  assert.equal(machine.boot().httpBootUri, undefined);
  assert.equal(machine.boot().target, "UefiHttp");
  assert.equal(await patch({ HttpBootUri: uri }), 200);
  assert.equal(await patch({ BootSourceOverrideTarget: "Pxe" }), 200);
  assert.equal(machine.boot().httpBootUri, undefined);
});

test("an image is inserted with each kind of medium and protocol that makes no difference", async () => {
  for (const more of [
    { MediaType: "CD" },
    { MediaType: "DVD" },
    { TransferProtocolType: "HTTPS" },
    { TransferProtocolType: "HTTP", TransferMethod: "Stream", Inserted: true, WriteProtected: true },
  ]) {
    const { ask } = world();
    const path = `${SYSTEM}/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia`;
    const { status } = await ask("POST", path, ADMIN, { Image: "http://192.0.2.1/a.iso", ...more });
    assert.ok(status < 300, JSON.stringify(more));
  }
});

test("an account of some machines alone sees and orders these, its own sessions and its own tasks", async () => {
  const clock = new VirtualClock();
  const OTHER = ID.replace(/1$/, "2");
  const machines = [ID, OTHER].map(
    (id, at) => new SimMachine({ clock, id, name: id, uuid: id, macs: [`52:54:00:00:00:0${at}`] }),
  );
  let accounts: Account[] = [
    { username: "one", password: "correct horse", role: "Operator", machines: [ID] },
    { username: "other", password: "battery", role: "Operator", machines: [OTHER] },
  ];
  const service = redfishService({
    ...{ clock, random: seededRandom(1), uuid: ID, machines: () => machines, accounts: () => accounts },
  });
  const ask = async (method: HttpRequest["method"], path: string, headers: Headers, body?: object) => {
    const asked = service.handle({
      ...{ method, url: `https://bmc.example${path}`, headers, remote: "192.0.2.1" },
      ...(body && { body: JSON.stringify(body) }),
    });
    await clock.run(10_000);
    return await asked;
  };
  const one = basic("one", "correct horse");
  const other = basic("other", "battery");
  const members = async (path: string, who: Headers) => (json(await ask("GET", path, who)).Members as object[]).length;

  assert.equal(await members("/redfish/v1/Systems", one), 1);
  assert.equal(await members("/redfish/v1/Managers", one), 1);
  assert.equal((await ask("GET", SYSTEM, one)).status, 200);
  for (const path of [SYSTEM, `/redfish/v1/Managers/${ID}`, `${SYSTEM}/VirtualMedia/Cd`])
    assert.equal((await ask("GET", path, other)).status, 404, path);
  assert.equal((await ask("POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, other, { ResetType: "On" })).status, 404);
  assert.equal((await ask("PATCH", SYSTEM, other, { Boot: { BootSourceOverrideTarget: "Pxe" } })).status, 404);
  assert.equal(machines[0]!.power(), "Off");

  const session = await ask("POST", SESSIONS, {}, { UserName: "one", Password: "correct horse" });
  const token = { "x-auth-token": session.headers["x-auth-token"]! };
  assert.equal(await members(SESSIONS, other), 0);
  assert.equal((await ask("DELETE", session.headers.location!, other)).status, 404);
  assert.equal(await members("/redfish/v1/AccountService/Accounts", other), 1);
  assert.equal((await ask("GET", SYSTEM, token)).status, 200);
  // A session ends with its password.
  accounts = [{ ...accounts[0]!, password: "staple" }, accounts[1]!];
  assert.equal((await ask("GET", SYSTEM, token)).status, 401);
  accounts = [{ ...accounts[0]!, password: "correct horse" }, accounts[1]!];
  assert.equal((await ask("GET", SYSTEM, token)).status, 401);
});
