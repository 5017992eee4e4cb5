/**
 * Pools of many machines over hours of virtual time: machines fail and are taken away, the account's key is rotated and the operator is
 * upgraded, while requests, bytes and CPU are counted. Operator, API, cloud and machines are in this process.
 * Run: `make sim-scale MACHINES=1000 HOURS=24` (or `node bench/scale.ts 1000 24`).
 */
import type { Http } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { systemsOf } from "../src/operator/operator.ts";
import { HarvesterWorld } from "../test/system/harvester-world.ts";
import { HOUR, MINUTE, type RunningOperator } from "../test/system/world.ts";
import { Counts, countedTransport } from "./counts.ts";
import { cpuSeconds, printMachine, report, residentMiB } from "./table.ts";

/** Machines of a pool at most. */
const POOL = 100;
/** How often each machine fails, and how often it is taken away. */
const EACH_MS = 30 * 24 * HOUR;
const ROTATION_MS = 6 * HOUR;
const UPGRADE_MS = 6 * HOUR;
const SHOWN = 8;

const [machines, hours] = [Number(process.argv[2] ?? 100), Number(process.argv[3] ?? 24)] as const;
const requests = new Counts();
const calls = new Counts();
const bytes = { sent: 0, received: 0, watched: 0, cloud: 0 };

const world = await HarvesterWorld.create({
  systems: systemsOf(["harvester", "providers"]),
  transport: (inner) => weighed(countedTransport(inner, requests)),
  clouds: metered,
});
const draw = world.random;
printMachine(`${machines} machines in pools of up to ${POOL}, ${hours} hours of virtual time`);
let operator: RunningOperator = await world.operator({ election: true });
const pools = Math.ceil(machines / POOL);
const befallen = { failed: 0, revoked: 0, rotated: 0, upgraded: 0 };

await phase("bringing up", "machine", machines, async () => {
  for (let i = 0; i < pools; i++) await world.pool(`pool-${i}`, { count: sizeOf(i) });
  await world.until("all machines are in service", isWhole, 12 * HOUR, MINUTE);
});
await phase("keeping", "machine and hour", machines * hours, async () => {
  const end = world.clock.now() + hours * HOUR;
  let [rotateAt, upgradeAt] = [world.clock.now() + ROTATION_MS / 2, world.clock.now() + UPGRADE_MS];
  while (world.clock.now() < end) {
    await world.clock.run(MINUTE);
    befallen.failed += harm(({ id }) => world.cloud.fail(id));
    befallen.revoked += harm(({ id }) => world.cloud.kill(id));
    if (world.clock.now() >= rotateAt) {
      rotateAt += ROTATION_MS;
      await rotate();
    }
    if (world.clock.now() >= upgradeAt) {
      upgradeAt += UPGRADE_MS;
      await upgrade();
    }
  }
});
await world.until("all machines are in service again", isWhole, 12 * HOUR, MINUTE);
console.log(
  `befell: ${Object.entries(befallen)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ")}; ${world.cloud.bought()} machines were bought in all`,
);
await world.close();

function sizeOf(pool: number): number {
  return Math.min(POOL, machines - pool * POOL);
}

async function isWhole(): Promise<boolean> {
  return (await world.instances()).length === machines && (await world.converged());
}

/** Each machine has its chance in this minute. Resolves with how many it befell. */
function harm(work: (machine: { id: string }) => void): number {
  const there = world.cloud.machines().filter(({ wanted }) => wanted);
  const expected = (there.length * MINUTE) / EACH_MS;
  const count = Math.floor(expected) + (draw.fraction() < expected % 1 ? 1 : 0);
  for (let i = 0; i < count; i++) work(there[draw.int(there.length)]!);
  return count;
}

async function rotate(): Promise<void> {
  const { namespace, name, key } = world.accountSecret;
  const next = `key-${++befallen.rotated}`;
  world.cloud.rotateKey(next);
  const body = { stringData: { [key]: next } };
  await world.whileTimePasses(world.client.patch(Secret, { namespace, name }, { type: "merge", body }));
}

/** A new process waits, the old one ends, the new one leads. */
async function upgrade(): Promise<void> {
  const old = operator;
  operator = await world.operator({ election: true });
  await world.whileTimePasses(old.manager.stop());
  old.mortal.kill();
  befallen.upgraded++;
}

/** Does the work of one phase, and prints what it cost for each of so many units. */
async function phase(what: string, unit: string, units: number, work: () => Promise<void>): Promise<void> {
  const before = { requests: requests.snapshot(), calls: calls.snapshot(), bytes: { ...bytes }, cpu: cpuSeconds() };
  const began = world.clock.monotonic();
  await work();
  console.log(`${what}: ${((world.clock.monotonic() - began) / HOUR).toFixed(2)} hours of virtual time`);
  const each = (name: string, value: number, of: string): void =>
    report(`${what}: ${name} per ${unit}`, value / units, of);
  each("CPU of everything", (cpuSeconds() - before.cpu) * 1000, "ms");
  each("requests to the Kubernetes API", requests.total - sum(before.requests), "");
  each("calls to the cloud", calls.total - sum(before.calls), "");
  each("KB sent to the Kubernetes API", (bytes.sent - before.bytes.sent) / 1000, "KB");
  each("KB received from it", (bytes.received - before.bytes.received) / 1000, "KB");
  each("KB of watched events", (bytes.watched - before.bytes.watched) / 1000, "KB");
  each("KB of the cloud's answers", (bytes.cloud - before.bytes.cloud) / 1000, "KB");
  report(`${what}: resident memory at its end`, residentMiB(), "MiB");
  for (const [counts, was] of [[requests, before.requests] as const, [calls, before.calls] as const])
    for (const [name, count] of counts.entries().slice(0, SHOWN))
      console.log(`    ${name}: ${((count - (was.get(name) ?? 0)) / units).toFixed(3)}`);
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

function weighed(inner: Transport): Transport {
  const weight = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length);
  return {
    async request(request) {
      bytes.sent += weight(request.body);
      const answer = await inner.request(request);
      bytes.received += weight(answer.body);
      return answer;
    },
    async watch(request) {
      const stream = await inner.watch(request);
      if ("status" in stream) return stream;
      return (async function* () {
        for await (const event of stream) {
          bytes.watched += weight(event);
          yield event;
        }
      })();
    },
    close: () => inner.close(),
  };
}

/** Calls by method and path, ids left out. */
function metered(inner: Http): Http {
  return async (request) => {
    const path = new URL(request.url).pathname.replace(/[0-9a-f-]{16,}/g, "ID");
    calls.add(`${request.method} ${path}`);
    const answer = await inner(request);
    bytes.cloud += answer.body.length;
    return answer;
  };
}
