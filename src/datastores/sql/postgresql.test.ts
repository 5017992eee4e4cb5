import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock, isFault, quietLog as log } from "@slipway/base";
import { openDatastore } from "../open.ts";
import type { Place } from "../place.ts";
import { writeMark } from "./mark.ts";
import { PostgresqlDatastore } from "./postgresql.ts";
import { type Answer, postgresqlStandIn, type Script } from "./testing.ts";

const { signal } = new AbortController();
const place: Place = { schema: "team_a", user: "ann", password: "secret" };
const MARK = `'${writeMark(place)}'`;
const [DATABASE, ROLE] = [/FROM pg_database WHERE datname/, /FROM pg_roles WHERE rolname = \$1/];

async function rig(t: TestContext, script: Script = []) {
  const server = await postgresqlStandIn();
  t.after(() => server.close());
  server.script = script;
  const basicAuth = { username: "root", password: "root" };
  const options = { driver: "PostgreSQL" as const, endpoints: [server.endpoint], basicAuth, clock, log };
  const store = new PostgresqlDatastore(options);
  /** What was asked since the last time, looks in short. */
  const asked = (): string[] =>
    server.asked
      .splice(0)
      .map((each) =>
        each.replace(/^SELECT (?:.* )?FROM (pg_\w+) WHERE .*$/, "look at $1").replace(/SCRAM-SHA-256\$.*'/, "…'"),
      );
  return { server, store, options, asked };
}

/** What is there already: comments of the database and the role, and what else is known of them. */
function there(
  database?: { comment?: string; granted?: boolean },
  role?: { comment?: string; powerful?: boolean },
): Script {
  return [
    [DATABASE, database === undefined ? [] : [{ comment: null, granted: false, ...database }]],
    [ROLE, role === undefined ? [] : [{ comment: null, powerful: false, ...role }]],
  ];
}

const LOOKS = ["-- root in postgres", "look at pg_database", "look at pg_roles"];
const RIGHTS = [
  `COMMENT ON DATABASE "team_a" IS ${MARK}`,
  `REVOKE ALL ON DATABASE "team_a" FROM PUBLIC`,
  `GRANT CONNECT ON DATABASE "team_a" TO "ann"`,
  "-- root in team_a",
  "REVOKE ALL ON SCHEMA public FROM PUBLIC",
  `GRANT USAGE, CREATE ON SCHEMA public TO "ann"`,
];
const LOGIN = `ALTER ROLE "ann" LOGIN PASSWORD '…'`;
const ours = { comment: writeMark(place) };

test("B18 a place in PostgreSQL is a marked database and a marked role with the least rights; no password is in a statement", async (t) => {
  const { server, store, asked } = await rig(t);
  await store.ensure(place, signal);
  assert.ok(!server.asked.join().includes("secret"));
  assert.deepEqual(asked(), [
    ...LOOKS,
    "BEGIN",
    `CREATE ROLE "ann" NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION`,
    `COMMENT ON ROLE "ann" IS ${MARK}`,
    "COMMIT",
    LOGIN,
    `CREATE DATABASE "team_a" TEMPLATE template0 ENCODING 'UTF8'`,
    ...RIGHTS,
  ]);
  server.script = there(ours, ours);
  await store.ensure(place, signal);
  assert.deepEqual(asked(), [...LOOKS, LOGIN, ...RIGHTS]);
  const { password: _, ...certified } = place;
  await store.ensure(certified, signal);
  assert.ok(asked().includes(`ALTER ROLE "ann" LOGIN PASSWORD NULL`));
});

test("a database that another Slipway makes at the same moment is taken as made; another refusal is passed on", async (t) => {
  const { server, store } = await rig(t);
  const making = (refused: string): Script => [[/^CREATE DATABASE/, { refused }]];
  for (const state of ["42P04", "23505"]) {
    server.script = making(state);
    await store.ensure(place, signal);
  }
  server.script = making("42501");
  await assert.rejects(store.ensure(place, signal), { code: "BadCredentials" });
});

test("B28 what is no tenant's in PostgreSQL is refused with what it is, and stays as it is", async (t) => {
  const { server, store, asked } = await rig(t);
  const other = { comment: writeMark({ schema: "team_b", user: "bob" }) };
  const table: [Parameters<typeof there>, string][] = [
    [[undefined, { powerful: true }], "role ann: it may do more than a tenant's user"],
    [[undefined, other], "role ann: it is the user of the place team_b"],
    [[other], "database team_a: it is the place of the user bob"],
    [[{}], "database team_a: it is there, and not as a tenant's"],
    [[{ granted: true }], "database team_a: it is there, and not as a tenant's"],
    [[{}, {}], "database team_a: it is there, and not as a tenant's"],
    [[undefined, {}], "role ann: it is there, and not as a tenant's"],
  ];
  for (const [of, message] of table) {
    server.script = there(...of);
    await assert.rejects(store.ensure(place, signal), {
      code: "AlreadyExists",
      message: `PostgreSQL: ${message}`,
      remedy: "set another dataStoreSchema and dataStoreUsername, or remove it from the server",
    });
    assert.deepEqual(asked(), LOOKS);
  }
});

test("a database and a role that belong together and hold kine's table alone are taken over, and get their marks", async (t) => {
  const { server, store, asked } = await rig(t, there({ granted: true }, {}));
  await store.ensure(place, signal);
  const look = ["-- root in team_a", "look at pg_tables"];
  assert.deepEqual(asked(), [...LOOKS, ...look, `COMMENT ON ROLE "ann" IS ${MARK}`, LOGIN, ...RIGHTS]);
  server.script = [...there({ granted: true }, {}), [/pg_tables/, [{ tablename: "orders" }]]];
  await assert.rejects(store.ensure(place, signal), /database team_a: it has tables that are not kine's/);
  server.script = there({}, ours);
  server.asked.length = 0;
  await store.ensure(place, signal);
  assert.ok(!server.asked.some((each) => each.includes("pg_tables")), "a death left it without its mark");
  server.asked.length = 0;
  server.script = there(ours, {});
  await store.ensure(place, signal);
  assert.ok(server.asked.includes(`COMMENT ON ROLE "ann" IS ${MARK}`));
});

test("a place is removed from PostgreSQL with its connections and its role; what is not marked stays, and is named", async (t) => {
  const { server, store, asked } = await rig(t, [...there(ours, ours), [/pg_has_role/, [{ member: false }]]]);
  const [drop, member] = [
    `DROP DATABASE IF EXISTS "team_a" WITH (FORCE)`,
    "SELECT pg_has_role(current_user, $1, 'USAGE') AS member [\"ann\"]",
  ];
  const role = [`DROP OWNED BY "ann"`, `DROP ROLE IF EXISTS "ann"`];
  assert.deepEqual(await store.remove(place, signal), []);
  assert.deepEqual(asked(), [...LOOKS, member, `GRANT "ann" TO CURRENT_USER`, drop, ...role]);
  const removed = async (of: Parameters<typeof there>): Promise<[string[], string[]]> => {
    server.script = [...there(...of), [/pg_has_role/, [{ member: true }]]];
    const left = await store.remove(place, signal);
    return [left, asked().slice(LOOKS.length)];
  };
  assert.deepEqual(await removed([undefined, ours]), [[], [member, ...role]]);
  assert.deepEqual(await removed([{}, ours]), [[], [member, drop, ...role]], "made just before a death");
  assert.deepEqual(await removed([ours]), [[], [drop]]);
  assert.deepEqual(await removed([]), [[], []]);
  const other = { comment: writeMark({ schema: "team_b", user: "bob" }) };
  const marked = "database team_a: it is not marked as a place of ann";
  const user = "role ann: it is not marked as the user of team_a";
  assert.deepEqual(await removed([{}]), [[marked], []]);
  assert.deepEqual(await removed([other, {}]), [[marked, user], []]);
  assert.deepEqual(await removed([ours, other]), [[user], [drop]]);
});

test("a role that owns objects elsewhere stays, and they are named", async (t) => {
  const refusal = (more: object): Answer => ({ refused: "2BP01", ...more });
  const { server, store } = await rig(t);
  const dropping = (answer: Answer): void => {
    server.script = [[/^DROP ROLE/, answer], ...there(ours, ours)];
  };
  dropping(refusal({ detail: "owner of table x in database y\nand more" }));
  const left = (why: string) => [`role ann: it owns or may use objects elsewhere (${why})`];
  assert.deepEqual(await store.remove(place, signal), left("owner of table x in database y"));
  dropping(refusal({}));
  assert.deepEqual(await store.remove(place, signal), left("other databases"));
  dropping({ refused: "42501" });
  await assert.rejects(store.remove(place, signal), { code: "BadCredentials" });
});

test("each statement's refusal within a place's life is passed on", async (t) => {
  const { server: target, store: to } = await rig(t);
  const works: [Script, (store: PostgresqlDatastore) => Promise<unknown>][] = [
    [[], (store) => store.ensure(place, signal)],
    [there({ granted: true }, {}), (store) => store.ensure(place, signal)],
    [there(ours, ours), (store) => store.remove(place, signal)],
    [[], (store) => store.places(signal)],
    [[[/rolsuper OR/, [{ able: true, version: 160_000 }]]], (store) => store.check(signal)],
    [ROWS, (store) => store.count(place, signal)],
    [ROWS, (store) => store.copy(place, to, () => {}, signal)],
  ];
  for (const [script, work] of works) {
    const { server, store } = await rig(t, script);
    await work(store);
    for (let at = server.asked.filter((each) => !each.startsWith("--")).length - 1; at >= 0; at--) {
      const refusing = await rig(t, script);
      refusing.server.refuseAt = at;
      await assert.rejects(work(refusing.store), (error) => isFault(error, "Unavailable"), server.asked[at]);
    }
  }
  const { store: from } = await rig(t, ROWS);
  const count = target.asked.length;
  target.asked.length = 0;
  await from.copy(place, to, () => {}, signal);
  const statements = target.asked.filter((each) => !each.startsWith("--")).length;
  assert.ok(statements > 5 && count > statements);
  for (let at = 0; at < statements; at++) {
    const refusing = await rig(t);
    refusing.server.refuseAt = at;
    await assert.rejects(
      from.copy(place, refusing.store, () => {}, signal),
      (error) => isFault(error, "Unavailable"),
    );
  }
});

test("places in PostgreSQL are those whose database or role has our mark, each once, sorted", async (t) => {
  const comments = [null, "a comment", writeMark({ schema: "b", user: "x" }), writeMark({ schema: "a", user: "y" })];
  const rows = [...comments, comments[2]].map((comment) => ({ comment }));
  const { store } = await rig(t, [[/shobj_description/, rows]]);
  assert.deepEqual(await store.places(signal), ["a", "b"]);
});

test("an administrator who can't make roles, and a server that is too old, are refused with what to do", async (t) => {
  const { server, store } = await rig(t);
  const of = (row: object | undefined): void => {
    server.script = [[/rolsuper OR/, row === undefined ? [] : [row as never]]];
  };
  of({ able: true, version: 130_000 });
  await store.check(signal);
  of({ able: true, version: 129_999 });
  await assert.rejects(store.check(signal), { code: "Unsupported", remedy: "upgrade the server" });
  for (const row of [{ able: false, version: 160_000 }, undefined]) {
    of(row);
    await assert.rejects(store.check(signal), {
      code: "BadCredentials",
      message: `PostgreSQL ${server.endpoint}: the user of spec.basicAuth can't make roles and databases`,
      remedy: "grant it CREATEROLE and CREATEDB",
    });
  }
});

const KINE_COLUMNS = [
  {
    attname: "id",
    type: "bigint",
    attnotnull: true,
    preset: "nextval('x')",
    sequence: "public.kine_id_seq",
    collation: null,
  },
  { attname: "name", type: "text", attnotnull: false, preset: null, sequence: null, collation: '"C"' },
  { attname: "lease", type: "integer", attnotnull: true, preset: "0", sequence: null, collation: null },
];
function pages(...of: number[]): (statement: string) => Answer {
  const left = [...of];
  return () => Array.from({ length: left.shift() ?? 0 }, (_, i) => ({ c0: `${i}`, c1: `n${i}`, c2: null }));
}
const TABLES: Script[number] = [/relkind = 'r' ORDER BY/, [{ relname: "kine" }]];
const ROWS: Script = [
  [/pg_has_role/, [{ member: true }]],
  TABLES,
  [/FROM pg_attribute/, KINE_COLUMNS],
  [/FROM pg_constraint WHERE conrelid/, [{ conname: "kine_pkey", definition: "PRIMARY KEY (id)" }]],
  [/FROM pg_index/, [{ definition: "CREATE INDEX kine_name ON public.kine (name)" }]],
  [/count\(\*\)/, [{ rows: 3 }]],
  [/last_value/, [{ last: "41", called: true }]],
];

test("a copy has the tables, rows, constraints, indexes and counters of the source, in one transaction on each side", async (t) => {
  const from = await rig(t, [[/^FETCH 100/, pages(2, 1)], ...ROWS]);
  const to = await rig(t);
  const progress: number[] = [];
  await from.store.copy(place, to.store, (done) => progress.push(done), signal);
  assert.deepEqual(progress, [2, 3]);
  const member = "SELECT pg_has_role(current_user, $1, 'MEMBER') AS member [\"ann\"]";
  const insert = `INSERT INTO public."kine" ("id", "name", "lease") SELECT c0::bigint, c1::text, c2::integer FROM unnest($1::text[], $2::text[], $3::text[]) AS page(c0, c1, c2)`;
  assert.deepEqual(to.asked(), [
    "-- root in team_a",
    member,
    `GRANT "ann" TO CURRENT_USER`,
    `SET ROLE "ann"`,
    "BEGIN",
    "look at pg_class",
    `CREATE TABLE public."kine" ("id" BIGSERIAL NOT NULL, "name" text COLLATE "C", "lease" integer NOT NULL DEFAULT 0)`,
    `${insert} ${JSON.stringify(['{"0","1"}', '{"n0","n1"}', "{NULL,NULL}"])}`,
    `${insert} ${JSON.stringify(['{"0"}', '{"n0"}', "{NULL}"])}`,
    `ALTER TABLE public."kine" ADD CONSTRAINT "kine_pkey" PRIMARY KEY (id)`,
    "CREATE INDEX kine_name ON public.kine (name)",
    `SELECT setval(pg_get_serial_sequence('public."kine"', 'id'), $1::bigint, $2::boolean) ["41","true"]`,
    "COMMIT",
  ]);
  const asked = from.asked();
  assert.deepEqual(asked.slice(0, 4), [
    "-- root in team_a",
    member,
    `SET ROLE "ann"`,
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
  ]);
  assert.ok(
    asked.includes(
      `DECLARE page CURSOR FOR SELECT "id"::text AS c0, "name"::text AS c1, "lease"::text AS c2 FROM public."kine"`,
    ),
  );
  assert.equal(asked.filter((each) => each === "FETCH 100 FROM page").length, 3);
  assert.deepEqual(asked.slice(-2), [
    "SELECT last_value::text AS last, is_called AS called FROM public.kine_id_seq",
    "COMMIT",
  ]);
  assert.ok(asked.includes("CLOSE page"));
});

test("numbers of other widths keep their kind of counter, and a column that counts otherwise keeps its type", async (t) => {
  const column = (attname: string, type: string) => ({ ...KINE_COLUMNS[0]!, attname, type, attnotnull: false });
  const columns = [column("a", "smallint"), column("b", "integer"), column("c", "numeric")];
  const from = await rig(t, [[/FROM pg_attribute/, columns], ...ROWS]);
  const to = await rig(t);
  await from.store.copy(place, to.store, () => {}, signal);
  const made = to.server.asked.find((each) => each.startsWith("CREATE TABLE"));
  assert.equal(made, `CREATE TABLE public."kine" ("a" SMALLSERIAL, "b" SERIAL, "c" numeric)`);
});

test("a copy is refused where the target has tables, the source what kine never makes, or the driver is another", async (t) => {
  const [from, to] = [await rig(t, ROWS), await rig(t, [TABLES])];
  const copy = () => from.store.copy(place, to.store, () => {}, signal);
  await assert.rejects(copy(), { code: "Conflict", remedy: "remove the place there first" });
  from.server.script = [[/NOT IN \('r'/, [{ relname: "a_view" }]], ...ROWS];
  await assert.rejects(copy(), { code: "Unsupported", message: "database team_a: a_view is no table" });
  const other = await openDatastore({ ...from.options, driver: "MySQL" });
  await assert.rejects(
    from.store.copy(place, other, () => {}, signal),
    /can't be copied to MySQL/,
  );
});

test("rows are counted as the tenant's role sees them, in the tenant's database", async (t) => {
  const { store, asked } = await rig(t, ROWS);
  assert.equal(await store.count(place, signal), 3);
  const [database, ...rest] = asked();
  assert.equal(database, "-- root in team_a");
  assert.equal(rest.at(-1), `SELECT count(*)::float8 AS rows FROM public."kine"`);
  const wrong = { ...place, schema: "Team" };
  for (const use of [
    () => store.ensure(wrong, signal),
    () => store.remove(wrong, signal),
    () => store.count(wrong, signal),
    () => store.copy(wrong, store, () => {}, signal),
  ])
    await assert.rejects(use(), { code: "Invalid" });
});

test("B24 a server that goes away, and one that is not there, is unavailable; the next endpoint is tried", async (t) => {
  const { server, options } = await rig(t, [[/shobj/, [{ comment: writeMark({ schema: "a", user: "y" }) }]]]);
  const nowhere = new PostgresqlDatastore({ ...options, endpoints: ["127.0.0.1:1"] });
  await assert.rejects(nowhere.places(signal), { code: "Unavailable" });
  const second = new PostgresqlDatastore({ ...options, endpoints: ["127.0.0.1:1", server.endpoint] });
  assert.deepEqual(await second.places(signal), ["a"]);
});
