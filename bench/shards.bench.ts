/**
 * Replicas that share out work, against one that leads: how long they take for a number of objects, each of which costs a call that waits
 * and one write. Each replica is a process of its own on the same Kubernetes API, and looks at everything that the others write, too.
 * Run: `node bench/shards.bench.ts [objects] [--replicas 4] [--shards 16] [--call 50] [--workers 8] [--group 20]
 * [--kubernetes embedded] [--turns 3] [--bytes 0]`. Without turns only memory is measured; `bytes`: of data in each object.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { systemClock as clock, cryptoRandom, quietLog } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { NODE_ENV, NODE_FLAGS } from "./as-command.ts";
import { startServer } from "./servers.ts";
import type { Report, Setup } from "./shard-replica.ts";
import { printMachine, report } from "./table.ts";

const CREATES_AT_ONCE = 32;
/** Between questions to each replica: they cost it, too. */
const LOOK_MS = 200;
/** Until replicas that begin must have shared the work. */
const SHARED_MS = 120_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    replicas: { type: "string", default: "4" },
    shards: { type: "string", default: "16" },
    call: { type: "string", default: "50" },
    workers: { type: "string", default: "8" },
    group: { type: "string", default: "20" },
    kubernetes: { type: "string", default: "real" },
    turns: { type: "string", default: "3" },
    bytes: { type: "string", default: "0" },
  },
});
const objects = Number(positionals[0] ?? 20_000);
const [replicas, shards, callMs, workers] = [values.replicas, values.shards, values.call, values.workers].map(
  Number,
) as [number, number, number, number];
/** Objects of one owner. With few owners some replica has many more than its part, and the others wait for it. */
const group = Number(values.group);
const turns = Number(values.turns);
const text = "x".repeat(Number(values.bytes));

const server = await startServer(values.kubernetes === "embedded" ? "embedded" : "real", true);
printMachine(
  `${server.name}; ${objects} objects of ${objects / group} owners; a call of ${callMs} ms and a write each; ${workers} workers a replica`,
);
await create();
const one = await measured(1, 1);
const many = await measured(replicas, shards);
await server.close();
report(`resident memory of each, ${replicas} replicas to one`, many.residentMiB / one.residentMiB, "x");
if (turns > 0) {
  report(`objects a second, ${replicas} replicas to one`, one.seconds / many.seconds, "x");
  report("CPU time of all replicas per object, the same", many.cpu / one.cpu, "x");
  report("with the server's", (many.cpu + many.server) / (one.cpu + one.server), "x");
}

async function create(): Promise<void> {
  const transport = await server.transport();
  const client = createClient(transport, { clock, random: cryptoRandom, log: quietLog });
  let next = 0;
  const creator = async (): Promise<void> => {
    while (next < objects) {
      const number = next++;
      const name = `group${Math.floor(number / group)}-${number}`;
      const metadata = { namespace: "default", name, labels: { bench: "shards" } };
      await client.create(ConfigMap, { metadata, ...(text !== "" && { data: { text } }) });
    }
  };
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, creator));
  await transport.close();
}

interface Best {
  seconds: number;
  cpu: number;
  /** CPU time of the API's processes. */
  server: number;
  /** Of each replica in the end. */
  residentMiB: number;
}

/** Some turns over all objects; the best of them. */
async function measured(count: number, over: number): Promise<Best> {
  const setup: Setup = { kubeconfig: server.kubeconfigFile, shards: over, callMs, workers };
  const all = Array.from({ length: count }, () => replica(setup));
  await untilShared(all, over);
  let best = { seconds: Number.POSITIVE_INFINITY, cpu: 0, server: 0 };
  let residentMiB = total(await asked(all), "residentMiB") / count;
  for (let turn = 1; turn <= turns; turn++) {
    const before = await asked(all);
    const serverBefore = server.cpuSeconds();
    const began = performance.now();
    for (const process of all) process.send({ go: `${count}-${turn}` });
    let after = await asked(all);
    while (total(after, "done") - total(before, "done") < objects) {
      await clock.sleep(LOOK_MS);
      after = await asked(all);
    }
    const seconds = (performance.now() - began) / 1000;
    const cpu = total(after, "cpuSeconds") - total(before, "cpuSeconds");
    const serverCpu = server.cpuSeconds() - serverBefore;
    residentMiB = total(after, "residentMiB") / count;
    console.log(
      `  ${count} replicas, turn ${turn}: ${seconds.toFixed(2)} s, CPU ${cpu.toFixed(2)} s, server ${serverCpu.toFixed(2)} s`,
    );
    if (seconds < best.seconds) best = { seconds, cpu, server: serverCpu };
  }
  if (turns > 0) {
    report(`${count} replicas: objects per second`, objects / best.seconds, "/s");
    report(`${count} replicas: CPU time of all per object`, (best.cpu / objects) * 1000, "ms");
  }
  report(`${count} replicas: resident memory of each`, residentMiB, "MiB");
  for (const process of all) {
    const gone = once(process, "exit");
    process.disconnect();
    await gone;
  }
  return { ...best, residentMiB };
}

function replica(setup: Setup): ChildProcess {
  return fork(new URL("./shard-replica.ts", import.meta.url), [JSON.stringify(setup)], {
    execArgv: NODE_FLAGS,
    env: NODE_ENV,
  });
}

async function asked(all: readonly ChildProcess[]): Promise<Report[]> {
  return await Promise.all(
    all.map(async (process) => {
      const answer = once(process, "message");
      process.send({ report: true });
      return ((await answer) as [Report])[0];
    }),
  );
}

function total(reports: readonly Report[], of: "done" | "cpuSeconds" | "residentMiB" | "held"): number {
  return reports.reduce((sum, each) => sum + each[of], 0);
}

/** Until every shard is held and no replica has two more than another. Throws with how it stands when that takes too long. */
async function untilShared(all: readonly ChildProcess[], over: number): Promise<void> {
  const end = clock.monotonic() + SHARED_MS;
  for (;;) {
    const reports = await asked(all);
    const held = reports.map((each) => each.held);
    const isReady = reports.every(({ known }) => known === objects);
    if (isReady && total(reports, "held") === over && Math.max(...held) - Math.min(...held) <= 1) return;
    if (clock.monotonic() >= end) throw new Error(`${over} shards are not shared out: ${JSON.stringify(reports)}`);
    await clock.sleep(LOOK_MS);
  }
}
