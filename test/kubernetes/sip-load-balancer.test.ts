/** A load balancer of SIP, HAProxy from Debian, before two real kube-apiservers of one cluster: nothing is dropped while its Pods are replaced, and one server dies. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { Namespace } from "@slipway/kube/core";
import { findAssets } from "../../src/kubernetes/assets.ts";
import { apiServerFlags } from "../../src/kubernetes/flags.ts";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { type LaptopIdentity, laptopIdentity } from "../../src/laptop/identity.ts";
import { credentialsOf } from "../../src/pki/tenant/credentials.ts";
import type { ServiceHost } from "../../src/systems/sip/services/host.ts";
import type { Rendered } from "../../src/systems/sip/services/rendered.ts";
import { apiBalancer } from "../../src/systems/sip/services/testing.ts";
import { servicePrograms } from "../formats/tools.ts";
import { ApiTraffic, type Connection } from "./api-traffic.ts";
import { BalancerService } from "./balancer-service.ts";
import { type Cluster, startCluster, whyNotHere } from "./cluster.ts";

const programs = await servicePrograms(process.env);
const skip = (await whyNotHere()) ?? ("missing" in programs ? programs.missing : false);
const { folder: unpacked, libraries } = "tool" in programs ? programs.tool : { folder: "", libraries: "" };

const SERVICE = "127.0.0.1";
const FIRST = host("host-1", "127.0.0.2");
const SECOND = host("host-2", "127.0.0.3");
const SHAPES = [[FIRST], [FIRST, SECOND], [SECOND], [SECOND, FIRST]];
/** While the second server is not there. */
const SHAPES_OF_ONE = [[FIRST], [FIRST, SECOND], [SECOND, FIRST]];
const ROLLS = 100;
const KILLED_AT = 40;
const STARTED_AT = 60;
const PER_SECOND = 50;
/** Rolls between two watches. */
const WATCH_EVERY = 10;
const PATIENCE_MS = 180_000;

test("SIP-N8 SIP-8 a load balancer before real API servers is rolled 100 times, and loses one of them, under 50 connections a second and watches: only what was open to that one is dropped", {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-balancer-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // One authority, and a certificate for each server.
  const identity = await laptopIdentity(folder, FIRST.addresses.oam!, clock);
  const another = await laptopIdentity(folder, SECOND.addresses.oam!, clock);
  const cluster = await startCluster({ host: FIRST.addresses.oam!, identity });
  t.after(() => cluster.close());
  const { port } = cluster.plane;
  const second = await secondServer(t, cluster, another, folder);
  const place = { folder, program: join(unpacked, "usr/sbin/haproxy"), libraries, clock, host: SERVICE, port };
  const service = await BalancerService.start(place, balancerOf([FIRST, SECOND]));
  t.after(() => service.close());
  const { caPem: ca, certificatePem: cert, keyPem: key } = credentialsOf(identity.kubeconfig(cluster.plane.url))!;
  const traffic = new ApiTraffic({ host: SERVICE, port, ca, cert, key }, clock);
  t.after(() => traffic.close());
  traffic.start(PER_SECOND);

  let [signalled, gone] = [0, 0];
  const kill = async (): Promise<void> => {
    await service.roll(balancerOf([FIRST, SECOND]));
    // A Pod before this one may have the second server alone.
    await service.alone();
    while ((await traffic.watch()).connection.server !== second.fingerprint);
    signalled = clock.monotonic();
    await second.kill();
    gone = clock.monotonic();
  };
  const began = clock.monotonic();
  for (let at = 0; at < ROLLS; at++) {
    if (at % WATCH_EVERY === 0) await traffic.watch();
    if (at === KILLED_AT) await kill();
    if (at === STARTED_AT) second.start();
    const isThere = at < KILLED_AT || (at >= STARTED_AT && (await second.isReady()));
    const shapes = isThere ? SHAPES : SHAPES_OF_ONE;
    // A server that has only just begun to listen fails: what a Pod does until it has checked it is seen then.
    await service.roll(balancerOf(shapes[at % shapes.length]!), { whole: at >= STARTED_AT && !isThere });
  }
  const rolled = clock.monotonic() - began;
  await until("the second API server is ready", () => second.isReady(), second.lastWords);
  await service.roll(balancerOf([FIRST, SECOND]));
  await traffic.stop();

  const mayEnd = ({ begun, ended, server }: Connection): boolean =>
    begun < gone && (ended === undefined || ended > signalled) && server !== identityOf(identity);
  const ofWatches = traffic.watches.map(({ connection }) => connection);
  const dropped = traffic.connections.filter((connection) => connection.dropped !== undefined);
  const cut = ofWatches.filter((connection) => connection.ended !== undefined);
  assert.deepEqual(
    [...dropped, ...cut].filter((connection) => !mayEnd(connection)),
    [],
  );
  const living = traffic.watches.filter(({ connection }) => !cut.includes(connection));
  await cluster.client.create(Namespace, { metadata: { name: "the-end" } });
  await traffic.untilSeen(living, "the-end");
  assert.ok(cut.length > 0 && living.length >= ROLLS / WATCH_EVERY / 2, `${cut.length} of ${ofWatches.length} ended`);
  assert.equal(service.killed, 0);
  const again = traffic.connections.some(({ server, begun }) => server === second.fingerprint && begun > gone);
  assert.ok(again, "the second server has served after its return");
  const slowest = Math.max(...traffic.connections.map((one) => one.ended! - one.begun));
  t.diagnostic(
    `${ROLLS} rolls in ${(rolled / 1000).toFixed(1)} s, ${traffic.connections.length} connections and ${traffic.watches.length} watches; dropped with the server that was killed: ${dropped.length} and ${cut.length}; slowest answer ${slowest.toFixed(0)} ms`,
  );
});

