import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cryptoRandom, deadline, isFault, quietLog, Secrets, systemClock } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { ConfigMap, Lease, Namespace } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import type { Kind } from "../kinds/kind.ts";
import { someHosts } from "../netboot/hosts/testing.ts";
import type { Netboot } from "../netboot/service/service.ts";
import { DEFAULT_NAMESPACE } from "../operator/defaults.ts";
import { KINDS } from "../operator/kinds.ts";
import { startLaptop } from "./laptop.ts";

const USUAL = {
  host: "127.0.0.1",
  port: 0,
  speed: 1000,
  kubernetes: "embedded",
  counterparts: [],
  log: quietLog,
} as const;

test("a laptop's join token is the same after a restart, and leaves the process nowhere", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "laptop-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const tokens: string[] = [];
  for (let run = 0; run < 2; run++) {
    const secrets = new Secrets();
    const laptop = await startLaptop({ ...USUAL, dir, secrets });
    t.after(() => laptop.close());
    assert.ok(await laptop.client.find(Namespace, { name: DEFAULT_NAMESPACE }));
    const published = await laptop.client.get(ConfigMap, { namespace: "default", name: "kube-root-ca.crt" });
    assert.equal(published.data?.["ca.crt"], laptop.identity.serving.clientCa, "clients are given its authority");
    const token = readFileSync(join(dir, "join-token"), "utf8");
    tokens.push(token);
    assert.equal(secrets.redact(`joined with ${token}`), "joined with [redacted]");
    await laptop.close();
  }
  assert.equal(tokens[0], tokens[1]);
  assert.match(tokens[0]!, /^[A-Za-z0-9]{32}$/);
});

test("a laptop's API serves all kinds before the operator starts, and says so then", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "laptop-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const seen: { pools: number; leases: number }[] = [];
  const laptop = await startLaptop({
    ...USUAL,
    ...{ dir, secrets: new Secrets() },
    async onServing({ url, identity }) {
      const kubeconfig = join(dir, "kubeconfig");
      writeFileSync(kubeconfig, identity.kubeconfig(url));
      const transport = createHttpTransport(await loadConnection({ kubeconfig, env: {}, clock: systemClock }));
      const client = createClient(transport, { clock: systemClock, random: cryptoRandom, log: quietLog });
      const [pools, leases] = [await client.list(KINDS[0]![0]!), await client.list(Lease)];
      await transport.close();
      seen.push({ pools: pools.items.length, leases: leases.items.length });
    },
  });
  t.after(() => laptop.close());
  assert.deepEqual(seen, [{ pools: 0, leases: 0 }]);
  const { signal, done } = deadline(systemClock, 30_000);
  while ((await laptop.client.list(Lease)).items.length === 0) {
    assert.ok(!signal.aborted, "the operator leads");
    await systemClock.sleep(20);
  }
  done();
});

test("a laptop that can't start gives back what it had opened, and starts once what was wrong is gone", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "laptop-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const start = (port = 0) => startLaptop({ ...USUAL, port, dir, secrets: new Secrets() });
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  t.after(() => holder.close());
  await assert.rejects(start((holder.address() as { port: number }).port), (error) => isFault(error, "Unavailable"));

  const broken = join(dir, "latitude.json");
  writeFileSync(broken, "{");
  await assert.rejects(start(), (error) => isFault(error, "Invalid") && error.on === broken);
  rmSync(broken);
  const laptop = await start();
  t.after(() => laptop.close());
  assert.equal(laptop.url, `https://127.0.0.1:${new URL(laptop.url).port}`);
  await laptop.close();
  assert.equal(statSync(dir).mode & 0o777, 0o700);
});

