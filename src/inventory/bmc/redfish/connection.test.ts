/** One BMC's requests, in virtual time: what is asked again, what is not, and what credentials are shown. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type HttpAnswer, type HttpRequest, isFault, json, plain, quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { running } from "../testing.ts";
import { type Ask, RedfishConnection } from "./connection.ts";

type Answer = HttpAnswer | Fault | ((request: HttpRequest) => HttpAnswer);

const ROOT = "GET /redfish/v1/";
const LOGIN = "POST /redfish/v1/SessionService/Sessions";
const A = "GET /a";
const basic = json(200, {});
const sessions = json(200, { Links: { Sessions: { "@odata.id": "/redfish/v1/SessionService/Sessions" } } });
const opened = json(201, {}, { "x-auth-token": "t-1", location: "/redfish/v1/SessionService/Sessions/1" });
const lost = new Fault("LostAnswer", "http", "lost");

/** A BMC that answers each request with the next of its answers; the last stays. Without sessions unless given. */
function bmc(answers: Record<string, Answer[]>, { log = quietLog }: { log?: typeof quietLog } = {}) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const requests: HttpRequest[] = [];
  const all: Record<string, Answer[]> = { [ROOT]: [basic], ...answers };
  const http = async (request: HttpRequest): Promise<HttpAnswer> => {
    const { pathname, search } = new URL(request.url);
    const line = `${request.method} ${pathname}${search}`;
    sent.push(line);
    requests.push(request);
    const list = all[line] ?? [plain(404, "")];
    const answer = list.length > 1 ? list.shift()! : list[0]!;
    if (answer instanceof Fault) throw answer;
    return typeof answer === "function" ? answer(request) : answer;
  };
  const credentials = { username: "admin", password: "päss" };
  const connection = new RedfishConnection({ origin: "https://bmc", credentials, http, clock, places: 2, log });
  const run = running(clock);
  const ask = (method: Ask["method"] = "GET", path = "/a", more: Partial<Ask> = {}) =>
    run(connection.ask({ method, path, ...more }));
  return { clock, connection, sent, requests, run, ask };
}
const count = (sent: readonly string[], line: string): number => sent.filter((each) => each === line).length;
const fails = (work: Promise<unknown>, code: string, text: RegExp) =>
  assert.rejects(work, (error) => {
    assert.ok(isFault(error), String(error));
    assert.equal(error.code, code);
    assert.match(error.advice, text);
    return true;
  });

test("a read that the BMC is too busy for is tried four times, each after twice the time or the BMC's own", async () => {
  for (const status of [408, 429, 500, 502, 503, 504]) {
    const { ask, sent, clock } = bmc({ [A]: [plain(status, "")] });
    assert.equal((await ask()).status, status);
    assert.deepEqual([count(sent, A), clock.monotonic()], [4, 7_000], `${status}`);
  }
  const told = bmc({ [A]: [json(503, {}, { "retry-after": "5" }), json(200, {})] });
  assert.equal((await told.ask()).status, 200);
  assert.equal(told.clock.monotonic(), 5_000);
  for (const [after, tries] of [
    ["30", 4],
    ["31", 1],
  ] as const) {
    const { ask, sent } = bmc({ [A]: [json(503, {}, { "retry-after": after })] });
    await ask();
    assert.equal(count(sent, A), tries, `Retry-After: ${after}`);
  }
});

test("a write is repeated only where nothing was carried out", async () => {
  const line = "POST /a";
  for (const [status, tries] of [
    [429, 4],
    [503, 4],
    [500, 1],
    [502, 1],
    [504, 1],
    [400, 1],
  ] as const) {
    const { ask, sent } = bmc({ [line]: [plain(status, "")] });
    await ask("POST");
    assert.equal(count(sent, line), tries, `${status}`);
  }
  const gone = bmc({ [line]: [lost] });
  await fails(gone.ask("POST"), "LostAnswer", /lost/);
  assert.equal(count(gone.sent, line), 1);
  const read = bmc({ [A]: [lost, json(200, {})] });
  assert.equal((await read.ask()).status, 200);
  const away = bmc({ [line]: [new Fault("Unavailable", "http", "no route"), json(200, {})] });
  assert.equal((await away.ask("POST")).status, 200, "it was not reached");
  const broken = bmc({ [A]: [new Fault("Invalid", "http", "too large")] });
  await fails(broken.ask(), "Invalid", /too large/);
  assert.equal(count(broken.sent, A), 1);
});

test("a BMC that stays away is a fault after four tries", async () => {
  const { ask, sent } = bmc({ [A]: [new Fault("Unavailable", "http", "no route")] });
  await fails(ask(), "Unavailable", /no route/);
  assert.equal(count(sent, A), 4);
});

