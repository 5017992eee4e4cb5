import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock, isFault, quietLog as log } from "@slipway/base";
import { openDatastore } from "../open.ts";
import type { Place } from "../place.ts";
import { MysqlDatastore } from "./mysql.ts";
import { type Answer, mysqlStandIn, type Script } from "./testing.ts";

const { signal } = new AbortController();
const place: Place = { schema: "team_a", user: "ann", password: "it's" };
const REGISTRY: Script[number] = [/FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'slipway_places'/, [{ 1: 1 }]];
const DATABASE: Script[number] = [/FROM information_schema.SCHEMATA/, [{ 1: 1 }]];
const ACCOUNT: Script[number] = [/FROM mysql.user/, [{ 1: 1 }]];
const listed = (name: string, user: string): Script => [
  REGISTRY,
  [/FROM slipway_places.places WHERE/, [{ name, user }]],
];
const grants = (...of: string[]): Script[number] => [/^SHOW GRANTS/, of.map((grant) => ({ Grants: grant }))];

async function rig(t: TestContext, script: Script = []) {
  const server = await mysqlStandIn();
  t.after(() => server.close());
  server.script = script;
  const basicAuth = { username: "root", password: "root" };
  const options = { driver: "MySQL" as const, endpoints: [server.endpoint], basicAuth, clock, log };
  return { server, options, store: new MysqlDatastore(options), asked: () => server.asked.splice(0) };
}

const MODE = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'";
const LOOKS = [
  "SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'team_a'",
  "SELECT 1 FROM mysql.user WHERE User = 'ann'",
  "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'slipway_places' AND TABLE_NAME = 'places'",
];
const LISTED = "SELECT name, user FROM slipway_places.places WHERE name = 'team_a' OR user = 'ann'";
const MERGED = "SELECT @@lower_case_table_names AS merged";
const OPENING = [
  MODE,
  MERGED,
  "CREATE DATABASE IF NOT EXISTS slipway_places",
  "CREATE TABLE IF NOT EXISTS slipway_places.places (name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, user VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL UNIQUE)",
];
const LISTING = [
  "INSERT IGNORE INTO slipway_places.places (name, user) VALUES ('team_a', 'ann')",
  "CREATE DATABASE IF NOT EXISTS `team_a`",
];
const GRANT = "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX ON `team\\_a`.* TO 'ann'@'%'";

test("B18 a place in MySQL is a listed database, and a user with the least rights in it; a second time the password alone is set", async (t) => {
  const { server, store, asked } = await rig(t);
  await store.ensure(place, signal);
  assert.deepEqual(asked(), [...OPENING, ...LOOKS, ...LISTING, "CREATE USER 'ann'@'%' IDENTIFIED BY 'it\\'s'", GRANT]);
  server.script = [...listed("team_a", "ann"), DATABASE, ACCOUNT];
  await store.ensure(place, signal);
  const again = "ALTER USER 'ann'@'%' IDENTIFIED BY 'it\\'s'";
  assert.deepEqual(asked(), [...OPENING, ...LOOKS, LISTED, ...LISTING, again, GRANT]);
  await assert.rejects(store.ensure({ schema: "team_a", user: "ann" }, signal), {
    code: "Invalid",
    remedy: "give the place a password",
  });
});

test("where a server takes A and a for one name, a schema in upper case is refused with what to do", async (t) => {
  const { server, store, asked } = await rig(t, [[/lower_case_table_names/, [{ merged: "1" }]]]);
  const upper = { ...place, schema: "Team" };
  await assert.rejects(store.ensure(upper, signal), { code: "Invalid", message: /'A' and 'a' in names/ });
  assert.deepEqual(asked(), [MODE, MERGED]);
  await store.ensure(place, signal);
  server.script = [[/lower_case_table_names/, [{ merged: "0" }]]];
  await store.ensure(upper, signal);
});

test("B28 what is no tenant's in MySQL is refused with what it is, and stays as it is", async (t) => {
  const { server, store, asked } = await rig(t);
  const own = "GRANT CREATE, SELECT ON `team\\_a`.* TO `ann`@`%`";
  const usage = "GRANT USAGE ON *.* TO `ann`@`%`";
  const others: Script[number] = [/TABLE_NAME <> 'kine'/, [{ 1: 1 }]];
  const foreign = "it is there, and not as a tenant's";
  const table: [Script, string][] = [
    [listed("team_a", "bob"), "database team_a: it is the place of the user bob"],
    [listed("team_b", "ann"), "user ann: it is the user of the place team_b"],
    [[DATABASE], `database team_a: ${foreign}`],
    [[ACCOUNT], `user ann: ${foreign}`],
    [[ACCOUNT, grants(usage, own)], `user ann: ${foreign}`],
    [[DATABASE, ACCOUNT], `database team_a: ${foreign}`],
    [[DATABASE, ACCOUNT, grants(usage)], `database team_a: ${foreign}`],
    [[DATABASE, ACCOUNT, grants(usage, own), others], `database team_a: ${foreign}`],
    [[DATABASE, ACCOUNT, grants(usage, own, "GRANT CREATE ON `other`.* TO `ann`@`%`")], `database team_a: ${foreign}`],
    [[DATABASE, ACCOUNT, grants(usage, "GRANT SELECT ON `team\\_a`.* TO `ann`@`%`")], `database team_a: ${foreign}`],
    [[DATABASE, ACCOUNT, [/^SHOW GRANTS/, { refused: 1141 }]], `database team_a: ${foreign}`],
  ];
  for (const [script, message] of table) {
    server.script = script;
    await assert.rejects(store.ensure(place, signal), {
      code: "AlreadyExists",
      message: `MySQL: ${message}`,
      remedy: "set another dataStoreSchema and dataStoreUsername, or remove it from the server",
    });
    assert.ok(!asked().some((each) => /^(INSERT|ALTER|GRANT|CREATE USER)/.test(each)));
  }
  for (const grant of [own, "GRANT ALL PRIVILEGES ON `team_a`.* TO `ann`@`%`"]) {
    server.script = [DATABASE, ACCOUNT, grants(usage, grant)];
    await store.ensure(place, signal);
    assert.ok(asked().includes(LISTING[0]!), "it holds kine's table alone: taken over");
  }
});