test("a laptop whose journal is damaged starts only to repair it, and reports what was done", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "laptop-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const report: string[] = [];
  const start = (of: object = {}) => startLaptop({ ...USUAL, dir, secrets: new Secrets(), ...of });
  const first = await start();
  await first.client.create(Namespace, { metadata: { name: "harbour", labels: { mark: "a-word-to-find" } } });
  await first.close();
  const file = join(dir, "kubernetes.db");
  const bytes = readFileSync(file);
  bytes[bytes.indexOf("a-word-to-find")]! ^= 1;
  writeFileSync(file, bytes);
  await assert.rejects(start(), (error) => isFault(error, "Invalid") && /harbour/.test(error.message));
  const mended = await start({ onRepair: (lines: string[]) => report.push(...lines) });
  t.after(() => mended.close());
  assert.match(report.join("\n"), /harbour/);
  assert.equal(await mended.client.find(Namespace, { name: "harbour" }), undefined);
  assert.ok(await mended.client.find(Namespace, { name: DEFAULT_NAMESPACE }));
  await mended.close();
});

test("what a laptop without a folder knows ends with it; the definitions of what it runs are served", async (t) => {
  const tokens = new Set<string>();
  const own = KINDS as readonly (readonly [Kind])[];
  assert.ok(own.length > 0);
  for (let run = 0; run < 2; run++) {
    const secrets = new Secrets();
    const add = secrets.add.bind(secrets);
    secrets.add = (value) => {
      if (value !== undefined && /^[A-Za-z0-9]{32}$/.test(value)) tokens.add(value);
      add(value);
    };
    const laptop = await startLaptop({ ...USUAL, dir: undefined, secrets });
    t.after(() => laptop.close());
    const { transport } = laptop;
    const served = async (path: string) => (await transport.request({ method: "GET", path })).status;
    for (const [{ group, version, plural }] of own)
      assert.equal(await served(`/apis/${group}/${version}/${plural}`), 200, plural);
    assert.equal(await served("/apis/metal3.io/v1alpha1/baremetalhosts"), 404, "netboot does not run");
    await laptop.close();
  }
  assert.equal(tokens.size, 2);
});

test("without Kubernetes' programs a laptop on a real one says where it looked, and has made a folder for that one alone", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "laptop-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const { KUBEBUILDER_ASSETS: before } = process.env;
  process.env.KUBEBUILDER_ASSETS = "/nowhere";
  t.after(() => {
    if (before === undefined) delete process.env.KUBEBUILDER_ASSETS;
    else process.env.KUBEBUILDER_ASSETS = before;
  });
  for (const folder of [undefined, dir])
    await assert.rejects(
      startLaptop({ ...USUAL, kubernetes: "real", dir: folder, secrets: new Secrets() }),
      (error) => isFault(error, "NotFound") && /no such program in \/nowhere/.test(error.message),
    );
  assert.equal(statSync(join(dir, "real")).mode & 0o777, 0o700);
});

test("machines that stand in for a user's own are served by their system, start once the operator runs, and end with it", async (t) => {
  const happened: string[] = [];
  const serving = Promise.withResolvers<void>();
  const { signal, done } = deadline(systemClock, 60_000);
  signal.addEventListener("abort", () => serving.reject(new Error("the service did not begin in time")));
  const start = async () => {
    serving.resolve();
    const close = async () => void happened.push("service ended");
    return { hosts: someHosts(systemClock), close } as unknown as Netboot;
  };
  const laptop = await startLaptop({
    ...{ ...USUAL, dir: undefined, secrets: new Secrets() },
    hardware: {
      netboot: async ({ speed }) => {
        happened.push(`made for ${speed}`);
        return {
          settings: { discovery: { namespace: "rack", most: 1, perSecond: 1 }, start },
          begin: () => void happened.push("begun"),
          close: async () => void happened.push("closed"),
        };
      },
    },
  });
  t.after(() => laptop.close());
  assert.deepEqual(happened, ["made for 1000", "begun"]);
  assert.ok(await laptop.client.find(Namespace, { name: "rack" }), "what the system prepares is there");
  const { status } = await laptop.transport.request({ method: "GET", path: "/apis/metal3.io/v1alpha1/baremetalhosts" });
  assert.equal(status, 200);
  // It begins with the lease.
  await serving.promise;
  done();
  await laptop.close();
  assert.deepEqual(happened.slice(2), ["service ended", "closed"]);
});
