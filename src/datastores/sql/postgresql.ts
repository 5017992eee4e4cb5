import { cryptoRandom, Fault } from "@slipway/base";
import pg from "pg";
import type { Datastore, DatastoreOptions } from "../datastore.ts";
import { checkPlace, type Place } from "../place.ts";
import { readMark, writeMark } from "./mark.ts";
import { copyDatabase, countRows } from "./postgresql-copy.ts";
import { PostgresqlSession, withPostgresql } from "./postgresql-session.ts";
import { scramVerifier } from "./scram.ts";

/** Where the administrator works. Every server has it. */
const MAINTENANCE = "postgres";
const [DUPLICATE_DATABASE, UNIQUE_VIOLATION, DEPENDENT_OBJECTS] = ["42P04", "23505", "2BP01"];

const name = pg.escapeIdentifier;
const text = pg.escapeLiteral;

interface Found {
  database?: { mark: ReturnType<typeof readMark>; granted: boolean };
  role?: { mark: ReturnType<typeof readMark>; powerful: boolean };
}

/**
 * Places in PostgreSQL (13 or newer): a database that the tenant does not own, and a role that may connect to it and make tables in its
 * schema `public`. Both bear a comment that names the other half; it is written with the role in one transaction, and the role goes last.
 */
export class PostgresqlDatastore implements Datastore {
  readonly driver = "PostgreSQL";
  readonly options: DatastoreOptions;

  constructor(options: DatastoreOptions) {
    this.options = options;
  }

  async check(signal: AbortSignal): Promise<void> {
    const [row] = await this.#admin(signal, (session) =>
      session.query(`SELECT rolsuper OR (rolcreaterole AND rolcreatedb) AS able, current_setting('server_version_num')::int AS version
        FROM pg_roles WHERE rolname = current_user`),
    );
    const on = `PostgreSQL ${this.options.endpoints[0]}`;
    if ((row?.version as number) < 130_000)
      throw new Fault("Unsupported", on, "it is older than PostgreSQL 13", { remedy: "upgrade the server" });
    if (row?.able !== true)
      throw new Fault("BadCredentials", on, "the user of spec.basicAuth can't make roles and databases", {
        remedy: "grant it CREATEROLE and CREATEDB",
      });
  }

  async ensure(place: Place, signal: AbortSignal): Promise<void> {
    checkPlace("PostgreSQL", place);
    const { schema, user, password } = place;
    await this.#admin(signal, async (session) => {
      const found = await this.#find(session, place);
      refuseForeign(place, found);
      if (found.database && !found.database.mark && !found.role?.mark) await this.#refuseOthersTables(schema, signal);
      if (found.role === undefined) await createRole(session, place);
      else if (found.role.mark === undefined)
        await session.query(`COMMENT ON ROLE ${name(user)} IS ${text(writeMark(place))}`);
      const verifier = password === undefined ? "NULL" : text(scramVerifier(password, cryptoRandom.bytes(16)));
      await session.query(`ALTER ROLE ${name(user)} LOGIN PASSWORD ${verifier}`);
      if (found.database === undefined)
        await session
          .query(`CREATE DATABASE ${name(schema)} TEMPLATE template0 ENCODING 'UTF8'`)
          .catch((error: unknown) => {
            if (!PostgresqlSession.is(error, DUPLICATE_DATABASE, UNIQUE_VIOLATION)) throw error;
          });
      await session.query(`COMMENT ON DATABASE ${name(schema)} IS ${text(writeMark(place))}`);
      await session.query(`REVOKE ALL ON DATABASE ${name(schema)} FROM PUBLIC`);
      await session.query(`GRANT CONNECT ON DATABASE ${name(schema)} TO ${name(user)}`);
    });
    await withPostgresql(this.options, schema, signal, async (session) => {
      await session.query("REVOKE ALL ON SCHEMA public FROM PUBLIC");
      await session.query(`GRANT USAGE, CREATE ON SCHEMA public TO ${name(user)}`);
    });
  }

  async remove(place: Place, signal: AbortSignal): Promise<string[]> {
    checkPlace("PostgreSQL", place);
    const { schema, user } = place;
    return this.#admin(signal, async (session) => {
      const left: string[] = [];
      const { database, role } = await this.#find(session, place);
      const ourRole = role?.mark?.schema === schema;
      if (role !== undefined && ourRole) await becomeMember(session, user);
      // A role's mark is only written where the database is no other's: one without a mark was made just before a death.
      if (database?.mark?.user === user || (database !== undefined && database.mark === undefined && ourRole))
        await session.query(`DROP DATABASE IF EXISTS ${name(schema)} WITH (FORCE)`);
      else if (database !== undefined) left.push(`database ${schema}: it is not marked as a place of ${user}`);
      if (role !== undefined && !ourRole) left.push(`role ${user}: it is not marked as the user of ${schema}`);
      if (role === undefined || !ourRole) return left;
      await session.query(`DROP OWNED BY ${name(user)}`);
      await session.query(`DROP ROLE IF EXISTS ${name(user)}`).catch((error: unknown) => {
        if (!PostgresqlSession.is(error, DEPENDENT_OBJECTS)) throw error;
        const detail = String((error as { cause: { detail?: string } }).cause.detail ?? "other databases");
        left.push(`role ${user}: it owns or may use objects elsewhere (${detail.split("\n")[0]})`);
      });
      return left;
    });
  }

  async places(signal: AbortSignal): Promise<string[]> {
    const rows = await this.#admin(signal, (session) =>
      session.query(`SELECT shobj_description(oid, 'pg_database') AS comment FROM pg_database
        UNION SELECT shobj_description(oid, 'pg_authid') FROM pg_roles`),
    );
    const marks = rows.map(({ comment }) => readMark(comment as string | null)?.schema);
    return [...new Set(marks.filter((schema) => schema !== undefined))].sort();
  }

  async copy(place: Place, to: Datastore, progress: (done: number) => void, signal: AbortSignal): Promise<void> {
    checkPlace("PostgreSQL", place);
    const { schema, user } = place;
    if (!(to instanceof PostgresqlDatastore))
      throw new Fault("Invalid", schema, `a database of PostgreSQL can't be copied to ${to.driver}`);
    await withPostgresql(this.options, schema, signal, (from) =>
      withPostgresql(to.options, schema, signal, (target) =>
        copyDatabase({ from, to: target, schema, user, progress }),
      ),
    );
  }

  async count(place: Place, signal: AbortSignal): Promise<number> {
    checkPlace("PostgreSQL", place);
    return await withPostgresql(this.options, place.schema, signal, (session) => countRows(session, place.user));
  }

  async close(): Promise<void> {}

  #admin<T>(signal: AbortSignal, work: (session: PostgresqlSession) => Promise<T>): Promise<T> {
    return withPostgresql(this.options, MAINTENANCE, signal, work);
  }

  async #refuseOthersTables(schema: string, signal: AbortSignal): Promise<void> {
    const others = "SELECT FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'kine' LIMIT 1";
    const found = await withPostgresql(this.options, schema, signal, (session) => session.query(others));
    if (found.length > 0) throw taken(`database ${schema}`, "it has tables that are not kine's");
  }

  async #find(session: PostgresqlSession, { schema, user }: Place): Promise<Found> {
    const [database] = await session.query(
      `SELECT shobj_description(oid, 'pg_database') AS comment,
        EXISTS (SELECT FROM pg_roles WHERE rolname = $2 AND (pg_roles.oid = datdba OR has_database_privilege(pg_roles.oid, pg_database.oid, 'CREATE')))
        AS granted FROM pg_database WHERE datname = $1`,
      [schema, user],
    );
    const [role] = await session.query(
      `SELECT shobj_description(oid, 'pg_authid') AS comment, rolname = current_user OR rolsuper OR rolcreaterole OR rolcreatedb
        OR rolreplication OR rolbypassrls AS powerful FROM pg_roles WHERE rolname = $1`,
      [user],
    );
    return {
      ...(database && {
        database: { mark: readMark(database.comment as string | null), granted: database.granted === true },
      }),
      ...(role && { role: { mark: readMark(role.comment as string | null), powerful: role.powerful === true } }),
    };
  }
}