test("a place is removed from MySQL with its connections; what is not listed stays, and is named", async (t) => {
  const sessions: Script[number] = [/PROCESSLIST/, [{ id: "7" }, { id: "9" }]];
  const { server, store, asked } = await rig(t, [...listed("team_a", "ann"), sessions, [/^KILL 7/, { refused: 1094 }]]);
  assert.deepEqual(await store.remove(place, signal), []);
  assert.deepEqual(asked(), [
    MODE,
    ...LOOKS,
    LISTED,
    "DROP USER IF EXISTS 'ann'@'%'",
    "SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER = 'ann'",
    "KILL 7",
    "KILL 9",
    "DROP DATABASE IF EXISTS `team_a`",
    "DELETE FROM slipway_places.places WHERE name = 'team_a'",
  ]);
  const database = "database team_a: it is not listed as a place of ann";
  const account = "user ann: it is not listed as the user of team_a";
  for (const [script, left] of [
    [[], []],
    [[DATABASE], [database]],
    [[ACCOUNT], [account]],
    [
      [...listed("team_a", "bob"), DATABASE, ACCOUNT],
      [database, account],
    ],
  ] as [Script, string[]][]) {
    server.script = script;
    assert.deepEqual(await store.remove(place, signal), left);
    assert.ok(!asked().some((each) => /^(DROP|KILL|DELETE)/.test(each)));
  }
});

test("places in MySQL are those of the list, sorted; without a list there is none", async (t) => {
  const { server, store } = await rig(t, [REGISTRY, [/FROM slipway_places.places$/, [{ name: "b" }, { name: "a" }]]]);
  assert.deepEqual(await store.places(signal), ["a", "b"]);
  server.script = [];
  assert.deepEqual(await store.places(signal), []);
});

test("an administrator who can't make users is refused with what to grant", async (t) => {
  const { server, store, asked } = await rig(t);
  for (const right of ["ALL PRIVILEGES", "CREATE, CREATE USER"]) {
    server.script = [grants("GRANT USAGE ON *.* TO x", `GRANT ${right} ON *.* TO \`root\`@\`%\` WITH GRANT OPTION`)];
    await store.check(signal);
  }
  assert.deepEqual(asked().slice(0, 2), [MODE, "SHOW GRANTS FOR CURRENT_USER()"]);
  for (const grant of ["GRANT ALL PRIVILEGES ON *.* TO x", "GRANT ALL PRIVILEGES ON `a`.* TO x WITH GRANT OPTION"]) {
    server.script = [grants(grant)];
    await assert.rejects(store.check(signal), {
      code: "BadCredentials",
      message: `MySQL ${server.endpoint}: the user of spec.basicAuth can't make users`,
      remedy: "grant it ALL PRIVILEGES ON *.* WITH GRANT OPTION",
    });
  }
});

const TABLES: Script[number] = [/KEY_COLUMN_USAGE/, [{ name: "kine", type: "BASE TABLE", key: "id" }]];
const made = "CREATE TABLE `kine` (`id` int)";
function source(rows: Answer[], tables: Script[number] = TABLES): Script {
  const pages = [...rows];
  return [
    tables,
    [/^SHOW CREATE TABLE/, [{ Table: "kine", "Create Table": made }]],
    [/^SELECT COUNT/, [{ found: "3" }]],
    [/^SELECT \* FROM/, () => pages.shift() ?? []],
  ];
}

