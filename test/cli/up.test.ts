/** `slipway up` as a person starts it, again and again in one folder, with and without a simulated cluster. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import type { Client } from "@slipway/kube";
import { ConfigMap, CustomResourceDefinition, Lease, Namespace, Node } from "@slipway/kube/core";
import { applyObjects } from "../../src/laptop/apply.ts";
import { readManifests } from "../../src/laptop/manifests.ts";
import { SYSTEMS } from "../../src/operator/systems.ts";
import { OtlpCollector } from "../../src/sim/otlp-collector.ts";
import { freePort } from "../kubernetes/free-port.ts";
import { up, upUntilKilled } from "./running-up.ts";

const machinesDefinition = (client: Client) =>
  client.find(CustomResourceDefinition, { name: "machines.cluster.x-k8s.io" });
const nodes = async (client: Client): Promise<number> => (await client.list(Node)).items.length;

test("without --sim no cluster is there to join, with it one is, and what is left of it later is named", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "slipway-up-"));
  t.after(() => rm(dir, { recursive: true }));

  const versions = async (client: Client) => (await machinesDefinition(client))?.spec.versions.map(({ name }) => name);
  const fresh = await up(t, dir, [], async (client) => {
    assert.equal(await nodes(client), 0);
    assert.deepEqual(await versions(client), ["v1beta2", "v1beta1", "v1alpha2"], "Cluster API's kinds are served");
    assert.ok(await client.find(Namespace, { name: "harvester-system" }), "the operator's own namespace");
  });
  assert.match(fresh, /--sim harvester/);
  assert.match(fresh, /kubectl apply -f examples\/packet-kamaji\//);
  assert.doesNotMatch(fresh, /delete/);

  const simulated = await up(t, dir, ["--sim", "harvester"], async (client) => {
    assert.equal(await nodes(client), 3);
    assert.deepEqual(
      await versions(client),
      ["v1beta2", "v1beta1", "v1alpha2"],
      "the cluster brings no definition in their place",
    );
  });
  assert.match(simulated, /kubectl apply -f examples\/harvester\//);

  const after = await up(t, dir, [], async (client) => assert.equal(await nodes(client), 3));
  assert.match(after, /kubectl delete node harvester-manager-1 harvester-manager-2 harvester-manager-3\n/);
  assert.doesNotMatch(after, /customresourcedefinition/, "with the definition all Machines would go");
});

test("on a damaged journal `up` refuses to start and says how it can; with --repair it says what is lost, and starts", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "slipway-up-"));
  t.after(() => rm(dir, { recursive: true }));
  const keepsake = { namespace: "default", name: "keepsake" };
  await up(t, dir, [], async (client) => {
    await client.create(ConfigMap, { metadata: keepsake, data: { word: "as-it-was" } });
  });
  const journal = join(dir, "kubernetes.db");
  const bytes = await readFile(journal);
  bytes[bytes.indexOf("as-it-was")]! ^= 1;
  await writeFile(journal, bytes);

  const { code, out, err } = await new Promise<{ code: unknown; out: string; err: string }>((done) => {
    const options = { timeout: 120_000 };
    execFile("bin/slipway", ["up", "--dir", dir, "--port", "0"], options, (error, out, err) =>
      done({ code: error?.code, out, err }),
    );
  });
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /^slipway: \S+kubernetes\.db: the journal is damaged: .*default\/keepsake.*--repair.*\n$/);

  const said = await up(t, dir, ["--repair"], async (client) => {
    assert.equal(await client.find(ConfigMap, keepsake), undefined);
    assert.ok(await client.find(Namespace, { name: "harvester-system" }));
  });
  assert.match(said, /1 of \d+ objects are lost\n.*default\/keepsake/);
  assert.doesNotMatch(await up(t, dir, ["--repair"], async () => {}), /lost/);
});

/** Leases of the systems that `up` runs. */
const ELECTED = SYSTEMS.map(({ name }) => name)
  .filter((name) => name !== "netboot")
  .map((name) => `slipway-${name}`);

