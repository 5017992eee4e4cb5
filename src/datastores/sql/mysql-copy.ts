import { Fault } from "@slipway/base";
import type { MysqlSession, Row } from "./mysql-session.ts";

export interface CopyTables {
  from: MysqlSession;
  to: MysqlSession;
  schema: string;
  progress(done: number): void;
}

const PAGE = 100;

/**
 * Copies a database's tables as the server itself describes them, with rows, counters and indexes. Rows are read in the order of the primary
 * key. Rejects with `Conflict` where the target has tables, with `Unsupported` where the source has what kine never makes.
 */
export async function copyTables({ from, to, schema, progress }: CopyTables): Promise<void> {
  const tables = await tablesOf(from, schema);
  const other = tables.find(({ type, key }) => type !== "BASE TABLE" || key === null);
  if (other !== undefined)
    throw new Fault(
      "Unsupported",
      `database ${schema}`,
      `${other.name} is a view or has no primary key of one column`,
      {
        remedy: "copy the database with mysqldump",
      },
    );
  if ((await tablesOf(to, schema)).length > 0)
    throw new Fault("Conflict", `database ${schema}`, "there are tables in the server that it is copied to", {
      remedy: "remove the place there first",
    });
  await from.query("USE ??", [schema]);
  await to.query("USE ??", [schema]);
  await from.query("START TRANSACTION WITH CONSISTENT SNAPSHOT");
  let done = 0;
  for (const { name, key } of tables) {
    const [made] = await from.query("SHOW CREATE TABLE ??", [name]);
    await to.query(String(made!["Create Table"]));
    for (let last: unknown; ; ) {
      const rows = await pageOf(from, name, key!, last);
      if (rows.length === 0) break;
      const columns = Object.keys(rows[0]!);
      await to.query("INSERT INTO ?? (??) VALUES ?", [
        name,
        columns,
        rows.map((row) => columns.map((column) => row[column])),
      ]);
      last = rows.at(-1)![key!];
      done += rows.length;
      progress(done);
    }
  }
}

/** How many rows a database's tables have. */
export async function countRows(session: MysqlSession, schema: string): Promise<number> {
  let count = 0;
  for (const { name } of await tablesOf(session, schema)) {
    const [row] = await session.query("SELECT COUNT(*) AS found FROM ??.??", [schema, name]);
    count += Number(row!.found);
  }
  return count;
}

async function pageOf(from: MysqlSession, table: string, key: string, after: unknown): Promise<Row[]> {
  if (after === undefined) return from.query(`SELECT * FROM ?? ORDER BY ?? LIMIT ${PAGE}`, [table, key]);
  return from.query(`SELECT * FROM ?? WHERE ?? > ? ORDER BY ?? LIMIT ${PAGE}`, [table, key, after, key]);
}

interface Table {
  name: string;
  type: string;
  /** The one column of the primary key; null: there is none, or it has several. */
  key: string | null;
}

async function tablesOf(session: MysqlSession, schema: string): Promise<Table[]> {
  const rows = await session.query(
    `SELECT t.TABLE_NAME AS name, t.TABLE_TYPE AS type, IF(COUNT(k.COLUMN_NAME) = 1, MIN(k.COLUMN_NAME), NULL) AS \`key\`
      FROM information_schema.TABLES t LEFT JOIN information_schema.KEY_COLUMN_USAGE k
        ON k.TABLE_SCHEMA = t.TABLE_SCHEMA AND k.TABLE_NAME = t.TABLE_NAME AND k.CONSTRAINT_NAME = 'PRIMARY'
      WHERE t.TABLE_SCHEMA = ? GROUP BY t.TABLE_NAME, t.TABLE_TYPE ORDER BY t.TABLE_NAME`,
    [schema],
  );
  return rows.map(({ name, type, key }) => ({
    name: String(name),
    type: String(type),
    key: key === null ? null : String(key),
  }));
}
