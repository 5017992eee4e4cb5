import { join } from "node:path";
import type { TestContext } from "node:test";
import { connect } from "nats";
import { freePort } from "../../kubernetes/free-port.ts";
import { certificates, findProgram, serverFolder, startServer } from "./programs.ts";
import type { Server, Stage } from "./stage.ts";

export const NEEDS = ["nats-server"];
const USER = { username: "admin", password: "admin-7.~$" };

export interface NatsSettings {
  /** JetStream's limits for the account, as the server's configuration has them. */
  limits?: string;
  jetStream?: string;
  /** Default: it talks TLS alone. */
  plain?: boolean;
}

export async function startNats(
  t: TestContext,
  { limits = "enabled", jetStream = "max_file_store: 1GB", plain = false }: NatsSettings = {},
): Promise<Server> {
  const folder = serverFolder("nats");
  const { authority, server: own } = await certificates();
  const port = await freePort();
  const config = folder.write(
    "nats.conf",
    `listen: "127.0.0.1:${port}"
jetstream { store_dir: "${join(folder.path, "store")}", ${jetStream} }
${plain ? "" : `tls { cert_file: "${folder.write("cert.pem", own.certificatePem)}", key_file: "${folder.write("key.pem", own.keyPem)}" }`}
accounts { TENANTS { jetstream ${limits}, users [ { user: "${USER.username}", password: "${USER.password}" } ] } }
`,
  );
  const tls = plain ? undefined : { ca: authority.certificatePem };
  const open = () =>
    connect({
      servers: `127.0.0.1:${port}`,
      user: USER.username,
      pass: USER.password,
      tls: tls === undefined ? null : ({ ...tls, host: "127.0.0.1" } as object),
      reconnect: false,
    });
  const started = await startServer(t, folder, {
    command: findProgram("nats-server")!,
    args: ["-c", config],
    up: async () => (await open()).close(),
  });
  return {
    port,
    options: { driver: "NATS", endpoints: [`127.0.0.1:${port}`], ...(tls && { tls }), basicAuth: USER },
    async contents() {
      const connection = await open();
      const manager = await connection.jetstreamManager();
      const names: string[] = [];
      for await (const { config: stream } of manager.streams.list()) names.push(stream.name);
      await connection.close();
      return names.sort();
    },
    stop: started.stop,
  };
}

export const nats: Stage = {
  driver: "NATS",
  start: (t) => startNats(t),
  wrong: async () => ({ basicAuth: { username: USER.username, password: "wrong" } }),
  halves: {},
};

/** One that offers no TLS: the others do, and take clients without. */
export const plainNats: Stage = { ...nats, start: (t) => startNats(t, { plain: true }) };
