import { Fault } from "@slipway/base";
import type { Datastore, DatastoreOptions } from "../datastore.ts";
import { checkPlace, type Place } from "../place.ts";
import { copyTables, countRows } from "./mysql-copy.ts";
import { type MysqlSession, withMysql } from "./mysql-session.ts";

const REGISTRY = "slipway_places";
const COLUMN = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL";
/** What kine does: no DROP, so that a tenant can't remove its database, and nothing that runs at the server. */
const RIGHTS = "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX";

interface Found {
  /** The registry's line of this schema, and the schema that it has for this user. */
  userOfSchema: string | undefined;
  schemaOfUser: string | undefined;
  database: boolean;
  account: boolean;
}

/**
 * Places in MySQL and MariaDB: a database, and a user who may read, write and make tables in it. Neither can bear a mark on every server,
 * so a table of our own (`slipway_places.places`) lists them: a line comes first and goes last.
 */
export class MysqlDatastore implements Datastore {
  readonly driver = "MySQL";
  readonly options: DatastoreOptions;

  constructor(options: DatastoreOptions) {
    this.options = options;
  }

  async check(signal: AbortSignal): Promise<void> {
    const grants = await this.#with(signal, (session) => grantsOf(session, "CURRENT_USER()"));
    if (grants.some((grant) => /(ALL PRIVILEGES|CREATE USER).* ON \*\.\* .*WITH GRANT OPTION/.test(grant))) return;
    throw new Fault(
      "BadCredentials",
      `MySQL ${this.options.endpoints[0]}`,
      "the user of spec.basicAuth can't make users",
      {
        remedy: "grant it ALL PRIVILEGES ON *.* WITH GRANT OPTION",
      },
    );
  }

  async ensure(place: Place, signal: AbortSignal): Promise<void> {
    checkPlace("MySQL", place);
    const { schema, user, password } = place;
    if (password === undefined)
      throw new Fault("Invalid", user, "a user of MySQL needs a password", { remedy: "give the place a password" });
    await this.#with(signal, async (session) => {
      await refuseMerged(session, schema);
      await session.query(`CREATE DATABASE IF NOT EXISTS ${REGISTRY}`);
      await session.query(
        `CREATE TABLE IF NOT EXISTS ${REGISTRY}.places (name VARCHAR(64) ${COLUMN} PRIMARY KEY, user VARCHAR(128) ${COLUMN} UNIQUE)`,
      );
      const found = await this.#find(session, place);
      await refuseForeign(session, place, found);
      await session.query(`INSERT IGNORE INTO ${REGISTRY}.places (name, user) VALUES (?, ?)`, [schema, user]);
      await session.query(`CREATE DATABASE IF NOT EXISTS ${quoted(schema)}`);
      if (found.account) await session.query("ALTER USER ?@'%' IDENTIFIED BY ?", [user, password]);
      else await session.query("CREATE USER ?@'%' IDENTIFIED BY ?", [user, password]);
      await session.query(`GRANT ${RIGHTS} ON ${quoted(pattern(schema))}.* TO ?@'%'`, [user]);
    });
  }

  async remove(place: Place, signal: AbortSignal): Promise<string[]> {
    checkPlace("MySQL", place);
    const { schema, user } = place;
    return this.#with(signal, async (session) => {
      const found = await this.#find(session, place);
      if (found.userOfSchema !== user) {
        const left: string[] = [];
        if (found.database) left.push(`database ${schema}: it is not listed as a place of ${user}`);
        if (found.account) left.push(`user ${user}: it is not listed as the user of ${schema}`);
        return left;
      }
      await session.query("DROP USER IF EXISTS ?@'%'", [user]);
      // Who is connected stays so without an account, and an open transaction holds the database back.
      const sessions = await session.query("SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER = ?", [
        user,
      ]);
      for (const { id } of sessions) await session.query("KILL ?", [Number(id)]).catch(() => {});
      await session.query(`DROP DATABASE IF EXISTS ${quoted(schema)}`);
      await session.query(`DELETE FROM ${REGISTRY}.places WHERE name = ?`, [schema]);
      return [];
    });
  }

  async places(signal: AbortSignal): Promise<string[]> {
    const rows = await this.#with(signal, async (session) =>
      (await hasRegistry(session)) ? session.query(`SELECT name FROM ${REGISTRY}.places`) : [],
    );
    return rows.map(({ name }) => String(name)).sort();
  }

  async copy(place: Place, to: Datastore, progress: (done: number) => void, signal: AbortSignal): Promise<void> {
    checkPlace("MySQL", place);
    if (!(to instanceof MysqlDatastore))
      throw new Fault("Invalid", place.schema, `a database of MySQL can't be copied to ${to.driver}`);
    await this.#with(signal, (from) =>
      withMysql(to.options, signal, (target) => copyTables({ from, to: target, schema: place.schema, progress })),
    );
  }

  async count(place: Place, signal: AbortSignal): Promise<number> {
    checkPlace("MySQL", place);
    return await this.#with(signal, (session) => countRows(session, place.schema));
  }

  async close(): Promise<void> {}

  #with<T>(signal: AbortSignal, work: (session: MysqlSession) => Promise<T>): Promise<T> {
    return withMysql(this.options, signal, work);
  }

  async #find(session: MysqlSession, { schema, user }: Place): Promise<Found> {
    const [database] = await session.query("SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?", [schema]);
    const [account] = await session.query("SELECT 1 FROM mysql.user WHERE User = ?", [user]);
    const listed = (await hasRegistry(session))
      ? await session.query(`SELECT name, user FROM ${REGISTRY}.places WHERE name = ? OR user = ?`, [schema, user])
      : [];
    return {
      userOfSchema: listed.find(({ name }) => name === schema)?.user as string | undefined,
      schemaOfUser: listed.find((row) => row.user === user)?.name as string | undefined,
      database: database !== undefined,
      account: account !== undefined,
    };
  }
}

