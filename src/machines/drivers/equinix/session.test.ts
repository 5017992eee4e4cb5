import assert from "node:assert/strict";
import { test } from "node:test";
import { asFault, type Code, Fault, type Http, type HttpAnswer, type HttpRequest, json } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { PATIENCE_MS } from "../rate-limit.ts";
import { openSession, type Session } from "./session.ts";

const TOKEN = "a-very-secret-key";

/** A session with an API that gives these answers in turn, the last one for ever. */
function against(...answers: (HttpAnswer | Fault)[]): { session: Session; sent: HttpRequest[]; clock: VirtualClock } {
  const clock = new VirtualClock();
  const sent: HttpRequest[] = [];
  const http: Http = async (request) => {
    const answer = answers[Math.min(sent.length, answers.length - 1)]!;
    sent.push(request);
    if (answer instanceof Fault) throw answer;
    return answer;
  };
  return { session: openSession({ endpoint: "https://metal.test/metal/v1", token: TOKEN, http, clock }), sent, clock };
}

const call = { path: "/devices/1", on: "device 1" } as const;

async function faultOf(answer: HttpAnswer | Fault, method: "GET" | "POST" | "PUT" | "DELETE" = "GET"): Promise<Fault> {
  const { session, clock } = against(answer);
  const outcome = session({ ...call, method, mayBeDone: true }).then(
    () => assert.fail("no fault"),
    (error: unknown) => asFault(error, "test"),
  );
  await clock.run(2 * PATIENCE_MS);
  return outcome;
}

test("what goes wrong has the code that says whether it may have had its effect", async () => {
  const lost = new Fault("LostAnswer", "https", "reset");
  const table: [HttpAnswer | Fault, "GET" | "POST" | "PUT" | "DELETE", Code][] = [
    [json(401, { error: "Invalid authentication token" }), "GET", "BadCredentials"],
    [json(403, { errors: ["You are not authorized"] }), "POST", "BadCredentials"],
    [json(404, { errors: ["Not found"] }), "GET", "NotFound"],
    [json(500, {}), "GET", "Unavailable"],
    [json(503, {}), "PUT", "Unavailable"],
    [json(502, {}), "DELETE", "Unavailable"],
    [json(504, {}), "POST", "LostAnswer"],
    [json(400, { error: "bad" }), "POST", "Invalid"],
    [json(301, "", { location: "https://elsewhere.test" }), "GET", "Unavailable"],
    [lost, "POST", "LostAnswer"],
    [lost, "DELETE", "LostAnswer"],
    [lost, "GET", "Unavailable"],
    [new Fault("Unavailable", "https", "refused"), "POST", "Unavailable"],
    [{ status: 201, headers: {}, body: "<html>" }, "POST", "LostAnswer"],
    [{ status: 200, headers: {}, body: "{" }, "GET", "Unavailable"],
  ];
  for (const [answer, method, code] of table) {
    const fault = await faultOf(answer, method);
    assert.equal(fault.code, code, `${method} ${answer instanceof Fault ? answer.code : answer.status}`);
    assert.doesNotMatch(fault.advice, new RegExp(TOKEN));
  }
});

test("a refusal's text decides what it means", async () => {
  const table: [string, Code][] = [
    ["There aren't available servers in that metro", "NoCapacity"],
    ["The facility ams1 has no provisionable c3.small.x86 servers matching your criteria", "NoCapacity"],
    ["No available servers with plan m3.small.x86 in facility am2", "NoCapacity"],
    ["No available hardware reservations for plan c3.small.x86", "NoCapacity"],
    ["spot_price_max 0.1 is below the current spot price 0.2", "NoCapacity"],
    ["Maximum number of devices for this project reached", "NoCapacity"],
    ["bond0 is already configured for Layer 2", "AlreadyConfigured"],
    ["bond0 is already layer3", "AlreadyConfigured"],
    ["eth1 is already bonded", "AlreadyConfigured"],
    ["Device is locked", "Locked"],
    ["Cannot delete a device while it is provisioning", "Unavailable"],
    ["metro xx is not a valid metro", "Invalid"],
    ["hostname is forbidden", "Invalid"],
  ];
  for (const [text, code] of table) {
    const fault = await faultOf(json(422, { errors: [text] }), "POST");
    assert.equal(fault.code, code, text);
    assert.ok(fault.message.includes(text), "the user reads the API's own words");
  }
});