test("each request has Redfish's headers, a body its type, and an ETag is passed on", async () => {
  const { ask, requests } = bmc({ [A]: [json(200, {})], "PATCH /a": [json(200, {})] });
  await ask();
  await ask("PATCH", "/a", { body: { x: 1 }, ifMatch: '"e"' });
  const authorization = `Basic ${Buffer.from("admin:päss").toString("base64")}`;
  const [root, read, write] = requests;
  const common = { accept: "application/json", "odata-version": "4.0" };
  assert.deepEqual(root!.headers, common);
  assert.deepEqual(read!.headers, { ...common, authorization });
  assert.deepEqual(write!.headers, { ...common, authorization, "if-match": '"e"', "content-type": "application/json" });
  assert.deepEqual([read!.body, write!.body, write!.timeoutMs], [undefined, '{"x":1}', 60_000]);
});

test("a session is shared, opened anew when it has ended, and closed; one that ends at once is no wrong password", async () => {
  const end = plain(401, "");
  const { ask, sent, requests, connection, run } = bmc({
    [ROOT]: [sessions],
    [LOGIN]: [opened],
    [A]: [json(200, {}), end, json(200, {})],
  });
  await ask();
  assert.equal((await ask()).status, 200);
  assert.deepEqual([count(sent, LOGIN), count(sent, A)], [2, 3]);
  const read = requests.filter(({ url }) => url.endsWith("/a"));
  assert.deepEqual(
    read.map(({ headers }) => headers?.["x-auth-token"]),
    ["t-1", "t-1", "t-1"],
  );
  await run(connection.close());
  await run(connection.close());
  assert.equal(count(sent, "DELETE /redfish/v1/SessionService/Sessions/1"), 1);

  const never = bmc({ [ROOT]: [sessions], [LOGIN]: [opened], [A]: [end] });
  await fails(never.ask(), "Unavailable", /GET \/a: the BMC ends its sessions at once/);
  assert.equal(count(never.sent, LOGIN), 4);
});

test("refused credentials are not shown again for half a minute", async () => {
  for (const [answers, counted] of [
    [{ [A]: [plain(401, ""), json(200, {})] }, A],
    [{ [ROOT]: [sessions], [LOGIN]: [plain(401, ""), opened], [A]: [json(200, {})] }, LOGIN],
    [{ [ROOT]: [sessions], [LOGIN]: [plain(403, ""), opened], [A]: [json(200, {})] }, LOGIN],
  ] as const) {
    const { ask, sent, clock } = bmc(structuredClone(answers) as never);
    await fails(ask(), "BadCredentials", /correct user name and password/);
    await fails(ask(), "BadCredentials", /refused these credentials a moment ago/);
    await clock.run(29_999);
    await fails(ask(), "BadCredentials", /a moment ago/);
    assert.equal(count(sent, counted), 1);
    await clock.run(1);
    assert.equal((await ask()).status, 200);
  }
});

test("a login that is refused in words is refused, and where there are no sessions left the password goes along", async () => {
  const refused = (status: number, id: string) =>
    json(status, { error: { "@Message.ExtendedInfo": [{ MessageId: `Base.1.0.${id}`, Message: "no" }] } });
  for (const id of ["ResourceAtUriUnauthorized", "InsufficientPrivilege", "CredentialError"]) {
    const { ask } = bmc({ [ROOT]: [sessions], [LOGIN]: [refused(400, id)] });
    await fails(ask(), "BadCredentials", /refused the login \(no\)/);
  }
  for (const answer of [refused(503, "SessionLimitExceeded"), plain(404, ""), json(201, {})]) {
    const { ask, requests } = bmc({ [ROOT]: [sessions], [LOGIN]: [answer], [A]: [json(200, {})] });
    await ask();
    assert.match(requests.at(-1)!.headers!.authorization!, /^Basic /);
  }
});

