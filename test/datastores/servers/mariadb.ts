import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { TestContext } from "node:test";
import mysql from "mysql2/promise";
import type { Place } from "../../../src/datastores/place.ts";
import { freePort } from "../../kubernetes/free-port.ts";
import { asNobody, certificates, findProgram, serverFolder, startServer } from "./programs.ts";
import type { Server, Stage, Tenant } from "./stage.ts";

const PASSWORD = "the administrator's";
export const NEEDS = ["mariadbd", "mariadb-install-db"];

function asked(
  server: Pick<Server, "port">,
  user: string,
  password: string,
  database?: string,
): Promise<mysql.Connection> {
  return mysql.createConnection({
    host: "127.0.0.1",
    port: server.port,
    user,
    password,
    ...(database && { database }),
  });
}

/** Runs statements as the administrator. */
export async function administer(server: Pick<Server, "port">, ...texts: string[]): Promise<Record<string, unknown>[]> {
  const connection = await asked(server, "admin", PASSWORD);
  try {
    let rows: unknown;
    for (const text of texts) [rows] = await connection.query(text);
    return rows as Record<string, unknown>[];
  } finally {
    await connection.end();
  }
}

async function start(t: TestContext): Promise<Server> {
  const folder = serverFolder("mariadb");
  const { authority, server: own } = await certificates();
  const [data, port] = [join(folder.path, "data"), await freePort()];
  const install = ["--no-defaults", `--datadir=${data}`, "--auth-root-authentication-method=normal", "--skip-test-db"];
  const [program, args] = asNobody(findProgram("mariadb-install-db")!, install);
  execFileSync(program, args, { stdio: "ignore", cwd: folder.path });
  const init = folder.write(
    "init.sql",
    `CREATE USER admin@'%' IDENTIFIED BY '${PASSWORD.replace("'", "''")}';\nGRANT ALL PRIVILEGES ON *.* TO admin@'%' WITH GRANT OPTION;\n`,
  );
  const started = await startServer(t, folder, {
    command: findProgram("mariadbd")!,
    args: [
      ...["--no-defaults", `--datadir=${data}`, `--socket=${join(folder.path, "socket")}`, `--init-file=${init}`],
      ...["--bind-address=127.0.0.1", `--port=${port}`, "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0"],
      ...[
        `--ssl-cert=${folder.write("cert.pem", own.certificatePem)}`,
        `--ssl-key=${folder.write("key.pem", own.keyPem)}`,
      ],
      ...[`--ssl-ca=${folder.write("ca.pem", authority.certificatePem)}`, `--pid-file=${join(folder.path, "pid")}`],
    ],
    up: () => administer({ port }, "SELECT 1"),
  });
  const server: Server = {
    port,
    options: {
      ...{ driver: "MySQL", endpoints: [`127.0.0.1:${port}`], tls: { ca: authority.certificatePem } },
      basicAuth: { username: "admin", password: PASSWORD },
    },
    async contents() {
      const rows = await administer(
        server,
        `SELECT CONCAT('database ', SCHEMA_NAME) AS name FROM information_schema.SCHEMATA WHERE SCHEMA_NAME <> 'slipway_places'
          UNION SELECT CONCAT('user ', User, '@', Host) FROM mysql.user UNION SELECT CONCAT('grant ', User, ' ', Db) FROM mysql.db ORDER BY 1`,
      );
      return rows.map(({ name }) => String(name));
    },
    stop: started.stop,
  };
  return server;
}

async function tenant(t: TestContext, server: Server, place: Place): Promise<Tenant> {
  const connection = await asked(server, place.user, place.password!, place.schema);
  // What the server ends is no fault here.
  connection.on("error", () => {});
  const close = async (): Promise<void> => connection.destroy();
  t.after(close);
  return {
    async write(key, value) {
      await connection.query("CREATE TABLE IF NOT EXISTS things (name VARCHAR(100) PRIMARY KEY, value TEXT)");
      await connection.query("INSERT INTO things VALUES (?, ?)", [key, value]);
    },
    async read() {
      const [rows] = await connection.query("SELECT name FROM things ORDER BY name");
      return (rows as { name: string }[]).map(({ name }) => name);
    },
    attempts: (other) => ({
      "connect to the other's database": () => asked(server, place.user, place.password!, other.schema),
      "read the other's tables": () => connection.query(`SELECT * FROM \`${other.schema}\`.things`),
      "read passwords": () => connection.query("SELECT * FROM mysql.global_priv"),
      "make a database": () => connection.query("CREATE DATABASE mine"),
      "make a database that its own name matches as a pattern": () =>
        connection.query(`CREATE DATABASE \`${place.schema.replaceAll("_", "x")}\``),
      "make a user": () => connection.query("CREATE USER mine"),
      "drop its own database": () => connection.query(`DROP DATABASE \`${place.schema}\``),
      "read a file": async () => {
        const [rows] = await connection.query("SELECT LOAD_FILE('/etc/passwd') AS text");
        if ((rows as { text: unknown }[])[0]!.text === null) throw new Error("it gets nothing");
      },
    }),
    close,
  };
}

export const mariadb: Stage = {
  driver: "MySQL",
  start,
  tenant,
  wrong: async () => ({ basicAuth: { username: "admin", password: "wrong" } }),
  halves: {
    "the database is gone": async (server, { schema }) =>
      void (await administer(server, `DROP DATABASE \`${schema}\``)),
    "the user is gone": async (server, { user }) => void (await administer(server, `DROP USER '${user}'@'%'`)),
    "both are gone": async (server, { schema, user }) =>
      void (await administer(server, `DROP DATABASE \`${schema}\``, `DROP USER '${user}'@'%'`)),
  },
};
