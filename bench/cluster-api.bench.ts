/**
 * Cluster API's core: Slipway's light one and upstream's (v1.14.2), one after the other, each on a kube-apiserver of its own, with the same hosts that are there in no time. Many small clusters from their
 * creation to Running, what the core costs at rest then, one large MachineDeployment, and a roll-out. CPU, memory and requests are the core's own: those of this process are taken off.
 * Run: `node bench/cluster-api.bench.ts [--clusters 50] [--machines 20] [--one 1000] [--rollout 100] [--idle seconds] [--cores light,upstream] [--requests]`. Linux only: /proc is read.
 */
import { parseArgs } from "node:util";
import { systemClock as clock } from "@slipway/base";
import { Store } from "@slipway/kube";
import type { Machine } from "../src/kinds/cluster-api/machine.ts";
import { Machine as MachineKind } from "../src/kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../src/kinds/cluster-api/machine-deployment.ts";
import { programs } from "../test/kubernetes/cluster-api/clusterctl.ts";
import { SimMachineTemplate } from "../test/system/cluster-api-provider.ts";
import { type Core, type CoreName, startCore } from "./cluster-api-cores.ts";
import { Hosts, NAMESPACE, VERSION } from "./cluster-api-hosts.ts";
import { cpuOf, residentOf } from "./proc.ts";
import { keep } from "./record.ts";
import { printMachine } from "./table.ts";

const { values } = parseArgs({
  options: {
    clusters: { type: "string", default: "50" },
    machines: { type: "string", default: "20" },
    one: { type: "string", default: "1000" },
    rollout: { type: "string", default: "100" },
    idle: { type: "string", default: "60" },
    cores: { type: "string", default: "light,upstream" },
    requests: { type: "boolean", default: false },
  },
});
const [clusters, machines, one, rollout, idle] = [
  values.clusters,
  values.machines,
  values.one,
  values.rollout,
  values.idle,
].map(Number) as [number, number, number, number, number];
const PATIENCE_MS = 30 * 60_000;
const LOOK_MS = 100;
const SAMPLE_MS = 250;

const cores = values.cores.split(",") as CoreName[];
const folder = await programs(
  "kubectl",
  ...(cores.includes("upstream") ? ["clusterctl", "capi-core", "capi-bootstrap"] : []),
);
if (folder instanceof Error) {
  console.log(`cluster-api: skipped: ${folder.message}`);
  process.exit();
}
printMachine(`${clusters} clusters of ${machines} machines, one deployment of ${one}, a roll-out of ${rollout}`);
console.log(
  `${"".padEnd(52)} ${["time", "CPU", "peak", "at end", "requests"].map((word) => word.padStart(10)).join(" ")}`,
);
const all = (store: Store<Machine>): Machine[] => [...store.values()];
const isRunning = ({ status }: Machine): boolean => status?.phase === "Running";
const sum = (core: Core, of: (pid: number) => number): number => core.pids().reduce((total, pid) => total + of(pid), 0);
const mib = (value: number): string => `${value.toFixed(0)} MiB`;

interface World {
  core: Core;
  hosts: Hosts;
  machines: Store<Machine>;
}

async function withCore(name: CoreName, work: (world: World) => Promise<void>): Promise<void> {
  const core = await startCore(name, folder as string);
  const hosts = await Hosts.start(core.transport);
  const store = new Store<Machine>();
  void hosts.follow(MachineKind as never, store as never);
  try {
    await Promise.race([work({ core, hosts, machines: store }), hosts.broken]);
  } finally {
    await hosts.close();
    await core.close();
  }
}

async function manySmall(world: World): Promise<void> {
  const { hosts, core } = world;
  const names = Array.from({ length: clusters }, (_, at) => `cluster-${at}`);
  await measured(world, `${clusters} clusters of ${machines}, created to Running`, async () => {
    await Promise.all(
      names.map(async (name) => {
        await hosts.cluster(name);
        await deploy(hosts, name, name, machines);
      }),
    );
    await running(world, clusters * machines);
  });
  // What a start leaves behind is done.
  await clock.sleep(30_000);
  const before = sum(core, cpuOf);
  await measured(world, `at rest with ${clusters * machines} machines, ${idle} s`, () => clock.sleep(idle * 1000));
  const share = (sum(core, cpuOf) - before) / idle;
  keep(`${core.name}: CPU at rest`, share, "of a core");
  console.log(`${core.name.padEnd(9)} ${"CPU at rest, of a core".padEnd(42)} ${share.toFixed(3).padStart(10)}`);
}

