/**
 * How long `slipway version` and `slipway up` take, from the sources and from the bundle. `up` starts in an empty directory, and again in the one it left: until it prints its kubeconfig, until a
 * client that has read the kubeconfig gets its first answer (the least of so many runs), and its CPU time until then; then what it costs while nobody asks for anything.
 * Run: `node bench/startup.bench.ts [--runs 5] [--idle seconds]`.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { load } from "js-yaml";
import { Client } from "undici";
import { NODE_FLAGS } from "../tools/image/node-binary.ts";
import { cpuOf, residentOf } from "./proc.ts";
import { printMachine, report } from "./table.ts";
import { printedKubeconfig } from "./up.ts";

const COMMAND = fileURLToPath(new URL("../bin/slipway", import.meta.url));
const POOLS = "/apis/equinix.harvesterhci.io/v1/instancepools";

/** How long after a burst V8 and the process have tidied up. Seconds. */
const SETTLED = 25;

const { values } = parseArgs({
  options: { runs: { type: "string", default: "5" }, idle: { type: "string", default: "10" } },
});
/** As the npm package and the image start it. */
const NODE = [process.execPath, ...NODE_FLAGS];

printMachine(`${COMMAND} up --port 0`);
const work = mkdtempSync(join(tmpdir(), "slipway-bench-"));
try {
  // A bundle of its own, so that it is the one of these sources.
  const bundle = join(work, "bundle");
  spawnSync(process.execPath, [fileURLToPath(new URL("../tools/bundle.ts", import.meta.url)), bundle]);
  for (const [from, command, budget] of [
    ["the sources", [COMMAND], undefined],
    ["the bundle", [...NODE, join(bundle, "slipway.mjs")], 150],
  ] as const) {
    console.log(`from ${from}`);
    report("  version", median(command[0]!, [...command.slice(1), "version"]), "ms", budget);
    await measure(command);
  }
} finally {
  rmSync(work, { recursive: true });
}

/** Milliseconds that a command takes to its end, of 21 times the middle one. */
function median(command: string, args: readonly string[]): number {
  const times = Array.from({ length: 21 }, () => {
    const began = performance.now();
    const { status, stderr } = spawnSync(command, args);
    if (status !== 0) throw new Error(`${command}: ${stderr}`);
    return performance.now() - began;
  });
  return times.sort((a, b) => a - b)[10]!;
}

interface Start {
  printed: number;
  answered: number;
  cpu: number;
}

/** Starts it so many times in an empty directory and in the one that this left, and reports the least of each; the last is asked with kubectl, and left alone for a while. */
async function measure(command: readonly string[]): Promise<void> {
  const [dir, runs] = [join(work, "state"), Number(values.runs)];
  const empty: Start[] = [];
  const before: Start[] = [];
  for (let run = 1; run <= runs; run++) {
    rmSync(dir, { recursive: true, force: true });
    empty.push(await start(command, dir));
    before.push(await start(command, dir, run === runs ? atRest : undefined));
  }
  for (const [where, starts] of [
    ["an empty directory", empty],
    ["a directory of before", before],
  ] as const) {
    const least = (of: keyof Start): number => Math.min(...starts.map((one) => one[of]));
    report(`  ${where}: until its kubeconfig is printed`, least("printed"), "s");
    report(`  ${where}: until the first answer over TLS`, least("answered"), "s", 1);
    report(`  ${where}: CPU until then`, least("cpu"), "s");
  }
}

/** One start in this directory, and what is looked at before it is ended. */
async function start(
  command: readonly string[],
  dir: string,
  look?: (kubeconfig: string, pid: number) => Promise<void>,
): Promise<Start> {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const options = ["up", "--dir", dir, "--port", "0", "--sim", "harvester"];
  const env = { ...process.env, MALLOC_ARENA_MAX: "1" };
  const up = spawn(command[0]!, [...command.slice(1), ...options], { env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const kubeconfig = await printedKubeconfig(up);
    const printed = seconds();
    await firstAnswer(kubeconfig);
    const found = { printed, answered: seconds(), cpu: cpuOf(up.pid!) };
    await look?.(kubeconfig, up.pid!);
    return found;
  } finally {
    const exited = once(up, "exit");
    up.kill("SIGTERM");
    await exited;
  }
}

async function atRest(kubeconfig: string, pid: number): Promise<void> {
  askWithKubectl(kubeconfig);
  await idle(pid, Number(values.idle));
}

interface Kubeconfig {
  clusters: [{ cluster: { server: string; "certificate-authority-data": string } }];
  users: [{ user: { "client-certificate-data": string; "client-key-data": string } }];
}

/** What any client does first: reads the kubeconfig and lists the pools, as the user it names. */
async function firstAnswer(file: string): Promise<void> {
  const { clusters, users } = load(readFileSync(file, "utf8")) as Kubeconfig;
  const pem = (text: string): string => Buffer.from(text, "base64").toString("utf8");
  const [{ cluster }, { user }] = [clusters[0], users[0]];
  const client = new Client(cluster.server, {
    connect: {
      ca: pem(cluster["certificate-authority-data"]),
      cert: pem(user["client-certificate-data"]),
      key: pem(user["client-key-data"]),
    },
  });
  const { statusCode, body } = await client.request({ method: "GET", path: POOLS });
  const text = await body.text();
  await client.close();
  if (statusCode !== 200) throw new Error(`${statusCode}: ${text}`);
}

/** kubectl's own start and its discovery come on top. */
function askWithKubectl(kubeconfig: string): void {
  const began = performance.now();
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: work };
  const { status, error, stderr } = spawnSync(process.env.KUBECTL ?? "kubectl", ["get", "instancepools"], { env });
  if (error !== undefined) console.log("  kubectl is not here");
  else if (status !== 0) throw new Error(`kubectl: ${stderr}`);
  else report("  a kubectl get instancepools then takes", (performance.now() - began) / 1000, "s");
}

async function idle(pid: number, seconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, SETTLED * 1000));
  const before = cpuOf(pid);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  report(`  CPU while idle for ${seconds} s`, (cpuOf(pid) - before) / seconds, "of a core", 0.02);
  report("  resident memory", residentOf(pid), "MiB", 120);
}