test("an operator beside `up` waits, and killed `up` leads again at once under the same name", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "slipway-up-"));
  t.after(() => rm(dir, { recursive: true }));
  const leases = async (client: Client): Promise<Lease[]> => {
    const { items } = await client.list(Lease, { namespace: "harvester-system" });
    for (const { metadata, spec } of items) assert.match(spec?.holderIdentity ?? "", /^up_/, metadata.name);
    return items;
  };
  const kubeconfig = join(dir, "kubeconfig");
  const health = await freePort();
  let before: Lease[] = [];
  const beside = async (client: Client): Promise<void> => {
    const listens = ["--boot-listen", "127.0.0.1:0", "--health-listen", `127.0.0.1:${health}`, "--log-level", "error"];
    const options = ["--kubeconfig", kubeconfig, "--boot-url", "http://127.0.0.1:9", ...listens];
    // On a busy machine the one that is started second could be the first to stand for a system.
    const elected = systemClock.now() + 60_000;
    for (let held: string[] = []; !ELECTED.every((name) => held.includes(name)); ) {
      assert.ok(systemClock.now() < elected, `\`up\` holds ${held.join(", ") || "no lease"} after a minute`);
      held = (await leases(client)).map(({ metadata }) => metadata.name!);
      await systemClock.sleep(100);
    }
    const operator = spawn("bin/slipway", ["operator", ...options], { stdio: ["ignore", "inherit", "inherit"] });
    t.after(() => operator.kill("SIGKILL"));
    // Its caches may still be filled when it is ready.
    const says = async (): Promise<string> =>
      (await fetch(`http://127.0.0.1:${health}/healthz?verbose`).catch(() => undefined))?.text() ?? "";
    const end = systemClock.now() + 60_000;
    let said = await says();
    while (!/^\[\+\] harvester: ready, does not lead$/m.test(said)) {
      assert.ok(systemClock.now() < end, `the operator beside is not ready after a minute: ${said}`);
      await systemClock.sleep(250);
      said = await says();
    }
    assert.doesNotMatch(said, /, leads$/m);
    before = await leases(client);
    assert.ok(before.length > 0, "`up` holds a lease for each system");
    operator.kill("SIGTERM");
    await once(operator, "exit");
  };
  await upUntilKilled(t, dir, [], beside);
  await up(t, dir, [], async (client) => {
    // A Lease with another holder would keep it waiting for fifteen seconds.
    const end = systemClock.now() + 10_000;
    const last = before
      .map(({ spec }) => spec!.renewTime!)
      .sort()
      .at(-1)!;
    while (!(await leases(client)).every(({ spec }) => spec!.renewTime! > last)) {
      assert.ok(systemClock.now() < end, "`up` does not lead again within ten seconds");
      await systemClock.sleep(100);
    }
    const holders = new Set([...before, ...(await leases(client))].map(({ spec }) => spec!.holderIdentity));
    assert.equal(holders.size, 1);
  });
});

test("--no-operator leaves the work to one that is started as it says", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "slipway-up-"));
  t.after(() => rm(dir, { recursive: true }));
  await up(t, dir, ["--no-operator", "--sim", "harvester", "--speed", "200"], async (client, said, transport) => {
    assert.deepEqual((await client.list(Lease)).items, []);
    const line = /export (TOKEN=.*)\n *(\S+ operator .*)/.exec(said);
    assert.ok(line, said);
    const boot = `http://127.0.0.1:${await freePort()}`;
    const command = `export ${line[1]}; exec ${line[2]!.replace(/http:\S+$/, boot)} --boot-listen ${boot.slice(7)} --poll-interval 1 --health-listen 127.0.0.1:0 --log-level error`;
    // What it sees of machines' lives goes to a collector.
    const collector = new OtlpCollector();
    const collecting = await serveHttp(collector.handler, { host: "127.0.0.1", port: 0 });
    t.after(() => collecting.close());
    const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: collecting.url, OTEL_SERVICE_NAME: "beside" };
    const operator = spawn("sh", ["-c", command], { stdio: ["ignore", "inherit", "inherit"], env });
    t.after(() => operator.kill("SIGKILL"));
    const leads = async () => (await client.list(Lease)).items.some(({ metadata }) => /harvester/.test(metadata.name!));
    const end = systemClock.now() + 60_000;
    while (!(await leads())) {
      assert.ok(systemClock.now() < end, "no operator leads the system of pools after a minute");
      await systemClock.sleep(250);
    }
    await applyObjects(
      { client, transport },
      await readManifests("examples/harvester", (file) => /latitude/.test(file)),
    );
    const later = systemClock.now() + 240_000;
    const whole = () => collector.spans.find(({ name }) => name === "Instance to ready");
    while (whole() === undefined) {
      assert.ok(systemClock.now() < later, `no machine's whole way was sent: ${JSON.stringify(collector)}`);
      await systemClock.sleep(250);
    }
    const trace = collector.spans.filter(({ traceId }) => traceId === whole()!.traceId).map(({ name }) => name);
    for (const step of ["machine ordered", "installed", "Node joined"]) assert.ok(trace.includes(step), `${trace}`);
    assert.deepEqual([collector.refused, collector.resources[0]!["service.name"]], [[], "beside"]);
    operator.kill("SIGTERM");
    await once(operator, "exit");
  });
});
