import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock as clock } from "../base/clock.ts";
import { jsonLog, Secrets } from "../base/log.ts";
import { cryptoRandom as random } from "../base/random.ts";
import { openDoor } from "../lab/door.ts";
import { type MachinePlan, type Rack, setUpRack } from "../lab/rack.ts";
import { startLabNetboot } from "./lab-netboot.ts";
import { labNews } from "./lab-news.ts";
import { laptopIdentity } from "./laptop-identity.ts";
import { startKubernetes } from "./laptop-kubernetes.ts";
import type { LogLevel } from "./log-level.ts";
import { SOCKET } from "./netboot-client.ts";
import { untilStopped } from "./until-stopped.ts";

export interface InsideOptions {
  dir: string;
  /** Where the API is reached from outside of the network. */
  socket: string;
  assets: string;
  plans: readonly MachinePlan[];
  /** The API's, as users reach it. */
  url: string;
  /** The machine whose serial line is shown. */
  console?: string;
  logLevel: LogLevel;
}

/** The lab itself, in a network of its own: a Kubernetes API, netboot and the machines, until a signal ends it. */
export async function runInside(options: InsideOptions): Promise<void> {
  const { dir, plans } = options;
  const stopped = untilStopped();
  const log = jsonLog({ level: options.logLevel, secrets: new Secrets() });
  const open: (() => Promise<unknown>)[] = [];
  try {
    const rack = await setUpRack(dir, plans);
    open.push(() => rack.close());
    const kubernetes = await startApi(options, open, log);
    const folder = join(dir, "netboot");
    // Hosts and leases of earlier machines, should their lab have been killed.
    await rm(folder, { recursive: true, force: true });
    const place = { assets: options.assets, dir: folder, socket: join(folder, SOCKET) };
    const { netboot, close } = await startLabNetboot(kubernetes, place, log);
    open.push(close);

    introduce(options, rack);
    const began = clock.now();
    netboot.hosts.onChange(
      labNews(plans, (line) => console.log(`${((clock.now() - began) / 1000).toFixed(1).padStart(7)} s  ${line}`)),
    );
    const shown = rack.machines.find(({ spec }) => spec.name === options.console);
    shown?.console.listen((text) => process.stdout.write(Buffer.from(text, "latin1")));
    await rack.powerOn();
    await stopped;
  } finally {
    for (const end of open.reverse()) await end();
  }
}

/** The API on the loopback inside, its door, and the kubeconfig that fits the door's other end. */
async function startApi(
  { dir, socket, url }: InsideOptions,
  open: (() => Promise<unknown>)[],
  log: ReturnType<typeof jsonLog>,
) {
  const host = "127.0.0.1";
  const identity = await laptopIdentity(dir, host, clock);
  const api = await startKubernetes("embedded", { dir: undefined, host, port: 0, identity, clock, random, log });
  open.push(() => api.close());
  await rm(socket, { force: true });
  const door = await openDoor({ path: socket, readableAll: false }, { host, port: Number(new URL(api.url).port) });
  open.push(() => door.close());
  await writeFile(join(dir, "kubeconfig"), identity.kubeconfig(url), { mode: 0o600 });
  return api.transport;
}

function introduce({ dir, url, plans }: InsideOptions, rack: Rack): void {
  console.log(`Kubernetes API   ${url}`);
  console.log(`kubeconfig       ${join(dir, "kubeconfig")}`);
  for (const [at, { spec, console: serial }] of rack.machines.entries())
    console.log(`${spec.name.padEnd(17)}${spec.mac}  ${plans[at]!.firmware.padEnd(12)} ${serial.file}`);
  console.log(`
  export KUBECONFIG=${join(dir, "kubeconfig")}
  kubectl get bmh -A
  slipway get unleased
  slipway logs host/NAME --follow

Into its network: nsenter --target ${process.pid} --net${isRoot() ? "" : " --user --preserve-credentials"}
Ctrl-C ends it; nothing stays but the consoles.
`);
}

/** Whether we are root outside, too: then there is no user namespace to enter (user_namespaces(7): the map of the first one). */
function isRoot(): boolean {
  return /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync("/proc/self/uid_map", "utf8"));
}
