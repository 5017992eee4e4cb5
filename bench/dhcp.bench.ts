/**
 * Four-way exchanges a second, by perfdhcp (`apt-get install kea-admin`), in a network of its own: our server with durable leases, and
 * beside it Kea (memfile, persisted) and dnsmasq where they are installed. `RATE`: exchanges offered a second; `SERVERS` (all): names by commas.
 * `LEASES`: the folder where Slipway's leases are, to see what the disk costs (`/dev/shm` costs nothing).
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bridge } from "../test/netboot/bridge.ts";
import { lacking, Namespace, program } from "../test/netboot/namespace.ts";
import { Served } from "../test/netboot/served.ts";
import { keep } from "./record.ts";
import { printMachine } from "./table.ts";

const RATE = Number(process.env.RATE ?? 6_000);
const SECONDS = Number(process.env.SECONDS ?? 10);
const CLIENTS = 30_000;
const MOST_DROPS = 0.01;
/** Each server is measured as often, in turn with the others, and its best figures count: what else the machine does is not its fault. */
const ROUNDS = Number(process.env.ROUNDS ?? 3);

const NETWORK = "10.9.0.0/16";
const FIRST = "10.9.16.0";
const LAST = "10.9.207.255";

interface Figures {
  offered: number;
  completed: number;
  drops: number;
  meanMs: number;
}

const why = await lacking("perfdhcp", "perl");
if (why !== false) console.log(`DHCP: skipped: ${why}`);
else await measure();

async function measure(): Promise<void> {
  printMachine(
    `${RATE} exchanges a second offered for ${SECONDS} s by ${CLIENTS} clients, as a relay's; best of ${ROUNDS}`,
  );
  const all: Record<string, { program?: string; rate: number; measure: Measure }> = {
    Slipway: { rate: RATE, measure: slipway },
    Kea: { program: "kea-dhcp4", rate: RATE, measure: kea },
    // More than it takes would only measure its queue.
    "dnsmasq, 200": { program: "dnsmasq", rate: 200, measure: dnsmasq },
    "dnsmasq, 1000": { program: "dnsmasq", rate: 1_000, measure: dnsmasq },
  };
  const chosen = process.env.SERVERS?.split(",") ?? Object.keys(all);
  const servers = Object.fromEntries(Object.entries(all).filter(([name]) => chosen.includes(name)));
  const best = new Map<string, Figures>();
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, server] of Object.entries(servers)) {
      if (server.program !== undefined && program(server.program) === undefined) continue;
      const figures = await measured(server.measure, server.rate);
      if (figures.completed > (best.get(name)?.completed ?? 0)) best.set(name, figures);
    }
  for (const name of Object.keys(servers)) {
    const figures = best.get(name);
    if (figures === undefined) console.log(`${name}: skipped: not installed`);
    else report(name, figures);
  }
  const ours = best.get("Slipway");
  if (ours === undefined) return;
  const { completed, drops } = ours;
  const enough = completed >= 0.998 * RATE && drops < MOST_DROPS;
  const goal = `${Math.round(0.998 * RATE)} of ${RATE}, under ${100 * MOST_DROPS} % drops`;
  console.log(`goal ${goal}: ${enough ? "met" : "MISSED"}`);
}

type Measure = (namespace: Namespace, folder: string, rate: number) => Promise<Figures>;

/** A fresh network, a fresh server, and what perfdhcp says of it. */
async function measured(measure: Measure, rate: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-dhcp-bench-"));
  const setup = `${bridge(["rack"], 16)} ip netns exec rack ip addr add 10.9.0.2/16 dev there`;
  const namespace = await Namespace.open(setup);
  try {
    return await measure(namespace, folder, rate);
  } finally {
    await namespace.close();
    rmSync(folder, { recursive: true });
  }
}

async function slipway(namespace: Namespace, folder: string, rate: number): Promise<Figures> {
  const leases = leasesIn(folder);
  const served = await Served.start(namespace, {
    interface: "net",
    config: {
      mode: "pool",
      subnets: [{ network: NETWORK, pools: [{ first: FIRST, last: LAST }] }],
      boot: { files: { bios: "undionly.kpxe" }, urls: {} },
    },
    leases,
    quiet: true,
  });
  const figures = await load(namespace, rate);
  await served.stop();
  if (process.env.LEASES !== undefined) rmSync(dirname(leases), { recursive: true });
  return figures;
}

