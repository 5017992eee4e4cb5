/** `slipway operator` as a process of its own: on a Kubernetes API over TLS, with a cloud over HTTP, and ended by a signal. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { type Client, createClient } from "@slipway/kube";
import { Lease, Namespace, Secret } from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { EXAMPLE_KEYS, startMetal } from "../../src/laptop/metal.ts";
import { KINDS } from "../../src/operator/kinds.ts";
import { counterpart } from "../../src/systems/harvester/simulated.ts";

const NAMESPACE = "harvester-system";
const JOIN_TOKEN = "join-token-of-the-process-test";
const PATIENCE_MS = 60_000;
const ports = { clock: systemClock, random: cryptoRandom, log: quietLog };

/** The embedded API over TLS with simulated metal, and a kubeconfig for it. */
async function cluster(t: TestContext): Promise<{ client: Client; kubeconfig: string; equinix: string }> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-operator-"));
  t.after(() => rm(dir, { recursive: true }));
  const identity = await laptopIdentity(undefined, "127.0.0.1", systemClock);
  const api = await createApiServer(ports);
  t.after(() => api.close());
  const socket = await api.listen({ tls: identity.serving });
  t.after(() => socket.close());
  const kubeconfig = join(dir, "kubeconfig");
  await writeFile(kubeconfig, identity.kubeconfig(socket.url), { mode: 0o600 });
  const client = createClient(api.transport(), ports);
  const http = undiciHttp({});
  t.after(() => http.close());
  const site = { vip: "10.20.30.40", joinToken: JOIN_TOKEN };
  const metal = await startMetal({
    client,
    ...ports,
    http,
    speed: 2000,
    ...site,
    counterparts: [counterpart],
    dir: undefined,
  });
  t.after(() => metal.close());
  await client.create(Namespace, { metadata: { name: NAMESPACE } }).catch(() => {});
  const stringData = { METAL_AUTH_TOKEN: EXAMPLE_KEYS.equinix.token, PROJECT_ID: EXAMPLE_KEYS.equinix.project.id };
  await client.create(Secret, { metadata: { name: "equinix-addon", namespace: NAMESPACE }, stringData });
  return { client, kubeconfig, equinix: metal.equinix.url };
}

interface Running {
  child: ChildProcess;
  said: string[];
  /** Base URL of /healthz, /readyz and /metrics. */
  health: string;
}

async function operator(t: TestContext, kubeconfig: string, equinix: string, ...more: string[]): Promise<Running> {
  const bootPort = await freePort();
  const child = spawn(
    "bin/slipway",
    // biome-ignore format: pairs of name and value
    ["operator", "--kubeconfig", kubeconfig, "--boot-url", `http://127.0.0.1:${bootPort}`, "--boot-listen", `127.0.0.1:${bootPort}`,
      "--health-listen", "127.0.0.1:0", "--poll-interval", "0.2", ...more],
    {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env.PATH, TOKEN: JOIN_TOKEN, EQUINIX_ENDPOINT: equinix },
    },
  );
  t.after(() => child.kill("SIGKILL"));
  const said: string[] = [];
  const started = Promise.withResolvers<string>();
  createInterface({ input: child.stderr! }).on("line", (line) => {
    said.push(line);
    if (line.includes("operator started")) started.resolve((JSON.parse(line) as { health: string }).health);
  });
  child.once("exit", () => started.reject(new Error(`it ended before it started:\n${said.join("\n")}`)));
  return { child, said, health: await started.promise };
}

async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

async function until(what: string, holds: () => Promise<boolean>, story: () => string): Promise<void> {
  const end = systemClock.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (systemClock.now() > end) throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}\n${story()}`);
    await systemClock.sleep(50);
  }
}

/** A health page without Metal3's hosts, which nothing here needs. */
function needed(page: string): string {
  return page.replaceAll(/^.*baremetalhosts\S* not served by the API, .* \(optional\)\n/gm, "");
}

test("H26 the operator as a process makes a pool ready, shows its health and metrics, and gives its lease back when it is asked to end", async (t) => {
  const { client, kubeconfig, equinix } = await cluster(t);
  const { child, said, health } = await operator(t, kubeconfig, equinix);
  const story = (): string => said.slice(-10).join("\n");

  const spec = { plan: "c3.small.x86", metro: "SG", billingCycle: "hourly", count: 2 };
  await client.create(InstancePool, { metadata: { name: "rack" }, spec });
  const ready = async () => (await client.get(InstancePool, { name: "rack" })).status?.status === "ready";
  await until("the pool is ready", ready, story);

  for (const path of ["/healthz", "/readyz"]) {
    const answer = await fetch(`${health}${path}`);
    assert.deepEqual([answer.status, needed(await answer.text())], [200, "ok\n"]);
  }
  const metrics = await (await fetch(`${health}/metrics`)).text();
  assert.match(metrics, /controller_runtime_reconcile_total\{controller="instancepool",result="success"\} [1-9]/);
  assert.match(metrics, /workqueue_adds_total\{name="instancepool"/);
  assert.match(metrics, /slipway_machines_bought_total 2\n/);
  assert.match(metrics, /slipway_instances\{status="managed"\} 2\n/);
  assert.match(metrics, /slipway_cloud_calls_total\{provider="equinix",operation="create",code="ok"\} 2\n/);
  assert.match(metrics, /leader_election_master_status\{name="slipway-harvester"\} 1\n/);

  await client.delete(InstancePool, { name: "rack" });
  await until("nothing is left", async () => (await client.list(Instance)).items.length === 0, story);
  assert.match(await (await fetch(`${health}/metrics`)).text(), /slipway_machines_released_total 2\n/);

  const lease = { namespace: NAMESPACE, name: "slipway-harvester" };
  assert.notEqual((await client.get(Lease, lease)).spec?.holderIdentity, "");
  child.kill("SIGTERM");
  const [code, signal] = await once(child, "exit");
  assert.deepEqual([code, signal], [0, null], story());
  assert.equal((await client.get(Lease, lease)).spec?.holderIdentity, "");
  assert.ok(!said.some((line) => line.includes(JOIN_TOKEN) || line.includes(EXAMPLE_KEYS.equinix.token)));
});

test("without definitions the operator is ready and says what it waits for; once they are installed nothing is missing", async (t) => {
  const { client, kubeconfig, equinix } = await cluster(t);
  const { child, said, health } = await operator(t, kubeconfig, equinix, "--no-install-crds");
  const page = async (path: string): Promise<[number, string]> => {
    const answer = await fetch(`${health}${path}`);
    return [answer.status, await answer.text()];
  };
  const [status, text] = await page("/readyz");
  assert.equal(status, 200);
  assert.match(text, /^ok\nharvester: instancepools\.equinix\.harvesterhci\.io not served by the API, since /);
  assert.match((await page("/healthz?verbose"))[1], /^ok\n\[-\] harvester: waits, /);
  assert.match((await page("/metrics"))[1], /slipway_system_ready\{system="providers"\} 0\n/);
  await installCrds(client, systemClock, AbortSignal.timeout(PATIENCE_MS), KINDS);
  const all = async () => needed((await page("/readyz"))[1]) === "ok\n";
  await until("nothing is waited for", all, () => said.slice(-10).join("\n"));
  child.kill("SIGTERM");
  await once(child, "exit");
});
