import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { TestContext } from "node:test";
import pg from "pg";
import type { Place } from "../../../src/datastores/place.ts";
import { freePort } from "../../kubernetes/free-port.ts";
import { asNobody, certificates, findProgram, serverFolder, startServer } from "./programs.ts";
import type { Server, Stage, Tenant } from "./stage.ts";

const PASSWORD = "the administrator's";
export const NEEDS = ["initdb", "psql"];

async function asked(
  server: Pick<Server, "port">,
  user: string,
  password: string,
  database: string,
): Promise<pg.Client> {
  const client = new pg.Client({ host: "127.0.0.1", port: server.port, user, password, database });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Runs a statement as the administrator. */
export async function administer(
  server: Pick<Server, "port">,
  text: string,
  database = "postgres",
): Promise<Record<string, unknown>[]> {
  const client = await asked(server, "postgres", PASSWORD, database);
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function start(t: TestContext): Promise<Server> {
  const folder = serverFolder("postgresql");
  const { authority, server: own } = await certificates();
  const password = folder.write("password", PASSWORD);
  const [data, port] = [join(folder.path, "data"), await freePort()];
  const initdb = findProgram("initdb", "postgres")!;
  const [program, args] = asNobody(initdb, [
    "-A",
    "scram-sha-256",
    "--pwfile",
    password,
    "--no-sync",
    "-D",
    data,
    "-U",
    "postgres",
    "-E",
    "UTF8",
  ]);
  execFileSync(program, args, { stdio: "ignore", cwd: folder.path });
  const tls = [
    `ssl_cert_file=${folder.write("cert.pem", own.certificatePem)}`,
    `ssl_key_file=${folder.write("key.pem", own.keyPem)}`,
  ];
  const settings = ["ssl=on", ...tls, "fsync=off", "max_connections=200"].flatMap((setting) => ["-c", setting]);
  const started = await startServer(t, folder, {
    command: findProgram("postgres", "initdb")!,
    args: ["-D", data, "-k", folder.path, "-h", "127.0.0.1", "-p", String(port), ...settings],
    up: () => administer({ port }, "SELECT 1"),
  });
  const server: Server = {
    port,
    options: {
      ...{ driver: "PostgreSQL", endpoints: [`127.0.0.1:${port}`], tls: { ca: authority.certificatePem } },
      basicAuth: { username: "postgres", password: PASSWORD },
    },
    async contents() {
      const rows = await administer(
        server,
        "SELECT 'database ' || datname AS name FROM pg_database UNION SELECT 'role ' || rolname FROM pg_roles ORDER BY 1",
      );
      return rows.map(({ name }) => String(name));
    },
    stop: started.stop,
  };
  return server;
}

async function tenant(t: TestContext, server: Server, place: Place): Promise<Tenant> {
  const client = await asked(server, place.user, place.password!, place.schema);
  const close = (): Promise<void> => client.end().catch(() => {});
  t.after(close);
  return {
    async write(key, value) {
      await client.query("CREATE TABLE IF NOT EXISTS things (key text PRIMARY KEY, value text)");
      await client.query("INSERT INTO things VALUES ($1, $2)", [key, value]);
    },
    read: async () => (await client.query("SELECT key FROM things ORDER BY key")).rows.map(({ key }) => key),
    attempts: (other) => ({
      "connect to the other's database": () => asked(server, place.user, place.password!, other.schema),
      "make a table in the administrator's database": async () => {
        const elsewhere = await asked(server, place.user, place.password!, "postgres");
        await elsewhere.query("CREATE TABLE mine (a int)").finally(() => elsewhere.end());
      },
      "make a database": () => client.query("CREATE DATABASE mine"),
      "make a role": () => client.query("CREATE ROLE mine"),
      "drop its own database": () => client.query(`DROP DATABASE "${place.schema}"`),
      "become the other": () => client.query(`SET ROLE "${other.user}"`),
      "read a file": () => client.query("SELECT pg_read_file('/etc/passwd')"),
    }),
    close,
  };
}

export const postgresql: Stage = {
  driver: "PostgreSQL",
  start,
  tenant,
  wrong: async () => ({ basicAuth: { username: "postgres", password: "wrong" } }),
  halves: {
    "the database is gone": async (server, { schema }) =>
      void (await administer(server, `DROP DATABASE "${schema}" WITH (FORCE)`)),
    "the role is gone": async (server, { schema, user }) => {
      await administer(server, `DROP OWNED BY "${user}"`, schema);
      await administer(server, `DROP OWNED BY "${user}"; DROP ROLE "${user}"`);
    },
    "the database has no comment yet": async (server, { schema }) =>
      void (await administer(server, `COMMENT ON DATABASE "${schema}" IS NULL`)),
  },
};
