/** What servers refuse, as a user of the DataStore reads it: no server is needed to know their codes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Driver } from "../place.ts";
import { MysqlSession } from "./mysql-session.ts";
import { countRows } from "./postgresql-copy.ts";
import { PostgresqlSession } from "./postgresql-session.ts";

type Query = (text: string, values?: unknown[]) => Promise<unknown[]>;
type Refusal = readonly [error: object, code: Fault["code"], remedy: RegExp | undefined];

function session(driver: Driver, query: (text: string, values?: unknown[]) => Promise<unknown>): { query: Query } {
  const options = { driver, endpoints: [], clock: new VirtualClock(), log: undefined as never };
  const life = { on: `${driver} db:1`, signal: new AbortController().signal, give: new AbortController() };
  if (driver === "PostgreSQL") return new PostgresqlSession({ query } as never, options, life);
  return new MysqlSession({ promise: () => ({ query }) } as never, options, life);
}

async function refuses(driver: Driver, refusals: readonly Refusal[]): Promise<void> {
  for (const [given, code, remedy] of refusals) {
    const error = Object.assign(new Error("its own words"), given);
    const asked = session(driver, () => Promise.reject(error)).query("SELECT 1");
    const fault = await asked.then(
      () => assert.fail(),
      (found: unknown) => found as Fault,
    );
    const name = JSON.stringify(given);
    assert.equal(fault.code, code, name);
    assert.match(fault.message, new RegExp(`^${driver} db:1: `), name);
    if (remedy === undefined) assert.equal(fault.remedy, undefined, name);
    else assert.match(fault.remedy ?? "", remedy, name);
  }
}

test("each refusal of MySQL says which field or setting to correct", async () => {
  const grants = /ALL PRIVILEGES WITH GRANT OPTION/;
  const room = /free some space/;
  await refuses("MySQL", [
    [{ code: "ER_ACCESS_DENIED_ERROR" }, "BadCredentials", /correct spec.basicAuth/],
    [{ code: "ER_ACCESS_DENIED_NO_PASSWORD_ERROR" }, "BadCredentials", /^set spec.basicAuth/],
    [{ code: "ER_HOST_NOT_PRIVILEGED" }, "BadCredentials", /connect from this machine/],
    [{ code: "ER_NOT_SUPPORTED_AUTH_MODE" }, "BadCredentials", /a password that can be asked for here/],
    [{ code: "ER_DBACCESS_DENIED_ERROR" }, "BadCredentials", grants],
    [{ code: "ER_TABLEACCESS_DENIED_ERROR" }, "BadCredentials", grants],
    [{ code: "ER_SPECIFIC_ACCESS_DENIED_ERROR" }, "BadCredentials", grants],
    [{ code: "UNKNOWN_CODE_PLEASE_REPORT", errno: 1227 }, "BadCredentials", grants],
    [{ code: "ER_SECURE_TRANSPORT_REQUIRED" }, "Invalid", /set spec.tlsConfig/],
    [{ code: "HANDSHAKE_NO_SSL_SUPPORT" }, "Invalid", /remove spec.tlsConfig/],
    [{ code: "ER_CON_COUNT_ERROR" }, "Unavailable", /max_connections/],
    [{ code: "ER_SERVER_SHUTDOWN" }, "Unavailable", /tried again/],
    [{ code: "PROTOCOL_CONNECTION_LOST" }, "Unavailable", /tried again/],
    [{ code: "ER_DISK_FULL" }, "NoCapacity", room],
    [{ code: "ER_RECORD_FILE_FULL" }, "NoCapacity", room],
    [{ code: "ER_ENGINE_OUT_OF_MEMORY" }, "NoCapacity", /more memory/],
    [{ code: "ER_OPTION_PREVENTS_STATEMENT" }, "Unavailable", /read-only/],
    [{ code: "ER_WRONG_STRING_LENGTH" }, "Invalid", /32 characters/],
    [{ code: "ER_NOT_VALID_PASSWORD" }, "Invalid", /the server's rules/],
    [{ code: "ECONNREFUSED" }, "Unavailable", /spec.endpoints/],
    [{ code: "ER_PARSE_ERROR" }, "Internal", undefined],
    [{}, "Internal", undefined],
  ]);
});

test("each SQLSTATE of PostgreSQL says which field or setting to correct", async () => {
  await refuses("PostgreSQL", [
    [{ code: "28P01" }, "BadCredentials", /correct spec.basicAuth.*pg_hba.conf/],
    [{ code: "28000" }, "BadCredentials", /pg_hba.conf/],
    [{ code: "42501" }, "BadCredentials", /CREATEROLE and CREATEDB/],
    [{ code: "53100" }, "NoCapacity", /free some space/],
    [{ code: "53200" }, "NoCapacity", /free some space/],
    [{ code: "53300" }, "Unavailable", /max_connections/],
    [{ code: "57P01" }, "Unavailable", /tried again/],
    [{ code: "08006" }, "Unavailable", /tried again/],
    [{ message: "Connection terminated unexpectedly" }, "Unavailable", /tried again/],
    [{ message: "The server does not support SSL connections" }, "Invalid", /remove spec.tlsConfig/],
    [{ message: "SASL: client password must be a string" }, "BadCredentials", /^set spec.basicAuth/],
    [{ message: "no password supplied" }, "BadCredentials", /^set spec.basicAuth/],
    [{ code: "ECONNREFUSED" }, "Unavailable", /spec.endpoints/],
    [{ code: "42601" }, "Internal", undefined],
    [{}, "Internal", undefined],
  ]);
});

test("rows come as they are, an answer without rows is none, and a fault stays the one that it is", async () => {
  const asked: unknown[] = [];
  const mysql = session("MySQL", async (...of) => {
    asked.push(of);
    return [[{ a: 1 }], []];
  });
  assert.deepEqual(await mysql.query("SELECT ?", ["x"]), [{ a: 1 }]);
  assert.deepEqual(await session("MySQL", async () => [{ affectedRows: 1 }, []]).query("DROP"), []);
  const postgresql = session("PostgreSQL", async (...of) => {
    asked.push(of);
    return { rows: [{ b: 2 }] };
  });
  assert.deepEqual(await postgresql.query("SELECT $1", ["y"]), [{ b: 2 }]);
  assert.deepEqual(asked, [
    ["SELECT ?", ["x"]],
    ["SELECT $1", ["y"]],
  ]);
  const mine = new Fault("Conflict", "it", "was another's");
  for (const driver of ["MySQL", "PostgreSQL"] as const)
    await assert.rejects(session(driver, () => Promise.reject(mine)).query("X"), (error) => error === mine);
});

test("the rows of all tables are counted as the tenant's role sees them", async () => {
  const asked: string[] = [];
  const counts = new Map([
    ["kine", 2],
    ["other", 1],
  ]);
  const postgresql = session("PostgreSQL", async (text) => {
    asked.push(text);
    if (/pg_class|pg_tables/.test(text)) return { rows: [...counts.keys()].map((relname) => ({ relname })) };
    const table = /FROM public\."(.*)"/.exec(text)?.[1];
    return { rows: table === undefined ? [] : [{ rows: counts.get(table) }] };
  });
  assert.equal(await countRows(postgresql as PostgresqlSession, "tenant"), 3);
  assert.ok(asked.some((text) => /^SET ROLE "tenant"/.test(text)));
  counts.clear();
  assert.equal(await countRows(postgresql as PostgresqlSession, "tenant"), 0);
});

test("a statement's SQLSTATE is known by the fault's cause", () => {
  const fault = new Fault("Internal", "it", "x", { cause: Object.assign(new Error("x"), { code: "42P04" }) });
  assert.equal(PostgresqlSession.is(fault, "42P04", "23505"), true);
  assert.equal(PostgresqlSession.is(fault, "23505"), false);
  assert.equal(PostgresqlSession.is(new Fault("Internal", "it", "x"), "42P04"), false);
});