function host(name: string, address: string): ServiceHost {
  return { name, namespace: "n", role: "ControlPlane", unique: name, addresses: { oam: address } };
}

function balancerOf(hosts: readonly ServiceHost[]): Rendered {
  return apiBalancer({}, undefined, [...hosts]);
}

function identityOf({ serving }: LaptopIdentity): string {
  return new X509Certificate(serving.cert as string).fingerprint256;
}

interface Second {
  fingerprint: string;
  isReady(): Promise<boolean>;
  lastWords(): Promise<string>;
  kill(): Promise<void>;
  start(): void;
}

/** Another API server of the same cluster, on the same etcd, with a certificate of its own. Resolves when it is ready. */
async function secondServer(
  t: TestContext,
  { plane }: Cluster,
  identity: LaptopIdentity,
  folder: string,
): Promise<Second> {
  const assets = await findAssets(process.env);
  const file = (name: string): string => join(folder, `second-${name}`);
  writeFileSync(file("server.crt"), identity.serving.cert as string);
  writeFileSync(file("server.key"), identity.serving.key as string, { mode: 0o600 });
  const flags = apiServerFlags({
    file: (name) => (name.startsWith("server.") ? file(name) : join(plane.dir, name)),
    host: SECOND.addresses.oam!,
    port: plane.port,
    etcdPort: Number(new URL(plane.etcd).port),
  });
  let times = 0;
  const run = (): KeptProcess =>
    new KeptProcess({
      ...{ command: join(assets, "kube-apiserver"), args: flags, orphaned: "KILL" },
      logFile: file(`${++times}.log`),
    });
  let server = run();
  t.after(() => server.stop("KILL"));
  const lastWords = () => server.lastWords();
  const isReady = () => isOk(`https://${SECOND.addresses.oam}:${plane.port}/readyz`);
  await until("the second API server is ready", isReady, lastWords);
  return {
    ...{ fingerprint: identityOf(identity), isReady, lastWords },
    kill: () => server.stop("KILL"),
    start() {
      server = run();
    },
  };
}

async function until(what: string, holds: () => Promise<boolean>, story: () => Promise<string>): Promise<void> {
  const end = clock.monotonic() + PATIENCE_MS;
  while (!(await holds())) {
    if (clock.monotonic() > end) throw new Error(`not within three minutes: ${what}\n${await story()}`);
    await clock.sleep(200);
  }
}

/** Whether it answers well; any certificate will do. */
async function isOk(url: string): Promise<boolean> {
  return await new Promise((resolve) => {
    get(url, { rejectUnauthorized: false, agent: false, timeout: 30_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on("error", () => resolve(false));
  });
}
