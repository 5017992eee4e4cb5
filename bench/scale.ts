/**
 * Pools of many machines over hours of virtual time: machines fail and stop by themselves, the accounts' key is rotated and the operator is
 * upgraded, while requests, bytes and CPU are counted. Operator, API, cloud and machines are in this process.
 * Run: `make sim-scale MACHINES=1000 HOURS=24` (or `node bench/scale.ts 1000 24 [--rest hours] [--project machines]`).
 */
import { parseArgs } from "node:util";
import { jsonLog } from "@slipway/base/json-log";
import { Secret } from "@slipway/kube/core";
import { MachineProvider } from "../src/kinds/slipway/machine-provider.ts";
import { EXAMPLE_KEYS } from "../src/laptop/metal.ts";
import { systemsOf } from "../src/operator/operator.ts";
import { HarvesterWorld } from "../test/system/harvester-world.ts";
import { HOUR, MINUTE, type RunningOperator } from "../test/system/world.ts";
import { ScaleMeter } from "./scale-meter.ts";
import { cpuSeconds, printMachine, residentMiB } from "./table.ts";

/** Machines of a pool at most. */
const POOL = 100;
/** How often each machine fails, and how often it stops by itself, which its pool waits for. */
const EACH_MS = 30 * 24 * HOUR;
const ROTATION_MS = 6 * HOUR;
const UPGRADE_MS = 6 * HOUR;
/** A line of progress after so much CPU. */
const PROGRESS_S = 60;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rest: { type: "string", default: "0.5" }, project: { type: "string", default: "25000" } },
});
const machines = Number(positionals[0] ?? 100);
const hours = Number(positionals[1] ?? 24);
const restHours = Number(values.rest);
const projects = Array.from({ length: Math.ceil(machines / Number(values.project)) }, (_, i) => ({
  id: i === 0 ? EXAMPLE_KEYS.equinix.project.id : `5f1c7f0e-9f3a-4d52-8a51-${String(i).padStart(12, "0")}`,
  name: i === 0 ? EXAMPLE_KEYS.equinix.project.name : `demo-${i}`,
}));

const meter = new ScaleMeter();
const world = await HarvesterWorld.create({
  systems: systemsOf(["harvester", "providers"]),
  transport: (inner) => meter.transport(inner),
  clouds: (inner) => meter.http(inner),
  equinix: { projects },
  // As in production, but nobody keeps it.
  log: (secrets) => jsonLog({ level: "info", secrets, destination: { write: () => {} } }),
});
const draw = world.random;
const pools = Math.ceil(machines / POOL);
printMachine(
  `${machines} machines in ${pools} pools and ${projects.length} projects, ${hours} hours of virtual time, after ${restHours} at rest`,
);
let operator: RunningOperator = await world.operator({ election: true });
const befallen = { failed: 0, stopped: 0, rotated: 0, upgraded: 0 };
const perHour = { unit: "machine and hour", clock: world.clock };
let told = cpuSeconds();

await meter.phase("bringing up", { unit: "machine", clock: world.clock }, async () => {
  await openProjects();
  for (let i = 0; i < pools; i++)
    await world.pool(`pool-${i}`, { count: sizeOf(i), ...(projectOf(i) > 0 && { providerRef: { name: nameOf(i) } }) });
  await world.until("all machines are in service", isWhole, 12 * HOUR, MINUTE);
  return machines;
});
if (restHours > 0)
  await meter.phase("at rest", perHour, async () => {
    await minutes(restHours, async () => {});
    return machines * restHours;
  });
await meter.phase("keeping", perHour, async () => {
  // At least one of each in a short run, too.
  let [rotateIn, upgradeIn] = [Math.min(ROTATION_MS / 2, (hours * HOUR) / 3), Math.min(UPGRADE_MS, (hours * HOUR) / 2)];
  await minutes(hours, async () => {
    befallen.failed += harm(({ id }) => world.cloud.fail(id));
    befallen.stopped += harm(({ id }) => world.cloud.kill(id));
    [rotateIn, upgradeIn] = [rotateIn - MINUTE, upgradeIn - MINUTE];
    if (rotateIn <= 0) {
      rotateIn = ROTATION_MS;
      await rotate();
    }
    if (upgradeIn <= 0) {
      upgradeIn = UPGRADE_MS;
      await upgrade();
    }
  });
  return machines * hours;
});
await world.until("all machines are in service again", isWhole, 12 * HOUR, MINUTE);
const events = Object.entries(befallen).map(([what, count]) => `${count} ${what}`);
console.log(`befell: ${events.join(", ")}; ${world.cloud.bought()} machines were bought in all`);
await judge();
await world.close();

