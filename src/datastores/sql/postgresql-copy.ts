import { Fault } from "@slipway/base";
import pg from "pg";
import type { PostgresqlSession, Row } from "./postgresql-session.ts";

export interface CopyDatabase {
  from: PostgresqlSession;
  to: PostgresqlSession;
  schema: string;
  user: string;
  progress(done: number): void;
}

interface Table {
  /** With its schema, quoted. */
  name: string;
  columns: readonly Column[];
}

interface Column {
  name: string;
  /** As `CREATE TABLE` takes it, collation included. */
  declaration: string;
  type: string;
  /** Its sequence, where numbers are given out by one. */
  sequence: string | null;
}

const PAGE = 100;
const name = pg.escapeIdentifier;
const text = pg.escapeLiteral;

const OTHERS = `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('r', 'i', 'S', 't') LIMIT 1`;
const TABLES = `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`;
const COLUMNS = `SELECT attname, format_type(atttypid, atttypmod) AS type, attnotnull, pg_get_expr(adbin, adrelid) AS preset,
    pg_get_serial_sequence(attrelid::regclass::text, attname) AS sequence,
    (SELECT quote_ident(collname) FROM pg_collation WHERE oid = attcollation AND collname <> 'default') AS collation
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;
const CONSTRAINTS = `SELECT conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
  WHERE conrelid = $1::regclass AND contype IN ('p', 'u', 'c') ORDER BY conname`;
const INDEXES = `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index
  WHERE indrelid = $1::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indexrelid`;

/**
 * Copies the tables of a database's schema `public` with rows, sequences and indexes, as the tenant's role, which owns them after that. One
 * transaction on each side: it is whole or not there. Rejects with `Conflict` where the target has tables, with `Unsupported` where the
 * source has what kine never makes.
 */
export async function copyDatabase({ from, to, schema, user, progress }: CopyDatabase): Promise<void> {
  for (const session of [from, to]) await become(session, user);
  await from.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  await to.query("BEGIN");
  const [other] = await from.query(OTHERS);
  if (other !== undefined)
    throw new Fault("Unsupported", `database ${schema}`, `${String(other.relname)} is no table`, {
      remedy: "copy the database with pg_dump",
    });
  if ((await to.query(TABLES)).length > 0)
    throw new Fault("Conflict", `database ${schema}`, "there are tables in the server that it is copied to", {
      remedy: "remove the place there first",
    });
  let done = 0;
  for (const { relname } of await from.query(TABLES)) {
    const table = await tableOf(from, `public.${name(String(relname))}`);
    await to.query(`CREATE TABLE ${table.name} (${table.columns.map(({ declaration }) => declaration).join(", ")})`);
    done = await copyRows(from, to, table, (rows) => progress(done + rows)).then((rows) => done + rows);
    for (const { conname, definition } of await from.query(CONSTRAINTS, [table.name]))
      await to.query(`ALTER TABLE ${table.name} ADD CONSTRAINT ${name(String(conname))} ${String(definition)}`);
    for (const { definition } of await from.query(INDEXES, [table.name])) await to.query(String(definition));
    await copySequences(from, to, table);
  }
  await to.query("COMMIT");
  await from.query("COMMIT");
}

/** How many rows the tables of a database's schema `public` have, as its tenant's role sees them. */
export async function countRows(session: PostgresqlSession, user: string): Promise<number> {
  await become(session, user);
  let count = 0;
  for (const { relname } of await session.query(TABLES)) {
    const [row] = await session.query(`SELECT count(*)::float8 AS rows FROM public.${name(String(relname))}`);
    count += Number(row!.rows);
  }
  return count;
}

/** The tables are the tenant's: no administrator but a superuser reads them as itself. */
async function become(session: PostgresqlSession, user: string): Promise<void> {
  const [row] = await session.query("SELECT pg_has_role(current_user, $1, 'MEMBER') AS member", [user]);
  if (row?.member !== true) await session.query(`GRANT ${name(user)} TO CURRENT_USER`);
  await session.query(`SET ROLE ${name(user)}`);
}

async function tableOf(from: PostgresqlSession, table: string): Promise<Table> {
  return { name: table, columns: (await from.query(COLUMNS, [table])).map(columnOf) };
}

function columnOf({ attname, type, attnotnull, preset, sequence, collation }: Row): Column {
  const column = { name: String(attname), type: String(type), sequence: sequence === null ? null : String(sequence) };
  const serial = { smallint: "SMALLSERIAL", integer: "SERIAL", bigint: "BIGSERIAL" }[column.type];
  const words = [name(column.name), column.sequence !== null && serial ? serial : column.type];
  if (collation !== null) words.push(`COLLATE ${String(collation)}`);
  if (attnotnull === true) words.push("NOT NULL");
  if (preset !== null && column.sequence === null) words.push(`DEFAULT ${String(preset)}`);
  return { ...column, declaration: words.join(" ") };
}

/** Every value goes as the text that PostgreSQL itself writes of it. */
async function copyRows(
  from: PostgresqlSession,
  to: PostgresqlSession,
  { name: table, columns }: Table,
  progress: (rows: number) => void,
): Promise<number> {
  const names = columns.map((column) => name(column.name));
  await from.query(
    `DECLARE page CURSOR FOR SELECT ${names.map((each, i) => `${each}::text AS c${i}`).join(", ")} FROM ${table}`,
  );
  const arrays = columns.map((_, i) => `$${i + 1}::text[]`).join(", ");
  const values = columns.map(({ type }, i) => `c${i}::${type}`).join(", ");
  const aliases = columns.map((_, i) => `c${i}`).join(", ");
  const insert = `INSERT INTO ${table} (${names.join(", ")}) SELECT ${values} FROM unnest(${arrays}) AS page(${aliases})`;
  let done = 0;
  for (;;) {
    const rows = await from.query(`FETCH ${PAGE} FROM page`);
    if (rows.length === 0) break;
    await to.query(
      insert,
      columns.map((_, i) => rows.map((row) => row[`c${i}`])),
    );
    done += rows.length;
    progress(done);
  }
  await from.query("CLOSE page");
  return done;
}

/** Numbers go on after the last one that was given out, so that no revision comes twice. */
async function copySequences(
  from: PostgresqlSession,
  to: PostgresqlSession,
  { name: table, columns }: Table,
): Promise<void> {
  for (const { name: column, sequence } of columns) {
    if (sequence === null) continue;
    const [row] = await from.query(`SELECT last_value::text AS last, is_called AS called FROM ${sequence}`);
    await to.query(`SELECT setval(pg_get_serial_sequence(${text(table)}, ${text(column)}), $1::bigint, $2::boolean)`, [
      row!.last,
      row!.called,
    ]);
  }
}