/** The role and its mark come at once, so that none is left unmarked. */
async function createRole(session: PostgresqlSession, place: Place): Promise<void> {
  await session.query("BEGIN");
  await session.query(`CREATE ROLE ${name(place.user)} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION`);
  await session.query(`COMMENT ON ROLE ${name(place.user)} IS ${text(writeMark(place))}`);
  await session.query("COMMIT");
}

/** What belongs to a role, its connections included, may be ended by its members; a superuser is one of all. */
async function becomeMember(session: PostgresqlSession, user: string): Promise<void> {
  const [row] = await session.query("SELECT pg_has_role(current_user, $1, 'USAGE') AS member", [user]);
  if (row?.member !== true) await session.query(`GRANT ${name(user)} TO CURRENT_USER`);
}

/**
 * What is there without a mark is taken over only where user and database belong together already and the user may do nothing else; the caller
 * looks whose tables there are.
 */
function refuseForeign({ schema, user }: Place, { database, role }: Found): void {
  if (role?.powerful === true) throw taken(`role ${user}`, "it may do more than a tenant's user");
  if (role?.mark !== undefined && role.mark.schema !== schema)
    throw taken(`role ${user}`, `it is the user of the place ${role.mark.schema}`);
  if (database?.mark !== undefined && database.mark.user !== user)
    throw taken(`database ${schema}`, `it is the place of the user ${database.mark.user}`);
  const together = database?.granted === true && role !== undefined;
  if (database !== undefined && database.mark === undefined && !together && role?.mark === undefined)
    throw taken(`database ${schema}`, "it is there, and not as a tenant's");
  if (role !== undefined && role.mark === undefined && !together && database?.mark === undefined)
    throw taken(`role ${user}`, "it is there, and not as a tenant's");
}

function taken(on: string, why: string): Fault {
  return new Fault("AlreadyExists", `PostgreSQL: ${on}`, why, {
    remedy: "set another dataStoreSchema and dataStoreUsername, or remove it from the server",
  });
}
