/**
 * A pool that waits: machines that take ten minutes to be handed over, in virtual time. What the operator asks of the cloud must grow
 * with time and pages, not with machines. Run: `node bench/waiting.bench.ts [machines]`.
 */
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Instance } from "../src/kinds/harvester/instance.ts";
import { PAGE_SIZE } from "../src/machines/drivers/equinix/client.ts";
import { REAL_TIMINGS } from "../src/sim/equinix/options.ts";
import { METAL_TIMINGS } from "../src/sim/firmware/timings.ts";
import { POLL_MS, poolWorld } from "./pool-world.ts";
import { cpuSeconds, printMachine, report } from "./table.ts";

const MINUTE = 60_000;
const ORDERED_BY = 2 * MINUTE;
const WAIT = 8 * MINUTE;

const machines = Number(process.argv[2] ?? 1000);
const cloud = { ...REAL_TIMINGS, provisioningMs: [10 * MINUTE, 10 * MINUTE] as const };
printMachine(
  `${machines} machines that are handed over after 10 minutes; virtual time, polls every ${POLL_MS / 1000} s`,
);

const clock = new VirtualClock();
const world = await passing(poolWorld({ clock, cloud, firmware: METAL_TIMINGS, sockets: false, real: false }));
await passing(world.pool("bench", machines));
await clock.run(ORDERED_BY);
const bought = world.equinix.boughtEver().length;
if (bought !== machines) throw new Error(`${bought} machines were ordered within ${ORDERED_BY / MINUTE} minutes`);

const before = { calls: world.equinix.counters(), requests: world.operatorRequests.total, cpu: cpuSeconds() };
await clock.run(WAIT);
const after = world.equinix.counters();
const during = (operation: string): number => (after[operation] ?? 0) - (before.calls[operation] ?? 0);
const polls = WAIT / POLL_MS;
const pages = Math.ceil(machines / PAGE_SIZE);
console.log(`minutes 2 to 10: ${polls} polls of ${pages} pages`);
report("list pages per poll", during("findProjectDevices") / polls, "", pages);
const others = Object.keys(after).filter((name) => name !== "findProjectDevices");
report(
  "other cloud calls",
  others.reduce((sum, name) => sum + during(name), 0),
  "",
  0,
);
report(
  "Kubernetes requests per machine and minute",
  perMachineMinute(world.operatorRequests.total - before.requests),
  "",
);
report("CPU, as a share of the real time it would take", (cpuSeconds() - before.cpu) / (WAIT / 1000), "of a core");

await clock.run(30 * MINUTE);
const { items } = await passing(world.client.list(Instance));
const managed = items.filter((instance) => instance.status?.status === "managed").length;
const calls = Object.values(world.equinix.counters()).reduce((sum, count) => sum + count, 0);
report("machines managed half an hour later", managed, `of ${machines}`);
report("cloud calls per machine, in all 40 minutes", calls / machines, "", 6);
await passing(world.close());

function perMachineMinute(requests: number): number {
  return requests / machines / (WAIT / MINUTE);
}

/** Awaits what may need time to pass. */
async function passing<T>(work: Promise<T>): Promise<T> {
  let settled = false;
  const done = work.finally(() => {
    settled = true;
  });
  // Time may pass without anybody looking at a rejection yet.
  done.catch(() => {});
  await clock.run(10 * MINUTE, () => settled);
  return await done;
}
