import { join } from "node:path";
import { type Clock, deadline, Fault, type Log } from "@slipway/base";
import { EtcdClient } from "../../datastores/etcd/client.ts";
import { type Authority, createAuthority, type Issued, issueClient, issueServer } from "../../pki/authority.ts";
import { isGood } from "../../pki/renewal.ts";
import { keptCertificate } from "../../pki/shelf.ts";
import { Supervised } from "./supervised.ts";

const LOOPBACK = "127.0.0.1";
const ROOT = "root";
const READY_MS = 30_000;
const LOOK_MS = 100;
const YEAR_MS = 366 * 86_400_000;
const MONTH_MS = 30 * 86_400_000;

export interface SharedEtcdOptions {
  clock: Clock;
  log: Log;
  /** Where its data, certificates and log are. */
  dir: string;
  /** The folder with the program. */
  assets: string;
  port: number;
  peerPort: number;
  /** The address for clients; default: loopback. */
  host?: string;
}

/** An etcd for all tenants of this machine: a user and a prefix for each, known by client certificates. */
export interface SharedEtcd {
  /** `host:port`. */
  endpoint: string;
  authority: Authority;
  /** The administrator's. */
  root: Issued;
  close(): Promise<void>;
}

/** Starts it, over TLS, and turns its authentication on. What it keeps is on the disk before it answers. Rejects with its last words. */
export async function startSharedEtcd(options: SharedEtcdOptions): Promise<SharedEtcd> {
  const { clock, log, dir, assets, port, peerPort, host = LOOPBACK } = options;
  const { authority, server, root, shelf } = await identityOf(dir, host, clock);
  await peerIdentity(shelf, clock);
  const [client, peer] = [`https://${host}:${port}`, `https://${LOOPBACK}:${peerPort}`];
  const etcd = new Supervised(clock, () =>
    log.warn({ reason: etcd.failure }, "the tenants' etcd ended, and is started again"),
  );
  await etcd.want({
    command: join(assets, "etcd"),
    args: [
      ...[`--data-dir=${join(dir, "data")}`, `--listen-client-urls=${client}`, `--advertise-client-urls=${client}`],
      ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`, `--initial-cluster=default=${peer}`],
      ...["--client-cert-auth", `--trusted-ca-file=${join(shelf, "ca.pem")}`],
      ...[`--cert-file=${join(shelf, "server.pem")}`, `--key-file=${join(shelf, "server-key.pem")}`],
      ...["--peer-client-cert-auth", `--peer-trusted-ca-file=${join(shelf, "peer-ca.pem")}`],
      ...[`--peer-cert-file=${join(shelf, "peer.pem")}`, `--peer-key-file=${join(shelf, "peer-key.pem")}`],
      // The tenants' API servers don't compact: the key by which they would agree on it lies outside their prefixes.
      ...["--auto-compaction-mode=periodic", "--auto-compaction-retention=5m", "--log-level=warn"],
    ],
    logFile: join(dir, "etcd.log"),
    mark: server.certificatePem,
  });
  try {
    const tls = { ca: authority.certificatePem, cert: root.certificatePem, key: root.keyPem };
    await open({ clock, log, tls, endpoint: `${host}:${port}`, etcd });
  } catch (error) {
    await etcd.want(undefined);
    throw error;
  }
  return { endpoint: `${host}:${port}`, authority, root, close: () => etcd.want(undefined) };
}

/** It has no peers. Whoever comes as one would need a certificate of an authority that certifies nobody else, and so no tenant. */
async function peerIdentity(shelf: string, clock: Pick<Clock, "now">): Promise<void> {
  const now = clock.now();
  const authority = await keptCertificate(
    shelf,
    "peer-ca",
    (held) => isGood(held, { now, leftMs: YEAR_MS }),
    () => createAuthority({ commonName: "slipway-etcd-peers", clock }),
  );
  await keptCertificate(
    shelf,
    "peer",
    (held) => isGood(held, { now, leftMs: MONTH_MS, authorityPem: authority.certificatePem, hosts: [LOOPBACK] }),
    () => issueServer(authority, { commonName: "etcd-peer", hosts: [LOOPBACK], clock }),
  );
}

async function identityOf(dir: string, host: string, clock: Pick<Clock, "now">) {
  const shelf = join(dir, "pki");
  const now = clock.now();
  const authority = await keptCertificate(
    shelf,
    "ca",
    (held) => isGood(held, { now, leftMs: YEAR_MS }),
    () => createAuthority({ commonName: "slipway-etcd", clock }),
  );
  const demands = { now, leftMs: MONTH_MS, authorityPem: authority.certificatePem };
  const server = await keptCertificate(
    shelf,
    "server",
    (held) => isGood(held, { ...demands, hosts: [host] }),
    () => issueServer(authority, { commonName: "etcd", hosts: [...new Set([host, LOOPBACK, "localhost"])], clock }),
  );
  const root = await keptCertificate(
    shelf,
    ROOT,
    (held) => isGood(held, { ...demands, commonName: ROOT }),
    () => issueClient(authority, { commonName: ROOT, organizations: [], clock }),
  );
  return { authority, server, root, shelf };
}

/** Waits until it answers, and has it ask who one is. */
async function open(at: {
  clock: Clock;
  log: Log;
  tls: { ca: string; cert: string; key: string };
  endpoint: string;
  etcd: Supervised;
}): Promise<void> {
  const { clock, log, tls, endpoint, etcd } = at;
  const client = new EtcdClient({ driver: "etcd", endpoints: [endpoint], tls, clock, log });
  const { signal, done } = deadline(clock, READY_MS);
  try {
    while (!(await isUp(client, signal))) {
      const why = etcd.failure ?? (signal.aborted ? `not ready within ${READY_MS / 1000} s` : undefined);
      if (why !== undefined) throw new Fault("Unavailable", "the tenants' etcd", why);
      await clock.sleep(LOOK_MS);
    }
    if (await client.authEnabled(signal)) return;
    await client.addUser(ROOT, signal);
    await client.addRole(ROOT, signal);
    await client.grantRole(ROOT, ROOT, signal);
    await client.enableAuth(signal);
  } finally {
    done();
    client.close();
  }
}

async function isUp(client: EtcdClient, signal: AbortSignal): Promise<boolean> {
  return await client.authEnabled(signal).then(
    () => true,
    () => false,
  );
}
