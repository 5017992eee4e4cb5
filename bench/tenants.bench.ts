/**
 * Tenants' control planes of one `slipway up`. `--runtime embedded`: how long N of them take from their creation to Ready, the memory of each, and what they cost at rest. `--runtime process`: from creation
 * to Ready one by one, beside an etcd and a kube-apiserver alone; the memory of the etcd that they share; sleeping and waking.
 * Run: `node bench/tenants.bench.ts [N] --runtime embedded|process [--idle seconds]`; with `--idle 0` embedded ones are not measured at rest. Linux only: memory and CPU time are read from /proc.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock as clock } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { TenantControlPlane } from "../src/kinds/kamaji/tenant-control-plane.ts";
import { childrenOf, cpuOf, residentOf } from "./proc.ts";
import { startServer } from "./servers.ts";
import { printMachine, report } from "./table.ts";
import { withUp } from "./up.ts";

const NAMESPACE = "tenants";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runtime: { type: "string", default: "embedded" }, idle: { type: "string", default: "30" } },
});
const isEmbedded = values.runtime === "embedded";
const count = Number(positionals[0] ?? (isEmbedded ? 100 : 10));

printMachine(`${count} tenants, ${values.runtime}`);
const dir = mkdtempSync(join(tmpdir(), "slipway-bench-"));
try {
  if (!isEmbedded) await alone();
  await withUp(["--dir", dir, "--tenants-runtime", values.runtime], async (client, pid) => {
    await client.create(Namespace, { metadata: { name: NAMESPACE } });
    await (isEmbedded ? embedded : processes)(client, pid);
  });
} finally {
  rmSync(dir, { recursive: true });
}

/** The peer: an etcd and a kube-apiserver that nobody but their administrator asks. */
async function alone(): Promise<void> {
  const server = await startServer("real", true);
  report("etcd and kube-apiserver alone, until ready", server.readySeconds, "s");
  await server.close();
}

async function make(client: Client, name: string): Promise<void> {
  await client.create(TenantControlPlane, {
    metadata: { namespace: NAMESPACE, name },
    spec: {
      controlPlane: { deployment: { replicas: 1 }, service: { serviceType: "LoadBalancer" } },
      kubernetes: { version: "v1.36.3", kubelet: { cgroupfs: "systemd" } },
      networkProfile: { port: 16_443 },
      addons: { coreDNS: {}, kubeProxy: {} },
    },
  } as never);
}

/** Seconds until so many tenants have this state. */
async function until(client: Client, state: string, wanted: number): Promise<number> {
  const began = performance.now();
  for (;;) {
    const looked = performance.now();
    const { items } = await client.list(TenantControlPlane, { namespace: NAMESPACE });
    const found = items.filter(({ status }) => status?.kubernetesResources?.version?.status === state);
    const now = performance.now();
    if (found.length >= wanted) return (now - began) / 1000;
    // A list of a thousand costs the server much: at most a tenth of its time goes to these looks.
    await clock.sleep(Math.max(50, 9 * (now - looked)));
  }
}

/** CPU at rest, as a share of a core, and the memory that it has then. */
async function atRest(pids: readonly number[]): Promise<{ cpu: number; memory: number }> {
  const seconds = Number(values.idle);
  const sum = (of: (pid: number) => number): number => pids.reduce((all, pid) => all + of(pid), 0);
  const before = sum(cpuOf);
  await clock.sleep(seconds * 1000);
  return { cpu: (sum(cpuOf) - before) / seconds, memory: sum(residentOf) };
}

async function embedded(client: Client, pid: number): Promise<void> {
  const rests = Number(values.idle) > 0;
  const empty = rests ? await atRest([pid]) : { cpu: 0, memory: 0 };
  if (rests) report("at rest without tenants", empty.cpu * 1000, "mCPU");
  const [began, cpu] = [performance.now(), cpuOf(pid)];
  const all = Array.from({ length: count }, (_, at) => make(client, `tenant-${at}`));
  await Promise.all(all);
  await until(client, "Ready", count);
  report(`${count} tenants, created to Ready`, (performance.now() - began) / 1000, "s", 60);
  report("CPU time for each until then", (1000 * (cpuOf(pid) - cpu)) / count, "ms");
  if (!rests) return;
  // What a start leaves behind is collected after a while of rest.
  await clock.sleep(150_000);
  const full = await atRest([pid]);
  report("memory of each", (full.memory - empty.memory) / count, "MiB", 15);
  report(
    `at rest with ${count}, the process as it was without them taken off`,
    (full.cpu - empty.cpu) * 1000,
    "mCPU",
    12,
  );
}

async function processes(client: Client, pid: number): Promise<void> {
  const before = residentOf(pid);
  const times: number[] = [];
  const etcd = (): number => childrenOf(pid).find(({ name }) => name === "etcd")!.pid;
  let withOne = 0;
  for (let at = 0; at < count; at++) {
    const began = performance.now();
    await make(client, `tenant-${at}`);
    await until(client, "Ready", at + 1);
    times.push((performance.now() - began) / 1000);
    if (at === 0) withOne = residentOf(etcd());
  }
  report("the first tenant, created to Ready", times[0]!, "s", 5);
  report("the last", times.at(-1)!, "s");
  const etcdMiB = residentOf(etcd());
  report(`the etcd of all ${count}`, etcdMiB, "MiB");
  report(`against ${count} etcds of one tenant each`, (withOne * count) / etcdMiB, "× less");
  const { cpu, memory } = await atRest([pid]);
  report("slipway's own memory for each tenant", (memory - before) / count, "MiB", 6);
  report("slipway at rest", cpu * 1000, "mCPU");
  for (const [state, replicas] of [
    ["Sleeping", 0],
    ["Ready", 1],
  ] as const) {
    const body = { spec: { controlPlane: { deployment: { replicas } } } };
    await client.patch(TenantControlPlane, { namespace: NAMESPACE, name: "tenant-0" }, { type: "merge", body });
    const seconds = await until(client, state, state === "Ready" ? count : 1);
    report(state === "Ready" ? "waking of one that slept" : "falling asleep", seconds, "s");
  }
}