function leasesIn(folder: string): string {
  const { LEASES } = process.env;
  return join(LEASES === undefined ? folder : mkdtempSync(join(LEASES, "slipway-dhcp-bench-")), "leases");
}

async function load(namespace: Namespace, rate: number): Promise<Figures> {
  const perfdhcp = async (each: number, seconds: number): Promise<string> => {
    const args = ["-4", "-r", String(each), "-R", String(CLIENTS), "-p", String(seconds), "-W", "500000"];
    const { stdout } = await namespace.run("perfdhcp", [...args, "-l", "10.9.0.2", "10.9.0.1"], { net: "rack" });
    return stdout;
  };
  // A server that was just started compiles, allocates and learns its neighbour first.
  await perfdhcp(rate / 4, 2);
  return figuresOf(await perfdhcp(rate, SECONDS), rate);
}

function figuresOf(report: string, rate: number): Figures {
  const numbers = (name: string): number[] =>
    [...report.matchAll(new RegExp(`${name}: +([\\d.]+)`, "g"))].map(([, value]) => Number(value));
  const [sent] = numbers("sent packets");
  const received = numbers("received packets")[1];
  const delays = numbers("avg delay");
  if (sent === undefined || received === undefined) throw new Error(`perfdhcp said: ${report}`);
  return {
    offered: rate,
    completed: received / SECONDS,
    drops: 1 - received / sent,
    meanMs: delays.reduce((sum, ms) => sum + ms, 0),
  };
}

function report(name: string, { offered, completed, drops, meanMs }: Figures): void {
  keep(`${name}, completed`, completed, "/s");
  keep(`${name}, both answers`, meanMs, "ms");
  const words = [
    `${completed.toFixed(0).padStart(6)} of ${String(offered).padStart(5)} exchanges/s`,
    `${(100 * drops).toFixed(2).padStart(6)} % drops`,
    `${meanMs.toFixed(2).padStart(8)} ms for both answers`,
  ];
  console.log(`${name.padEnd(14)} ${words.join("  ")}`);
}

async function kea(namespace: Namespace, folder: string, rate: number): Promise<Figures> {
  const file = join(folder, "kea.json");
  const config = {
    Dhcp4: {
      "interfaces-config": { interfaces: ["net"], "dhcp-socket-type": "udp" },
      "lease-database": { type: "memfile", persist: true, name: join(folder, "kea-leases"), "lfc-interval": 0 },
      "valid-lifetime": 43_200,
      subnet4: [{ id: 1, subnet: NETWORK, pools: [{ pool: `${FIRST} - ${LAST}` }] }],
      loggers: [{ name: "kea-dhcp4", severity: "WARN", output_options: [{ output: "stderr" }] }],
    },
  };
  writeFileSync(file, JSON.stringify(config));
  const env = { KEA_PIDFILE_DIR: folder, KEA_LOCKFILE_DIR: folder };
  const server = namespace.start("kea-dhcp4", ["-c", file], { env });
  await listening(namespace, server, "kea-dhcp4");
  return load(namespace, rate);
}

async function dnsmasq(namespace: Namespace, folder: string, rate: number): Promise<Figures> {
  const options = [
    ...["no-daemon", "conf-file=/dev/null", "port=0", "user=root", "no-ping", "quiet-dhcp", "log-facility=/dev/null"],
    ...[`dhcp-leasefile=${join(folder, "dnsmasq")}`, "interface=net", "dhcp-lease-max=60000"],
    `dhcp-range=${FIRST},${LAST},12h`,
  ];
  const server = namespace.start(
    "dnsmasq",
    options.map((option) => `--${option}`),
  );
  await listening(namespace, server, "dnsmasq");
  return load(namespace, rate);
}

/** Resolves once port 67 is open; rejects with what the server said when it ends instead. */
async function listening(namespace: Namespace, server: ChildProcess, name: string): Promise<void> {
  let said = "";
  for (const stream of [server.stdout, server.stderr]) stream!.on("data", (bytes: Buffer) => (said += bytes));
  const ended = once(server, "close").then(() => {
    throw new Error(`${name} ended: ${said}`);
  });
  const wait = namespace.shell("until ss -Hlnu sport = :67 | grep -q :67; do sleep 0.05; done");
  ended.catch(() => {});
  await Promise.race([wait, ended]);
}