async function oneLarge(world: World): Promise<void> {
  const { hosts } = world;
  await hosts.cluster("one");
  await measured(world, `a MachineDeployment of ${one}, created to Running`, async () => {
    await deploy(hosts, "one", "large", one);
    await running(world, one);
  });
  await hosts.cluster("other");
  await deploy(hosts, "other", "rolled", rollout);
  await running(world, one + rollout);
  const ofRolled = (): Machine[] => all(world.machines).filter(({ spec }) => spec.clusterName === "other");
  const before = new Set(ofRolled().map(({ metadata }) => metadata.name));
  await measured(world, `a roll-out of ${rollout}, one at a time`, async () => {
    const body = { spec: { template: { spec: { infrastructureRef: { name: "b" } } } } };
    await hosts.client.patch(MachineDeployment, { namespace: NAMESPACE, name: "rolled" }, { type: "merge", body });
    await until(`${rollout} new Machines`, () => {
      const own = ofRolled();
      return own.length === rollout && own.every((machine) => !before.has(machine.metadata.name) && isRunning(machine));
    });
  });
}

async function deploy(hosts: Hosts, clusterName: string, name: string, replicas: number): Promise<void> {
  const infrastructureRef = { apiGroup: SimMachineTemplate.group, kind: SimMachineTemplate.kind, name: "a" };
  const spec = { clusterName, version: VERSION, bootstrap: { dataSecretName: "join" }, infrastructureRef };
  await hosts.client.create(MachineDeployment, {
    metadata: { namespace: NAMESPACE, name },
    spec: { clusterName, replicas, selector: {}, template: { spec } },
  } as never);
}

async function running({ machines: store }: World, count: number): Promise<void> {
  await until(
    `${count} Running`,
    () => all(store).filter(isRunning).length === count,
    () => {
      const phases = new Map<string, number>();
      for (const { status } of all(store))
        phases.set(status?.phase ?? "-", (phases.get(status?.phase ?? "-") ?? 0) + 1);
      return JSON.stringify([...phases]);
    },
  );
}

async function until(what: string, holds: () => boolean, story: () => string = () => ""): Promise<void> {
  const end = clock.monotonic() + PATIENCE_MS;
  while (!holds()) {
    if (clock.monotonic() > end) throw new Error(`not in time: ${what} ${story()}`);
    await clock.sleep(LOOK_MS);
  }
}

/** Does it, and prints what the core's managers took for it. */
async function measured({ core, hosts }: World, what: string, work: () => Promise<void>): Promise<void> {
  const cpuOfServers = (): number => core.servers().reduce((total, pid) => total + cpuOf(pid), 0);
  const cpuOfUs = (): number => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  const [cpu, asked, own] = [sum(core, cpuOf), await core.requests(), hosts.requests.total];
  const [servers, us] = [cpuOfServers(), cpuOfUs()];
  let peak = 0;
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      peak = Math.max(peak, sum(core, residentOf));
      await clock.sleep(SAMPLE_MS);
    }
  })();
  const start = clock.monotonic();
  await work().finally(() => {
    isOver = true;
  });
  const seconds = (clock.monotonic() - start) / 1000;
  const used = sum(core, cpuOf) - cpu;
  await sampling;
  // The look at the figures is a request of its own.
  const beside = `the API server took ${(cpuOfServers() - servers).toFixed(1)} s of CPU, hosts and Nodes ${(cpuOfUs() - us).toFixed(1)} s`;
  const by = [...(await core.requests())].map(([name, count]) => [name, count - (asked.get(name) ?? 0)] as const);
  const requests = by.reduce((total, [, count]) => total + count, 0) - (hosts.requests.total - own) - 1;
  for (const [unit, value] of Object.entries({ s: seconds, "s of CPU": used, "MiB at most": peak, requests }))
    keep(`${core.name}: ${what}, ${unit}`, value, unit);
  const figures = [
    `${seconds.toFixed(1)} s`,
    `${used.toFixed(1)} s`,
    mib(peak),
    mib(sum(core, residentOf)),
    `${requests}`,
  ];
  console.log(`${core.name.padEnd(9)} ${what.padEnd(42)} ${figures.map((text) => text.padStart(10)).join(" ")}`);
  if (!values.requests) return;
  console.log(`  ${beside}; requests, those of hosts and user with them:`);
  for (const [name, count] of by.filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a))
    console.log(`  ${`${count}`.padStart(8)}  ${name}`);
}

for (const name of cores) {
  await withCore(name, manySmall);
  await withCore(name, oneLarge);
}
