/** What NATS and JetStream refuse, as a user of the DataStore reads it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { NatsSession } from "./session.ts";

function session(connection: object = {}): NatsSession {
  const options = { driver: "NATS", endpoints: [], clock: new VirtualClock(), log: undefined as never } as const;
  return new NatsSession(connection as never, options, "NATS db:1", new AbortController().signal);
}
const encoded = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const faultOf = (error: object): Fault => {
  try {
    session().answer(encoded({ error }));
  } catch (found) {
    return found as Fault;
  }
  assert.fail("it is no refusal");
};

test("what JetStream refuses is reported by its number, or by its code", () => {
  const cases: (readonly [number, number, Fault["code"], RegExp | undefined])[] = [
    [404, 10_059, "NotFound", undefined],
    ...[10_076, 10_039, 10_035].map((number) => [503, number, "Unsupported", /enable JetStream/] as const),
    ...[10_027, 10_026].map((number) => [400, number, "NoCapacity", /max_streams/] as const),
    ...[10_047, 10_023, 10_002, 10_028].map((number) => [500, number, "NoCapacity", /max_file_store/] as const),
    [503, 1, "Unavailable", undefined],
    [500, 1, "Internal", undefined],
  ];
  for (const [code, err_code, kind, remedy] of cases) {
    const fault = faultOf({ code, err_code, description: "its words" });
    assert.equal(fault.code, kind, String(err_code));
    assert.equal(fault.message, "NATS db:1: its words");
    assert.deepEqual(fault.details, { code, number: err_code });
    if (remedy === undefined) assert.equal(fault.remedy, undefined);
    else assert.match(fault.remedy!, remedy);
  }
  assert.match(faultOf({ code: 503 }).message, /no reason given/);
  assert.deepEqual(faultOf({ code: 500 }).details, { code: 500, number: 0 });
  assert.deepEqual(session().answer(encoded({ streams: [] })), { streams: [] });
});

test("what the client reports of its connection names the field to correct", async () => {
  const cases: (readonly [object, Fault["code"], RegExp | undefined])[] = [
    ...["AUTHORIZATION_VIOLATION", "AUTHENTICATION_EXPIRED", "ACCOUNT_AUTHENTICATION_EXPIRED"].map(
      (code) => [{ code }, "BadCredentials", /correct spec.basicAuth/] as const,
    ),
    [{ code: "PERMISSIONS_VIOLATION" }, "BadCredentials", /_INBOX/],
    [{ code: "503" }, "Unsupported", /enable JetStream/],
    [{ code: "SERVER_OPTION_NA" }, "Invalid", /remove spec.tlsConfig/],
    [{ code: "TLS" }, "Invalid", /look at spec.tlsConfig/],
    [{ code: "TLS", chainedError: { code: "ECONNREFUSED" } }, "Unavailable", /spec.endpoints/],
    [{ code: "CONNECTION_REFUSED" }, "Unavailable", /start the server/],
    ...["TIMEOUT", "CONNECTION_TIMEOUT", "CONNECTION_CLOSED", "DISCONNECT"].map(
      (code) => [{ code }, "Unavailable", /tried again/] as const,
    ),
    [{ code: "ECONNREFUSED" }, "Unavailable", /spec.endpoints/],
    [{ code: "OTHER" }, "Internal", undefined],
    [{}, "Internal", undefined],
  ];
  for (const [given, kind, remedy] of cases) {
    const error = Object.assign(new Error("its words"), given);
    const found = await session()
      .wait(() => Promise.reject(error))
      .then(
        () => assert.fail(),
        (fault: unknown) => fault as Fault,
      );
    assert.equal(found.code, kind, JSON.stringify(given));
    if (remedy === undefined) assert.equal(found.remedy, undefined);
    else assert.match(found.remedy ?? "", remedy, JSON.stringify(given));
  }
  const mine = new Fault("Conflict", "it", "was another's");
  await assert.rejects(
    session().wait(() => Promise.reject(mine)),
    (error) => error === mine,
  );
});

test("JetStream is asked under its own subject, and its answer read", async () => {
  const asked: unknown[] = [];
  const request = async (subject: string, payload: Uint8Array) => {
    asked.push([subject, new TextDecoder().decode(payload)]);
    return { data: encoded({ ok: true }) };
  };
  assert.deepEqual(await session({ request }).api("STREAM.NAMES", { offset: 1 }), { ok: true });
  assert.deepEqual(await session({ request }).api("INFO"), { ok: true });
  assert.deepEqual(asked, [
    ["$JS.API.STREAM.NAMES", '{"offset":1}'],
    ["$JS.API.INFO", "{}"],
  ]);
});
