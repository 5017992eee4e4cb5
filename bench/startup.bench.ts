/**
 * How long `slipway version` takes, from the sources and from the bundle. How long `slipway up` takes in an empty directory, and again in the one it left: until it prints its kubeconfig, and until a
 * client that has read the kubeconfig gets its first answer; then what it costs while nobody asks for anything.
 * Run: `node bench/startup.bench.ts [--idle seconds]`.
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
import { cpuOf, residentOf } from "./proc.ts";
import { printMachine, report } from "./table.ts";
import { printedKubeconfig } from "./up.ts";

const COMMAND = fileURLToPath(new URL("../bin/slipway", import.meta.url));
const POOLS = "/apis/equinix.harvesterhci.io/v1/instancepools";

/** How long after a burst V8 and the process have tidied up. Seconds. */
const SETTLED = 25;

const { values } = parseArgs({ options: { idle: { type: "string", default: "10" } } });
printMachine(`${COMMAND} up --port 0`);
const dir = mkdtempSync(join(tmpdir(), "slipway-bench-"));
try {
  measureVersion();
  await measure("empty directory");
  await measure("directory of before");
} finally {
  rmSync(dir, { recursive: true });
}

/** A bundle of its own, so that it is the one of these sources. */
function measureVersion(): void {
  const bundle = mkdtempSync(join(tmpdir(), "slipway-bench-bundle-"));
  try {
    spawnSync(process.execPath, [fileURLToPath(new URL("../tools/bundle.ts", import.meta.url)), bundle]);
    report("version, from the sources", median(COMMAND, ["version"]), "ms");
    report("version, from the bundle", median(process.execPath, [join(bundle, "slipway.mjs"), "version"]), "ms", 150);
  } finally {
    rmSync(bundle, { recursive: true });
  }
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

async function measure(what: string): Promise<void> {
  console.log(what);
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const up = spawn(COMMAND, ["up", "--dir", dir, "--port", "0", "--sim", "harvester"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const kubeconfig = await printedKubeconfig(up);
    report("  until its kubeconfig is printed", seconds(), "s");
    await firstAnswer(kubeconfig);
    report("  until the first answer over TLS", seconds(), "s", 2);
    askWithKubectl(kubeconfig);
    await idle(up.pid!, Number(values.idle));
  } finally {
    const exited = once(up, "exit");
    up.kill("SIGTERM");
    await exited;
  }
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
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: dir };
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
  report("  resident memory", residentOf(pid), "MiB", 200);
}
