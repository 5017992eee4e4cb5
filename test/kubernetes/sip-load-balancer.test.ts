/** A load balancer of SIP, HAProxy from Debian, before two real kube-apiservers of one cluster: nothing is dropped while its hosts come and go, and one dies. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { findAssets } from "../../src/kubernetes/assets.ts";
import { apiServerFlags } from "../../src/kubernetes/flags.ts";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { type BackendServer, haproxyConfig } from "../../src/systems/sip/services/balance/haproxy-config.ts";
import { servicePrograms } from "../formats/tools.ts";
import { type Cluster, startCluster, whyNotHere } from "./cluster.ts";
import { freePort } from "./free-port.ts";
import { type Haproxy, startHaproxy } from "./haproxy.ts";

const programs = await servicePrograms(process.env);
const skip = (await whyNotHere()) ?? ("missing" in programs ? programs.missing : false);
const { folder: unpacked, libraries } = "tool" in programs ? programs.tool : { folder: "", libraries: "" };

const BALANCER = "127.0.0.1";
const FIRST: BackendServer = { name: "host-1", address: "127.0.0.2" };
const SECOND: BackendServer = { name: "host-2", address: "127.0.0.3" };
const ROLLS = 100;
const PER_SECOND = 50;
/** Between rolls: each sees some connections. */
const PACE_MS = 200;
const PATIENCE_MS = 180_000;

test("SIP-N8 SIP-8 a load balancer before real API servers is rolled 100 times, and loses one of them, under 50 connections a second: none is dropped", {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-balancer-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // Its certificate is for the loopback, too.
  const identity = await laptopIdentity(undefined, FIRST.address, clock);
  const cluster = await startCluster({ host: FIRST.address, identity });
  t.after(() => cluster.close());
  const { port } = cluster.plane;
  const second = await secondServer(t, cluster, folder);
  const healthPort = await freePort();
  const config = (servers: readonly BackendServer[]): string =>
    haproxyConfig({ ports: [{ name: "http", port }], servers, check: "apiserver", healthPort })
      // Its servers have the same port, at other addresses of this machine.
      .replaceAll(/bind \*:/g, `bind ${BALANCER}:`);
  const balancer = await startHaproxy(folder, config([FIRST, SECOND]), {
    ...{ program: join(unpacked, "usr/sbin/haproxy"), libraries, clock },
  });
  t.after(() => balancer.stop());
  const traffic = new Traffic({ port, ca: identity.serving.clientCa! });
  traffic.start();

  const shapes = [[FIRST], [FIRST, SECOND], [SECOND], [SECOND, FIRST]];
  const began = clock.monotonic();
  for (let at = 0; at < ROLLS; at++) {
    await balancer.roll(config(shapes[at % shapes.length]!));
    await clock.sleep(PACE_MS);
  }
  const rolled = clock.monotonic() - began;
  const during = traffic.begun;
  await balancer.roll(config([FIRST, SECOND]));

  const before = balancer.log().length;
  await second.kill();
  const killedAt = traffic.begun;
  await says(balancer, before, /host-2 is DOWN/);
  const down = balancer.log().length;
  second.start();
  await says(balancer, down, /host-2 is UP/);
  await traffic.stop();
  t.diagnostic(
    `${ROLLS} rolls in ${(rolled / 1000).toFixed(1)} s with ${during} connections, ${traffic.begun} in all; slowest answer ${traffic.slowestMs.toFixed(0)} ms`,
  );
  // What was under way with the one that was killed is lost with it.
  const dropped = traffic.dropped.filter(({ number }) => number <= during || number > killedAt);
  assert.deepEqual(dropped, []);
  assert.ok(during >= ROLLS, `${during} connections while it was rolled`);
});

interface Second {
  kill(): Promise<void>;
  start(): void;
}

/** Another API server of the same cluster, on the same etcd. */
async function secondServer(t: TestContext, { plane }: Cluster, folder: string): Promise<Second> {
  const assets = await findAssets(process.env);
  const flags = apiServerFlags({
    file: (name) => join(plane.dir, name),
    host: SECOND.address,
    port: plane.port,
    etcdPort: Number(new URL(plane.etcd).port),
  });
  let times = 0;
  const run = (): KeptProcess =>
    new KeptProcess({
      ...{ command: join(assets, "kube-apiserver"), args: flags, orphaned: "KILL" },
      logFile: join(folder, `second-${++times}.log`),
    });
  let server = run();
  t.after(() => server.stop("KILL"));
  const address = { host: SECOND.address, port: plane.port };
  const answers = async (): Promise<boolean> => (await answer({ ...address, path: "/readyz" }).catch(() => 0)) === 200;
  await until("the second API server is ready", answers, () => server.lastWords());
  return {
    kill: () => server.stop("KILL"),
    start() {
      server = run();
    },
  };
}

/** Waits until HAProxy has logged it after so many characters. */
async function says(balancer: Haproxy, after: number, what: RegExp): Promise<void> {
  await until(
    `HAProxy says ${what}`,
    async () => what.test(balancer.log().slice(after)),
    async () => balancer.news(),
  );
}

async function until(what: string, holds: () => Promise<boolean>, story: () => Promise<string>): Promise<void> {
  const end = clock.monotonic() + PATIENCE_MS;
  while (!(await holds())) {
    if (clock.monotonic() > end) throw new Error(`not within three minutes: ${what}\n${await story()}`);
    await clock.sleep(200);
  }
}

/** Connections to the balancer, each new, evenly over time. */
class Traffic {
  begun = 0;
  slowestMs = 0;
  readonly dropped: { number: number; why: string }[] = [];
  readonly #to: { port: number; ca: string };
  readonly #open = new Set<Promise<void>>();
  #ended: Promise<void> | undefined;
  #goesOn = true;

  constructor(to: { port: number; ca: string }) {
    this.#to = to;
  }

  start(): void {
    this.#ended = this.#run();
  }

  /** Waits for the answers that are due. */
  async stop(): Promise<void> {
    this.#goesOn = false;
    await this.#ended;
    await Promise.all(this.#open);
  }

  async #run(): Promise<void> {
    for (let due = clock.monotonic(); this.#goesOn; due += 1000 / PER_SECOND) {
      await clock.sleep(Math.max(0, due - clock.monotonic()));
      const one: Promise<void> = this.#connect(++this.begun).finally(() => this.#open.delete(one));
      this.#open.add(one);
    }
  }

  async #connect(number: number): Promise<void> {
    const began = clock.monotonic();
    try {
      const status = await answer(this.#to);
      if (status !== 200) this.dropped.push({ number, why: `status ${status}` });
    } catch (error) {
      this.dropped.push({ number, why: String(error) });
    }
    this.slowestMs = Math.max(this.slowestMs, clock.monotonic() - began);
  }
}

interface Question {
  port: number;
  host?: string;
  path?: string;
  /** Unset: any certificate will do. */
  ca?: string;
}

/** The status with which an API server answers over a connection of its own. */
async function answer({ ca, ...at }: Question): Promise<number | undefined> {
  const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
  const options = { host: BALANCER, path: "/version", ...at, ...trust, agent: false, timeout: 60_000 };
  return await new Promise((resolve, reject) => {
    const request = get(options, (response) => {
      response.on("error", reject).on("end", () => resolve(response.statusCode));
      response.resume();
    });
    request.on("error", reject).on("timeout", () => request.destroy(new Error("no answer within a minute")));
  });
}
