/** Credentials that are renewed while the client runs: tokens, client certificates, the server's certificate, the authority itself. */
import "reflect-metadata";
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connect } from "node:tls";
import { type Clock, systemClock as clock } from "@slipway/base";
import type { Client, Transport } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { type Authority, createAuthority, type Issued, issueClient, issueServer } from "../../src/pki/authority.ts";
import { kubeconfig } from "../../src/pki/kubeconfig.ts";
import { allowFollowing, boundToken, kubeconfigOf, replace } from "./accounts.ts";
import { type Cluster, startCluster, whyNotHere } from "./cluster.ts";
import { churn, following, hasty, NAMESPACE, prepareChurn } from "./follower.ts";
import { until } from "./live.ts";

const skip = (await whyNotHere()) ?? false;
const DAY_S = 86_400;
let authority: Authority;
/** The one that comes after it; the administrator trusts both. */
let next: Authority;
let cluster: Cluster;
let judge: Client;
let dir: string;

before(async () => {
  if (skip) return;
  dir = await mkdtemp(join(tmpdir(), "slipway-credentials-"));
  authority = await createAuthority({ commonName: "first", clock });
  next = await createAuthority({ commonName: "second", clock });
  const serving = await server(authority);
  const admin = await issueClient(authority, { commonName: "admin", organizations: ["system:masters"], clock });
  cluster = await startCluster({
    identity: {
      serving: { cert: serving.certificatePem, key: serving.keyPem, clientCa: authority.certificatePem },
      kubeconfig: (url) =>
        kubeconfig({
          name: "admin",
          server: url,
          caPem: both(),
          clientCertPem: admin.certificatePem,
          clientKeyPem: admin.keyPem,
        }),
    },
  });
  judge = cluster.client;
  await prepareChurn(judge);
  await allowFollowing(judge);
  await replace(join(dir, "ca.crt"), authority.certificatePem);
});
after(async () => {
  await cluster?.close();
  if (!skip) await rm(dir, { recursive: true });
});

const both = (): string => `${authority.certificatePem}\n${next.certificatePem}`;
const server = (by: Authority): Promise<Issued> =>
  issueServer(by, { commonName: "kube-apiserver", hosts: ["127.0.0.1"], clock });
const follower = (validSeconds: number): Promise<Issued> =>
  issueClient(authority, { commonName: "follower", organizations: [], clock, validDays: validSeconds / DAY_S });

/** A clock on which a minute is two seconds: files are read anew that much sooner. */
const hurried: Clock = { ...clock, monotonic: () => clock.monotonic() * 30 };

/** The way of a user whose credentials are in files beside the kubeconfig. */
async function connection(user: object): Promise<Transport> {
  const file = join(dir, "kubeconfig");
  await replace(file, kubeconfigOf({ server: cluster.plane.url, "certificate-authority": "ca.crt" }, user));
  return createHttpTransport(await loadConnection({ kubeconfig: file, env: {}, clock: hurried }));
}

async function writeCertificate({ certificatePem, keyPem }: Issued): Promise<void> {
  await replace(join(dir, "tls.crt"), certificatePem);
  await replace(join(dir, "tls.key"), keyPem);
}

test("a token that is revoked is read anew from its file, and the cache goes on", { skip }, async (t) => {
  const [first, second] = [
    await boundToken(judge, cluster.transport, "one"),
    await boundToken(judge, cluster.transport, "two"),
  ];
  await replace(join(dir, "token"), first);
  let refused = 0;
  const transport = hasty(await connection({ tokenFile: "token" }), (status) => {
    if (status === 401) refused++;
  });
  await following({ judge, transport }, async (cache) => {
    await judge.delete(Secret, { name: "one", namespace: NAMESPACE });
    // The server remembers for ten seconds whom it let in.
    await until("the old token is refused", () => refused > 0, 60_000);
    await churn(judge, 20);
    await replace(join(dir, "token"), second);
    t.diagnostic(`equal after ${await cache.equals(judge, 60_000)} ms`);
  });
});

test("a client certificate that is renewed in its files is used before the old one expires", { skip }, async (t) => {
  const endsAt = clock.now() + 12_000;
  await writeCertificate(await follower(12));
  let refused = 0;
  const transport = hasty(await connection({ "client-certificate": "tls.crt", "client-key": "tls.key" }), (status) => {
    if (status === 401) refused++;
  });
  await following({ judge, transport }, async (cache) => {
    await writeCertificate(await follower(DAY_S));
    await until("the old certificate expires", () => clock.now() > endsAt + 1_000, 60_000);
    await churn(judge, 20);
    t.diagnostic(`equal after ${await cache.equals(judge, 60_000)} ms`);
    assert.equal(refused, 0);
  });
});

test("a client certificate that expired before it was renewed is refused until then, and no longer", {
  skip,
}, async (t) => {
  await writeCertificate(await follower(6));
  let refused = 0;
  const transport = hasty(await connection({ "client-certificate": "tls.crt", "client-key": "tls.key" }), (status) => {
    if (status === 401) refused++;
  });
  await following({ judge, transport }, async (cache) => {
    await until("it is refused", () => refused > 0, 60_000);
    await churn(judge, 20);
    await writeCertificate(await follower(DAY_S));
    t.diagnostic(`equal after ${await cache.equals(judge, 60_000)} ms`);
  });
});

test("a server that shows a renewed certificate, and then one of a new authority, is still trusted once the file names it", {
  skip,
}, async (t) => {
  await writeCertificate(await follower(DAY_S));
  const transport = hasty(await connection({ "client-certificate": "tls.crt", "client-key": "tls.key" }));
  await following({ judge, transport }, async (cache) => {
    await serve(await server(authority));
    await churn(judge, 20);
    t.diagnostic(`renewed: equal after ${await cache.equals(judge, 60_000)} ms`);

    await replace(join(dir, "ca.crt"), both());
    await serve(await server(next));
    // Nobody stays on a connection from before.
    await cluster.plane.stopApiServer("KILL");
    await cluster.plane.startApiServer();
    await churn(judge, 20);
    t.diagnostic(`of a new authority: equal after ${await cache.equals(judge, 60_000)} ms`);
  });
});

/** Gives the server another certificate and waits until it shows it. */
async function serve({ certificatePem, keyPem }: Issued): Promise<void> {
  await replace(join(cluster.plane.dir, "server.key"), keyPem);
  await replace(join(cluster.plane.dir, "server.crt"), certificatePem);
  const { fingerprint256 } = new X509Certificate(certificatePem);
  await until("the server shows its new certificate", async () => (await shown()) === fingerprint256, 90_000);
}

function shown(): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: cluster.plane.port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()!.fingerprint256);
      socket.destroy();
    });
    socket.once("error", reject);
  });
}
