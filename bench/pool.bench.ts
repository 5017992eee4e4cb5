/**
 * One pool of machines (one for each 5000) from `apply` until it says that all are ready, on a cloud that answers at once and machines that
 * boot in no time, so that what is left is Slipway's own work; then what the finished pool costs while nothing happens. The process holds everything: embedded
 * API (with `--kubernetes real`, kube-apiserver and etcd run beside it instead), operator, cloud, machines and the cluster they join.
 * Run: `node bench/pool.bench.ts [machines] [--sockets] [--kubernetes real] [--idle seconds]`.
 */
import { parseArgs } from "node:util";
import { systemClock } from "@slipway/base";
import { INSTANT_TIMINGS } from "../src/sim/equinix/options.ts";
import { NO_TIMINGS } from "../src/sim/firmware/timings.ts";
import { asCommand } from "./as-command.ts";
import { POLL_MS, type PoolWorld, poolWorld } from "./pool-world.ts";
import { cpuSeconds, peakMiB, printMachine, report, residentMiB } from "./table.ts";

const saver = asCommand();
/** The largest pool that the kind allows. */
const POOL_SIZE = 5000;
/** Machines in service are looked at every other poll; and after 75 s the embedded API forgets the changes of the burst. */
const SETTLE_MS = Math.max(2 * POLL_MS, 75_000) + 25_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sockets: { type: "boolean", default: false },
    kubernetes: { type: "string", default: "embedded" },
    idle: { type: "string", default: "30" },
  },
});
const machines = Number(positionals[0] ?? 1000);
const { sockets } = values;
const real = values.kubernetes === "real";
/** What was set as a goal for the embedded API; on the real one, whose own work counts too, there is more time. */
const SECONDS = real
  ? new Map([
      [100, 10],
      [1000, 25],
    ])
  : new Map([
      [1000, 60],
      [10_000, 150],
    ]);

printMachine(
  `${machines} machines; cloud and boot service ${sockets ? "on loopback sockets" : "by direct call"}; ${real ? "kube-apiserver with etcd beside it, over TLS" : "embedded API in memory, by direct call"}`,
);
const world = await poolWorld({ clock: systemClock, cloud: INSTANT_TIMINGS, firmware: NO_TIMINGS, sockets, real });
await measureApply(world);
if (Number(values.idle) > 0) await measureIdle(world, Number(values.idle));
await world.close();
saver.close();

async function measureApply(world: PoolWorld): Promise<void> {
  const [began, cpu, serverCpu] = [performance.now(), cpuSeconds(), world.serverCpuSeconds()];
  for (let left = machines, number = 1; left > 0; left -= POOL_SIZE, number++)
    await world.pool(`bench-${number}`, Math.min(left, POOL_SIZE));
  await world.managed(machines);
  const seconds = (performance.now() - began) / 1000;
  const budgeted = machines === 1000;
  report("from apply to all ready", seconds, "s", SECONDS.get(machines));
  report("machines per second", machines / seconds, "/s");
  report("CPU time", cpuSeconds() - cpu, "s");
  if (real) report("CPU time of kube-apiserver and etcd", world.serverCpuSeconds() - serverCpu, "s");
  report("peak resident memory", peakMiB(), "MiB", budgeted ? 400 : undefined);
  const calls = Object.entries(world.equinix.counters());
  const total = calls.reduce((sum, [, count]) => sum + count, 0);
  report("cloud calls per machine", total / machines, "", 6);
  for (const [operation, count] of calls) report(`  ${operation}`, count / machines, "");
  report("Kubernetes requests per machine, operator", world.operatorRequests.total / machines, "");
  for (const [name, count] of world.operatorRequests.entries()) report(`  ${name}`, count / machines, "");
  report("Kubernetes requests per machine, its cluster", world.siteRequests.total / machines, "");
}

async function measureIdle(world: PoolWorld, seconds: number): Promise<void> {
  // The first look after a machine has joined still finds news: its final state at the provider.
  await systemClock.sleep(SETTLE_MS);
  const calls = (): number => Object.values(world.equinix.counters()).reduce((sum, count) => sum + count, 0);
  const named = world.operatorRequests.snapshot();
  const before = { calls: calls(), operator: world.operatorRequests.total, site: world.siteRequests.total };
  const cpu = cpuSeconds();
  await systemClock.sleep(seconds * 1000);
  const rate = (now: number, then: number): number => (now - then) / seconds;
  console.log(`idle for ${seconds} s, ${machines} machines managed`);
  report("CPU", rate(cpuSeconds(), cpu), "of a core", 0.1);
  report("resident memory", residentMiB(), "MiB", machines === 1000 ? 200 : undefined);
  const operator = rate(world.operatorRequests.total, before.operator);
  const cloud = rate(calls(), before.calls);
  const site = rate(world.siteRequests.total, before.site);
  report("requests of all kinds", operator + cloud + site, "/s", 20);
  report("  operator to Kubernetes", operator, "/s");
  for (const [name, count] of world.operatorRequests.entries()) {
    const since = rate(count, named.get(name) ?? 0);
    if (since > 0) report(`    ${name}`, since, "/s");
  }
  report("  operator to the cloud", cloud, "/s");
  report("  simulated kubelets to Kubernetes", site, "/s");
  const queued = world.operator.manager.queues().reduce((sum, queue) => sum + queue.ready + queue.active, 0);
  report("keys in queues", queued, "", 0);
}