async function hasRegistry(session: MysqlSession): Promise<boolean> {
  const rows = await session.query(
    "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = 'places'",
    [REGISTRY],
  );
  return rows.length > 0;
}

async function grantsOf(session: MysqlSession, account: string, values: unknown[] = []): Promise<string[]> {
  const rows = await session.query(`SHOW GRANTS FOR ${account}`, values);
  return rows.map((row) => String(Object.values(row)[0]));
}

/** Some servers take `A` and `a` for one database. */
async function refuseMerged(session: MysqlSession, schema: string): Promise<void> {
  const [row] = await session.query("SELECT @@lower_case_table_names AS merged");
  if (Number(row?.merged) !== 0 && schema !== schema.toLowerCase())
    throw new Fault(
      "Invalid",
      `dataStoreSchema ${schema}`,
      "this server makes no difference between 'A' and 'a' in names",
      {
        remedy: "make the tenant anew with a dataStoreSchema in lower case, which can't be changed",
      },
    );
}

/** What is there and not listed is taken over only where the user may make tables in this database and nothing else, and kine alone did. */
async function refuseForeign(session: MysqlSession, { schema, user }: Place, found: Found): Promise<void> {
  if (found.userOfSchema === user) return;
  if (found.userOfSchema !== undefined)
    throw taken(`database ${schema}`, `it is the place of the user ${found.userOfSchema}`);
  if (found.schemaOfUser !== undefined)
    throw taken(`user ${user}`, `it is the user of the place ${found.schemaOfUser}`);
  if (!found.database && !found.account) return;
  const on = new Set([quoted(schema), quoted(pattern(schema))]);
  const grants = found.account ? await grantsOf(session, "?@'%'", [user]).catch(() => []) : [];
  const rights = grants.filter((grant) => !/^GRANT USAGE ON \*\.\*/.test(grant));
  const together =
    rights.length > 0 &&
    rights.every((grant) => on.has(/ (?:ALL PRIVILEGES|CREATE)\b.* ON (.*)\.\* TO /.exec(grant)?.[1] ?? ""));
  if (found.database && together && (await holdsOnlyKine(session, schema))) return;
  if (found.database) throw taken(`database ${schema}`, "it is there, and not as a tenant's");
  throw taken(`user ${user}`, "it is there, and not as a tenant's");
}

async function holdsOnlyKine(session: MysqlSession, schema: string): Promise<boolean> {
  const others = "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME <> 'kine' LIMIT 1";
  return (await session.query(others, [schema])).length === 0;
}

function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

/** In GRANT a database's name is a pattern: without this `a_b` would also be `axb`. */
function pattern(schema: string): string {
  return schema.replaceAll(/[\\_%]/g, "\\$&");
}

function taken(on: string, why: string): Fault {
  return new Fault("AlreadyExists", `MySQL: ${on}`, why, {
    remedy: "set another dataStoreSchema and dataStoreUsername, or remove it from the server",
  });
}
