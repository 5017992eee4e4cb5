import { join } from "node:path";
import type { TestContext } from "node:test";
import { quietLog, systemClock } from "@slipway/base";
import { EtcdClient } from "../../../src/datastores/etcd/client.ts";
import type { Place } from "../../../src/datastores/place.ts";
import { type Authority, createAuthority, issueClient } from "../../../src/pki/authority.ts";
import { freePort } from "../../kubernetes/free-port.ts";
import { type Certificates, certificates, findProgram, serverFolder, startServer } from "./programs.ts";
import { PATIENT, type Server, type Stage, type Tenant } from "./stage.ts";

export const NEEDS = ["etcd"];

export interface EtcdServer extends Server {
  authority: Authority;
  certificates: Certificates;
}

async function identity(authority: Authority, commonName: string): Promise<{ ca: string; cert: string; key: string }> {
  const issued = await issueClient(authority, { commonName, organizations: [], clock: systemClock });
  return { ca: authority.certificatePem, cert: issued.certificatePem, key: issued.keyPem };
}

export async function startEtcd(
  t: TestContext,
  flags: readonly string[] = [],
  authentication = true,
  /** Of another server, whose clients are known to this one, too. */
  shared?: Certificates,
): Promise<EtcdServer> {
  const folder = serverFolder("etcd");
  const made = shared ?? (await certificates());
  const { authority, server: own } = made;
  const [port, peer] = [await freePort(), await freePort()];
  const [url, peerUrl] = [`https://127.0.0.1:${port}`, `http://127.0.0.1:${peer}`];
  const tls = await identity(authority, "root");
  const options: Server["options"] = { driver: "etcd", endpoints: [`127.0.0.1:${port}`], tls };
  const client = new EtcdClient({ ...options, clock: systemClock, log: quietLog });
  t.after(() => client.close());
  const started = await startServer(t, folder, {
    command: findProgram("etcd")!,
    args: [
      ...[`--data-dir=${join(folder.path, "data")}`, "--unsafe-no-fsync", "--client-cert-auth", "--log-level=error"],
      ...[`--listen-client-urls=${url}`, `--advertise-client-urls=${url}`, `--listen-peer-urls=${peerUrl}`],
      ...[`--initial-advertise-peer-urls=${peerUrl}`, `--initial-cluster=default=${peerUrl}`],
      ...[
        `--cert-file=${folder.write("cert.pem", own.certificatePem)}`,
        `--key-file=${folder.write("key.pem", own.keyPem)}`,
      ],
      ...[`--trusted-ca-file=${folder.write("ca.pem", authority.certificatePem)}`, ...flags],
    ],
    up: () => client.users(PATIENT),
  });
  if (authentication) {
    await client.addUser("root", PATIENT);
    await client.addRole("root", PATIENT);
    await client.grantRole("root", "root", PATIENT);
    await client.enableAuth(PATIENT);
  }
  return {
    ...{ port, options, authority, certificates: made, stop: started.stop },
    async contents() {
      const { kvs } = await client.range({ key: "\0", end: "\0", limit: 0, revision: 0n, keysOnly: true }, PATIENT);
      const users = (await client.users(PATIENT)).map((name) => `user ${name}`);
      const roles = (await client.roles(PATIENT)).map((name) => `role ${name}`);
      return [...users, ...roles, ...kvs.map(({ key }) => `key ${Buffer.from(key).toString()}`)].sort();
    },
  };
}

async function tenant(t: TestContext, server: Server, { schema, user }: Place): Promise<Tenant> {
  const tls = await identity((server as EtcdServer).authority, user);
  const client = new EtcdClient({ ...server.options, tls, clock: systemClock, log: quietLog });
  t.after(() => client.close());
  const put = (key: string, value: string): Promise<void> =>
    client.putAll([{ key: Buffer.from(key), value: Buffer.from(value), lease: 0n }], PATIENT);
  const list = async (key: string, end: string): Promise<string[]> => {
    const { kvs } = await client.range({ key, end, limit: 0, revision: 0n }, PATIENT);
    return kvs.map((kv) => Buffer.from(kv.key).toString());
  };
  return {
    write: (key, value) => put(`/${schema}/${key}`, value),
    read: async () => (await list(`/${schema}/`, `/${schema}0`)).map((key) => key.slice(schema.length + 2)),
    attempts: (other) => ({
      "read the other's keys": () => list(`/${other.schema}/`, `/${other.schema}0`),
      "read all keys": () => list("\0", "\0"),
      "write below the other's prefix": () => put(`/${other.schema}/a`, "b"),
      "write beside its prefix": () => put(`/${schema}`, "b"),
      "remove the other's keys": () => client.deleteRange(`/${other.schema}/`, `/${other.schema}0`, PATIENT),
      "make a user": () => client.addUser("mine", PATIENT),
      "become root": () => client.grantRole(user, "root", PATIENT),
    }),
    close: async () => client.close(),
  };
}

const administrator = (server: Server): EtcdClient =>
  new EtcdClient({ ...server.options, clock: systemClock, log: quietLog });

async function administer(server: Server, work: (client: EtcdClient) => Promise<void>): Promise<void> {
  const client = administrator(server);
  await work(client).finally(() => client.close());
}

export const etcd: Stage = {
  driver: "etcd",
  start: (t) => startEtcd(t),
  tenant,
  async wrong(server) {
    const stranger = await createAuthority({ commonName: "stranger", clock: systemClock });
    const { cert, key } = await identity(stranger, "root");
    return { tls: { ...server.options.tls, cert, key } };
  },
  halves: {
    "the keys are gone": (server, { schema }) =>
      administer(server, (client) => client.deleteRange(`/${schema}/`, `/${schema}0`, PATIENT)),
    "the user is gone": (server, { user }) => administer(server, (client) => client.deleteUser(user, PATIENT)),
    "the role is gone": (server, { schema }) => administer(server, (client) => client.deleteRole(schema, PATIENT)),
  },
};