test("a copy has the tables as their server describes them and all their rows, read in the order of their key", async (t) => {
  const from = await rig(
    t,
    source([
      [
        { id: "1", value: "a" },
        { id: "2", value: null },
      ],
      [{ id: "3", value: "c" }],
    ]),
  );
  const to = await rig(t);
  const progress: number[] = [];
  await from.store.copy(place, to.store, (done) => progress.push(done), signal);
  assert.deepEqual(progress, [2, 3]);
  const tables = from.server.asked[1]!;
  assert.match(tables, /WHERE t.TABLE_SCHEMA = 'team_a' GROUP BY/);
  assert.deepEqual(from.asked(), [
    MODE,
    tables,
    "USE `team_a`",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    "SHOW CREATE TABLE `kine`",
    "SELECT * FROM `kine` ORDER BY `id` LIMIT 100",
    "SELECT * FROM `kine` WHERE `id` > '2' ORDER BY `id` LIMIT 100",
    "SELECT * FROM `kine` WHERE `id` > '3' ORDER BY `id` LIMIT 100",
  ]);
  const insert = "INSERT INTO `kine` (`id`, `value`) VALUES";
  assert.deepEqual(to.asked(), [
    ...[MODE, tables, "USE `team_a`", made],
    ...[`${insert} ('1', 'a'), ('2', NULL)`, `${insert} ('3', 'c')`],
  ]);
});

test("a copy is refused where the target has tables, the source what kine never makes, or the driver is another", async (t) => {
  const [from, to] = [await rig(t, source([])), await rig(t, [TABLES])];
  const copy = () => from.store.copy(place, to.store, () => {}, signal);
  await assert.rejects(copy(), { code: "Conflict", remedy: "remove the place there first" });
  for (const table of [
    { name: "odd", type: "VIEW", key: "id" },
    { name: "odd", type: "BASE TABLE", key: null },
  ]) {
    from.server.script = source([], [TABLES[0], [...(TABLES[1] as object[]), table] as never]);
    await assert.rejects(copy(), {
      code: "Unsupported",
      remedy: "copy the database with mysqldump",
      message: /: odd is/,
    });
  }
  const other = await openDatastore({ ...from.options, driver: "PostgreSQL" });
  await assert.rejects(
    from.store.copy(place, other, () => {}, signal),
    /can't be copied to PostgreSQL/,
  );
});

test("rows are counted table by table, and a name that MySQL does not take is refused", async (t) => {
  const two = [
    { name: "kine", type: "BASE TABLE", key: "id" },
    { name: "more", type: "BASE TABLE", key: null },
  ];
  const { store, asked } = await rig(t, source([], [TABLES[0], two]));
  assert.equal(await store.count(place, signal), 6);
  assert.deepEqual(
    asked().slice(2),
    ["kine", "more"].map((name) => `SELECT COUNT(*) AS found FROM \`team_a\`.\`${name}\``),
  );
  const wrong = { ...place, schema: "mysql" };
  for (const use of [
    () => store.ensure(wrong, signal),
    () => store.remove(wrong, signal),
    () => store.count(wrong, signal),
    () => store.copy(wrong, store, () => {}, signal),
  ])
    await assert.rejects(use(), { code: "Invalid" });
});

test("each statement's refusal within a place's life is passed on", async (t) => {
  const { store: to } = await rig(t);
  const own = grants("GRANT CREATE ON `team\\_a`.* TO `ann`@`%`");
  const admin = grants("GRANT ALL PRIVILEGES ON *.* TO x WITH GRANT OPTION");
  const works: [() => Script, (store: MysqlDatastore) => Promise<unknown>, RegExp?][] = [
    [() => [], (store) => store.ensure(place, signal)],
    // An account whose grants can't be read is taken as foreign.
    [() => [DATABASE, ACCOUNT, own], (store) => store.ensure(place, signal), /^SHOW GRANTS/],
    [() => [...listed("team_a", "ann"), DATABASE, ACCOUNT], (store) => store.ensure(place, signal)],
    [() => listed("team_a", "ann"), (store) => store.remove(place, signal)],
    [() => listed("team_a", "ann"), (store) => store.places(signal)],
    [() => [admin], (store) => store.check(signal)],
    [() => source([]), (store) => store.count(place, signal)],
    [() => source([[{ id: "1" }]]), (store) => store.copy(place, to, () => {}, signal)],
  ];
  for (const [script, work, except] of works) {
    const { server, store } = await rig(t, script());
    await work(store);
    for (const [at, statement] of server.asked.entries()) {
      if (except?.test(statement)) continue;
      const refusing = await rig(t, script());
      refusing.server.refuseAt = at;
      await assert.rejects(work(refusing.store), (error) => isFault(error, "Unavailable"), statement);
    }
  }
  for (const at of [0, 1, 2, 3, 4]) {
    const { store: from } = await rig(t, source([[{ id: "1" }]]));
    const refusing = await rig(t);
    refusing.server.refuseAt = at;
    await assert.rejects(
      from.copy(place, refusing.store, () => {}, signal),
      (error) => isFault(error, "Unavailable"),
    );
  }
});

test("B24 a server that is not there is unavailable; the next endpoint is tried", async (t) => {
  const { server, options } = await rig(t);
  const nowhere = new MysqlDatastore({ ...options, endpoints: ["127.0.0.1:1"] });
  await assert.rejects(nowhere.places(signal), { code: "Unavailable" });
  const second = new MysqlDatastore({ ...options, endpoints: ["127.0.0.1:1", server.endpoint] });
  assert.deepEqual(await second.places(signal), []);
});