test("an order is never taken for done, whatever its refusal says", async () => {
  const { session } = against(json(422, { errors: ["reservation is already assigned"] }));
  await assert.rejects(session({ ...call, method: "POST" }), { code: "Invalid" });
});

test("429 is waited for as long as Retry-After says, then the call is made again", async () => {
  const { session, sent, clock } = against(json(429, {}, { "retry-after": "7" }), json(200, { id: "1" }));
  const start = clock.now();
  let answeredAt = 0;
  const outcome = session({ ...call, method: "GET" }).then((body) => {
    answeredAt = clock.now();
    return body;
  });
  await clock.run(PATIENCE_MS);
  assert.deepEqual(await outcome, { id: "1" });
  assert.equal(answeredAt - start, 7_000);
  assert.equal(sent.length, 2);
});

test("without Retry-After the reset time of the rate limit is obeyed", async () => {
  const { session, sent, clock } = against(json(429, {}), json(200, {}));
  const reset = clock.now() / 1000 + 20;
  const limited = against(json(429, {}, { "x-ratelimit-reset": String(reset) }), json(200, {}));
  const outcomes = Promise.all([session({ ...call, method: "GET" }), limited.session({ ...call, method: "GET" })]);
  await Promise.all([clock.run(19_000), limited.clock.run(19_000)]);
  assert.deepEqual([sent.length, limited.sent.length], [2, 1]);
  await limited.clock.run(2_000);
  await outcomes;
});

test("a reset time is read by the server's clock, not by one's own", async () => {
  const date = "Thu, 01 Jan 2099 00:00:00 GMT";
  const reset = String(Date.parse(date) / 1000 + 3);
  const { session, sent, clock } = against(json(429, {}, { date, "x-ratelimit-reset": reset }), json(200, {}));
  const outcome = session({ ...call, method: "GET" });
  await clock.run(4_000);
  await outcome;
  assert.equal(sent.length, 2);
});

test("an API that refuses without asking for a wait is not stormed", async () => {
  const { session, sent, clock } = against(json(429, {}, { "retry-after": "0" }));
  const outcome = assert.rejects(session({ ...call, method: "GET" }), { code: "Throttled" });
  await clock.run(2 * PATIENCE_MS);
  await outcome;
  assert.ok(sent.length <= PATIENCE_MS / 1000 + 1, `${sent.length} requests`);
});

test("a wait beyond the call's patience is handed back with the time that is left", async () => {
  const fault = await faultOf(json(429, {}, { "retry-after": "3600" }), "POST");
  assert.deepEqual([fault.code, fault.retryAfterMs], ["Throttled", 3_600_000]);
});

test("one call that was asked to wait holds back the others of the account", async () => {
  const { session, sent, clock } = against(json(429, {}, { "retry-after": "10" }), json(200, {}));
  const first = session({ ...call, method: "GET" });
  await clock.settle();
  const second = session({ ...call, method: "GET" });
  await clock.run(9_000);
  assert.equal(sent.length, 1);
  await clock.run(2_000);
  await Promise.all([first, second]);
  assert.equal(sent.length, 3);
});

test("the last request of a window is followed by a pause, not by a refusal", async () => {
  const clock = new VirtualClock();
  const reset = String(clock.now() / 1000 + 5);
  const {
    session,
    sent,
    clock: now,
  } = against(json(200, {}, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset }), json(200, {}));
  await session({ ...call, method: "GET" });
  const next = session({ ...call, method: "GET" });
  await now.run(4_000);
  assert.equal(sent.length, 1);
  await now.run(2_000);
  await next;
});

test("a caller that gives up while waiting is let go at once", async () => {
  const { session, clock } = against(json(429, {}, { "retry-after": "10" }));
  const caller = new AbortController();
  const outcome = assert.rejects(session({ ...call, method: "GET", signal: caller.signal }), /gone home/);
  await clock.settle();
  caller.abort(new Error("gone home"));
  await outcome;
  assert.equal(clock.pending, 0);
});

test("the key travels in its header and nowhere else", async () => {
  const { session, sent } = against(json(200, {}));
  await session({ ...call, method: "POST", query: { a: true }, body: { b: 1 } });
  const { headers, ...rest } = sent[0]!;
  assert.equal(headers?.["x-auth-token"], TOKEN);
  assert.doesNotMatch(JSON.stringify(rest), new RegExp(TOKEN));
  assert.equal(rest.url, "https://metal.test/metal/v1/devices/1?a=true");
});