/** Nothing is bought twice: each Instance that ever was has bought one machine, and what is there belongs to the pools. */
async function judge(): Promise<void> {
  const there = world.cloud.machines().filter(({ wanted }) => wanted);
  const names = new Set(there.map(({ hostname }) => hostname));
  const wanted = new Set((await world.instances()).map(({ metadata }) => metadata.name));
  const foreign = [...names].filter((name) => !wanted.has(name));
  if (there.length !== machines || names.size !== machines || foreign.length > 0)
    throw new Error(`${there.length} machines of ${names.size} names for ${machines}; of no Instance: ${foreign}`);
  const most = machines + befallen.failed;
  if (world.cloud.bought() > most)
    throw new Error(`${world.cloud.bought()} machines were bought, where ${most} are enough`);
}

/** Hours of virtual time, minute by minute. */
async function minutes(hours: number, each: () => Promise<void>): Promise<void> {
  const end = world.clock.monotonic() + hours * HOUR;
  while (world.clock.monotonic() < end) {
    await world.clock.run(MINUTE);
    await each();
    progress();
  }
}

function progress(): void {
  if (cpuSeconds() - told < PROGRESS_S) return;
  told = cpuSeconds();
  const what = Object.values(befallen).join("/");
  console.error(
    `  ${(world.clock.monotonic() / HOUR).toFixed(2)} h, ${told.toFixed(0)} s of CPU, ${residentMiB().toFixed(0)} MiB, ${world.cloud.machines().length} machines, befallen ${what}`,
  );
}

function sizeOf(pool: number): number {
  return Math.min(POOL, machines - pool * POOL);
}

function projectOf(pool: number): number {
  return pool % projects.length;
}

function nameOf(pool: number): string {
  return `project-${projectOf(pool)}`;
}

/** The first project is the one of the operator's Secret; each further one has a MachineProvider. */
async function openProjects(): Promise<void> {
  for (const [i, { id }] of projects.entries()) {
    if (i === 0) continue;
    const metadata = { name: `project-${i}`, namespace: world.accountSecret.namespace };
    const stringData = { METAL_AUTH_TOKEN: world.equinix.token, PROJECT_ID: id };
    await world.whileTimePasses(world.client.create(Secret, { metadata, stringData }));
    const spec = { type: "equinix" as const, credentialsSecretRef: { name: metadata.name } };
    await world.whileTimePasses(world.client.create(MachineProvider, { metadata: { name: metadata.name }, spec }));
  }
}

async function isWhole(): Promise<boolean> {
  progress();
  const all = await world.pools();
  return (
    all.length === pools &&
    all.every(
      ({ metadata, status }) => status?.status === "ready" && status.observedGeneration === metadata.generation,
    ) &&
    (await world.converged())
  );
}

/** Each machine has its chance in this minute. Resolves with how many it befell. */
function harm(work: (machine: { id: string }) => void): number {
  const there = world.cloud.machines().filter(({ wanted }) => wanted);
  const expected = (there.length * MINUTE) / EACH_MS;
  const count = Math.floor(expected) + (draw.fraction() < expected % 1 ? 1 : 0);
  for (let i = 0; i < count; i++) work(there[draw.int(there.length)]!);
  return count;
}

/** All projects are of one key. */
async function rotate(): Promise<void> {
  const { namespace, name, key } = world.accountSecret;
  const next = `key-${++befallen.rotated}`;
  world.cloud.rotateKey(next);
  const body = { stringData: { [key]: next } };
  const names = projects.map((_, i) => (i === 0 ? name : `project-${i}`));
  for (const each of names)
    await world.whileTimePasses(world.client.patch(Secret, { namespace, name: each }, { type: "merge", body }));
}

/** A new process waits, the old one ends, the new one leads. */
async function upgrade(): Promise<void> {
  const old = operator;
  operator = await world.operator({ election: true });
  await world.whileTimePasses(old.manager.stop());
  old.mortal.kill();
  befallen.upgraded++;
}