test("where sessions are is in the root, or the usual place where that shows the service alone", async () => {
  const service = bmc({ [ROOT]: [json(200, { SessionService: {} })], [LOGIN]: [opened], [A]: [json(200, {})] });
  await service.ask();
  assert.equal(count(service.sent, LOGIN), 1);
  const [body] = service.requests.filter(({ method }) => method === "POST").map((each) => JSON.parse(each.body!));
  assert.deepEqual(body, { UserName: "admin", Password: "päss" });
  const html = bmc({ [ROOT]: [plain(200, "<html>")], [A]: [json(200, {})] });
  assert.equal((await html.ask()).status, 200, "basic authentication");
  const named = json(201, { "@odata.id": "/redfish/v1/SessionService/Sessions/7" }, { "x-auth-token": "t" });
  const { ask, sent, connection, run } = bmc({ [ROOT]: [sessions], [LOGIN]: [named], [A]: [json(200, {})] });
  await ask();
  await run(connection.close());
  assert.equal(sent.at(-1), "DELETE /redfish/v1/SessionService/Sessions/7");
  const away = bmc({ [ROOT]: [plain(404, "")] });
  await fails(away.ask(), "NotFound", /GET \/redfish\/v1\//);
});

test("a session that can't be ended is left to its timeout, and logged", async () => {
  const logged: unknown[] = [];
  const log = { ...quietLog, info: (fields: unknown) => void logged.push(fields) } as never;
  const answers = { [ROOT]: [sessions], [LOGIN]: [opened], [A]: [json(200, {})] };
  const { ask, connection, run } = bmc({ ...answers, "DELETE /redfish/v1/SessionService/Sessions/1": [lost] }, { log });
  await ask();
  await run(connection.close());
  assert.equal(logged.length, 1);
  const unused = bmc({}, { log });
  await unused.run(unused.connection.close());
  assert.equal(unused.sent.length, 0);
});

test("a read follows redirects on the BMC, a write only those that keep its method", async () => {
  const moved = (status: number, location = "/b?x=1") => json(status, {}, { location });
  for (const status of [301, 302, 303, 307, 308]) {
    const { ask, sent } = bmc({ [A]: [moved(status)], "GET /b?x=1": [json(200, {})] });
    assert.deepEqual([(await ask()).status, sent.at(-1)], [200, "GET /b?x=1"], `${status}`);
  }
  for (const [status, follows] of [
    [301, false],
    [303, false],
    [307, true],
    [308, true],
  ] as const) {
    const { ask, requests } = bmc({ "POST /a": [moved(status)], "POST /b?x=1": [json(200, {})] });
    assert.equal((await ask("POST", "/a", { body: { x: 1 } })).status, follows ? 200 : status);
    if (follows) assert.equal(requests.at(-1)!.body, '{"x":1}');
  }
  assert.equal((await bmc({ [A]: [json(201, {}, { location: "/b" })] }).ask()).status, 201);
  assert.equal((await bmc({ [A]: [plain(302, "")] }).ask()).status, 302);
  const around = bmc({ [A]: [moved(302, "/a")] });
  await fails(around.ask(), "Unavailable", /redirects without an end/);
  assert.equal(count(around.sent, A), 16, "four requests a try");
  await fails(bmc({ [A]: [moved(302, "https://other/b")] }).ask(), "Unavailable", /another server \(https:\/\/other\)/);
});

test("a resource is a JSON object with its ETag, from the header or from inside", async () => {
  const { connection, run } = bmc({
    "GET /h": [json(200, { "@odata.etag": '"in"' }, { etag: '"out"' })],
    "GET /i": [json(200, { "@odata.etag": '"in"' })],
    "GET /n": [json(200, { "@odata.etag": 7 })],
    "GET /list": [json(200, [])],
    "GET /null": [plain(200, "null")],
    "GET /text": [plain(200, "hello")],
    "GET /no": [plain(404, "")],
  });
  const etag = async (path: string) => (await run(connection.get(path))).etag;
  assert.deepEqual([await etag("/h"), await etag("/i"), await etag("/n")], ['"out"', '"in"', undefined]);
  for (const path of ["/list", "/null", "/text"])
    await fails(run(connection.get(path)), "Unavailable", new RegExp(`GET ${path}: the BMC answered no JSON object`));
  await fails(run(connection.get("/no")), "NotFound", /GET \/no/);
});

test("links lead to the BMC alone; what it made for us is there whatever it calls itself", () => {
  const { connection } = bmc({});
  assert.equal(connection.pathOf("https://bmc/a?b=1#c"), "/a?b=1");
  assert.equal(connection.pathOf("c", "/a/b"), "/a/c");
  assert.equal(connection.pathOf("/c"), "/c");
  assert.equal(connection.ownPathOf("http://10.0.0.1/t/1?x"), "/t/1?x");
  assert.equal(connection.ownPathOf("t/1"), "/t/1");
  assert.equal(connection.ownPathOf("http://["), "/");
  assert.throws(() => connection.pathOf("http://bmc/a"), /another server \(http:\/\/bmc\)/);
  assert.throws(() => connection.pathOf("http://["), /no URL/);
  const long = `https://${"a.".repeat(100)}b/`;
  assert.throws(
    () => connection.pathOf(long),
    (error: Error) => error.message.length < 200 + 64,
  );
});

test("what is no fault of the network is a lost answer", async () => {
  const { ask } = bmc({
    "POST /a": [
      () => {
        throw new TypeError("socket");
      },
    ],
  });
  await fails(ask("POST"), "LostAnswer", /ended before its answer came/);
});
