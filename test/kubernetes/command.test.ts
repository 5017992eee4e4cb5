/** `slipway status`, `top` and `export` on a real kube-apiserver, beside two operator processes that share their work. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LEASE_TIMES } from "@slipway/kube";
import { Pod, Secret } from "@slipway/kube/core";
import { verb as exportVerb } from "../../src/cli/export.ts";
import { verb as status } from "../../src/cli/status.ts";
import { spoken } from "../../src/cli/testing.ts";
import { verb as top } from "../../src/cli/top.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { EXAMPLE_KEYS } from "../../src/laptop/metal.ts";
import type { ShardCrew } from "../../src/views/shards.ts";
import { whyNotHere } from "./cluster.ts";
import { type Live, startLive, until } from "./live.ts";

const NAMESPACE = "harvester-system";
const SHARDS = 4;
/** kube-apiserver sends nobody to loopback. */
const address = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
const skip =
  (await whyNotHere()) ?? (address === undefined ? "no network interface but loopback has an IPv4 address" : false);
const PASSWORD = "correct-horse-battery-of-this-test";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, address, listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Stands for an operator's process as a Pod: no kubelet is here. */
async function podOf({ cluster: { client } }: Live, name: string, containerPort: number): Promise<void> {
  const made = await client.create(Pod, {
    metadata: { namespace: NAMESPACE, name, labels: { "app.kubernetes.io/name": "slipway" } },
    spec: {
      serviceAccountName: "slipway",
      containers: [{ name: "slipway", image: "slipway", ports: [{ name: "health", containerPort }] }],
    },
  } as never);
  const now = { phase: "Running", podIP: address, podIPs: [{ ip: address }] };
  await client.updateStatus(Pod, { ...made, status: now } as never);
}

test("on a real API, status shows the shards that two operators hold, and those of one that was killed move; top reads both through pods/proxy; export has their objects and no secret", {
  skip,
}, async (t) => {
  const live = await startLive();
  t.after(() => live.close());
  const { client, plane } = live.cluster;
  const slipway = (verb: typeof status, ...args: string[]) =>
    spoken(t, verb, ...args, "--kubeconfig", plane.kubeconfigFile);
  const ports = [await freePort(), await freePort()];
  const begin = (port: number) => live.operator("--shards", String(SHARDS), "--health-listen", `${address}:${port}`);
  const [first, second] = [await begin(ports[0]!), await begin(ports[1]!)];

  const shards = async (): Promise<ShardCrew | undefined> => {
    const { out } = await slipway(status, "status", "-o", "json");
    return (JSON.parse(out) as { shards?: ShardCrew[] }).shards?.[0];
  };
  /** How many each of them holds; a holder's name ends with what it drew at its start. */
  const held = async (...replicas: (typeof first)[]): Promise<number[]> => {
    const crew = await shards();
    return replicas.map(({ identity }) =>
      Object.entries(crew?.held ?? {}).reduce((sum, [name, n]) => sum + (name.startsWith(`${identity}_`) ? n : 0), 0),
    );
  };
  const isShared = async (): Promise<boolean> => (await held(first, second)).every((n) => n === SHARDS / 2);
  await until("both hold two shards", isShared, 120_000, async () => JSON.stringify(await shards()));
  const { out } = await slipway(status, "status");
  assert.match(out, new RegExp(`^Shards\\n.*\\n +${NAMESPACE}/\\S+ +${SHARDS}/${SHARDS} +\\S+ 2, \\S+ 2`, "m"));

  await client.create(Secret, {
    metadata: { namespace: "default", name: "planted" },
    stringData: { password: PASSWORD },
  });
  const annotations = { note: `the password is ${PASSWORD}` };
  const spec = { plan: "c3.small.x86", metro: "SG", billingCycle: "hourly", count: 2 };
  await client.create(InstancePool, { metadata: { name: "rack", annotations }, spec });
  await live.whole(2);
  await topOf(live, slipway, ports);
  await exportOf(t, slipway);

  await first.end("SIGKILL");
  const hasMoved = async (): Promise<boolean> => (await held(second))[0] === SHARDS;
  await until("the other holds all", hasMoved, 3 * LEASE_TIMES.leaseMs, async () => JSON.stringify(await shards()));
  assert.deepEqual((await shards())?.free, []);
});

type Slipway = (verb: typeof status, ...args: string[]) => Promise<{ out: string; code: number }>;

async function topOf(live: Live, slipway: Slipway, ports: readonly number[]): Promise<void> {
  for (const [at, port] of ports.entries()) await podOf(live, `slipway-${at}`, port);
  const { out } = await slipway(top, "top", "--interval", "0.2", "-o", "json");
  const { machines, calls, controllers } = JSON.parse(out) as {
    machines: { bought: { total: number } };
    calls: { operation: string }[];
    controllers: { name: string; reconciles: { total: number } }[];
  };
  assert.equal(machines.bought.total, 2, "those of both operators are summed up");
  assert.ok(calls.length > 0);
  assert.ok(controllers.some(({ reconciles }) => reconciles.total > 0));
}

async function exportOf(t: TestContext, slipway: Slipway): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-export-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "bundle.tar.gz");
  const { out } = await slipway(exportVerb, "export", "-f", file);
  assert.match(out, /bundle\.tar\.gz: \d+ files, \d+ KiB/);
  execFileSync("tar", ["-xzf", file, "-C", folder]);
  const root = join(folder, "slipway-export");
  const names = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = new Map(
    names.map(({ parentPath, name }) => [
      join(parentPath, name).slice(root.length + 1),
      readFileSync(join(parentPath, name), "utf8"),
    ]),
  );
  assert.match(files.get("about.yaml") ?? "", /gitVersion: v1\./);
  assert.match(files.get("objects/instancepool.yaml") ?? "", /name: rack/);
  assert.match(files.get("status.txt") ?? "", /InstancePool\/rack/);
  assert.match(files.get("operator/objects.yaml") ?? "", /name: slipway-0/);
  // No kubelet is here that would have it.
  assert.match(files.get("problems.txt") ?? "", /log of Pod slipway-0/);
  const everything = [...files.values()].join("\n");
  for (const secret of [PASSWORD, EXAMPLE_KEYS.equinix.token])
    for (const form of [secret, Buffer.from(secret).toString("base64")])
      assert.ok(!everything.includes(form), `a secret is in it: ${form.slice(0, 5)}…`);
}
