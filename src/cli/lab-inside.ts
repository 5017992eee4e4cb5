import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock as clock, closeAll, type Log, cryptoRandom as random, replacePrivateFile } from "@slipway/base";
import { ownCommand } from "@slipway/base/shipped";
import type { Transport } from "@slipway/kube";
import { dump } from "js-yaml";
import { bootLogs } from "../inventory/outputs/boot-log.ts";
import { OutputFeeds } from "../inventory/outputs/feeds.ts";
import { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { writeBmcPapers } from "../lab/bmc/papers.ts";
import { type LabBmcs, serveBmcs } from "../lab/bmc/serve.ts";
import { startLabCluster } from "../lab/cluster/cluster.ts";
import { labMachines } from "../lab/cluster/lab-machine.ts";
import type { LabCluster } from "../lab/cluster/manifests.ts";
import { openDoor } from "../lab/door.ts";
import { startLabNetboot } from "../lab/lab-netboot.ts";
import type { LabPlunder } from "../lab/plunder/manifests.ts";
import { startLabPlunder } from "../lab/plunder/plunder.ts";
import { asDocuments } from "../lab/pool/manifests.ts";
import { startLabPool } from "../lab/pool/pool.ts";
import { type MachinePlan, type Rack, setUpRack } from "../lab/rack.ts";
import { serialConsoles } from "../lab/serial-consoles.ts";
import type { LabVino } from "../lab/vino/manifests.ts";
import { MANAGEMENT } from "../lab/vino/node.ts";
import { startLabVino } from "../lab/vino/operator.ts";
import { laptopIdentity } from "../laptop/identity.ts";
import { startKubernetes } from "../laptop/kubernetes.ts";
import { SOCKET } from "../netboot/service/place.ts";
import { DISCOVERY_NAMESPACE } from "../netboot/settings.ts";
import { commandLog, type LogOptions } from "./command-log.ts";
import { laptopConsole } from "./console-options.ts";
import { showCluster } from "./lab-cluster.ts";
import { labNews, newsLine, secondsOf } from "./lab-news.ts";
import { showPlunder } from "./lab-plunder.ts";
import { showPool } from "./lab-pool.ts";
import { showVino } from "./lab-vino.ts";
import { say, secrets } from "./outgoing.ts";
import { untilStopped } from "./until-stopped.ts";

export interface InsideOptions extends LogOptions {
  dir: string;
  /** Where the API is reached from outside of the network. */
  socket: string;
  assets: string;
  plans: readonly MachinePlan[];
  /** The API's, as users reach it. */
  url: string;
  /** The web console's, as users reach it, and where it is reached from outside of the network. */
  web: { url: string; socket: string };
  /** The machine whose serial line is shown. */
  console?: string;
  /** Whether machines have BMCs; they are left off then. */
  hasBmcs: boolean;
  /** A pool of so many machines is applied; they have BMCs then. */
  pool?: { count: number; iso?: string };
  /** This cluster is taken through its life; machines have BMCs then. */
  cluster?: LabCluster;
  /** This Vino and its tenant are taken through their course. `files`: with the machines' disk; `programs`: of containers. */
  vino?: { lab: LabVino; files: string; programs: Readonly<Record<string, string>> };
  /** These manifests of 2019 are taken through their walk; machines have BMCs then. `assets`: with the programs of a control plane. */
  plunder?: { lab: LabPlunder; assets: string };
  /** Served to the machines. */
  files?: string;
}

/** The lab itself, in a network of its own: a Kubernetes API, netboot and the machines, until a signal ends it. */
export async function runInside(options: InsideOptions): Promise<void> {
  const { dir, plans } = options;
  const files = options.vino?.files ?? options.files;
  const stopped = untilStopped();
  const log = commandLog(options);
  const open: (() => Promise<unknown>)[] = [];
  try {
    const rack = await setUpRack(dir, plans);
    open.push(() => rack.close());
    const serial = serialConsoles(rack.machines);
    const api = await startApi(options, open, log);
    const kubernetes = api.transport;
    const folder = join(dir, "netboot");
    // Hosts and leases of earlier machines, should their lab have been killed.
    await rm(folder, { recursive: true, force: true });
    const place = { assets: options.assets, dir: folder, socket: join(folder, SOCKET) };
    const { netboot, client, close } = await startLabNetboot(kubernetes, place, log, {
      trust: trustOf(options),
      drivesHosts: true,
      ...(files !== undefined && { files }),
      ...(options.plunder !== undefined && { reservations: options.plunder.lab.reservations }),
    });
    open.push(close);
    const feeds = new OutputFeeds(clock);
    open.push(async () => feeds.close());
    const logs = bootLogs({
      current: () => netboot,
      hosts: async () => (await client.list(BareMetalHost)).items,
      ...{ namespace: DISCOVERY_NAMESPACE, feeds },
    });
    await openWeb(options.web.socket, { ...api, outputs: { serial, logs } }, open, log);
    const bmcs = options.hasBmcs ? await startBmcs(rack, open, log) : undefined;
    const papers = bmcs && (await papersOf(dir, bmcs, open));

    introduce(options, rack, netboot.url);
    const shown = rack.machines.find(({ spec }) => spec.name === options.console);
    shown?.console.listen((text) => process.stdout.write(Buffer.from(text, "latin1")));
    if (bmcs !== undefined && options.pool !== undefined) {
      const ports = { clock, random, log, secrets };
      const { assets, pool } = options;
      const applied = await startLabPool({ transport: kubernetes, bmcs, assets, dir, ...pool, ...ports });
      open.push(applied.close);
      const documents = asDocuments(applied.manifests).map((each) => dump(each));
      await replacePrivateFile(join(dir, "pool.yaml"), documents.join("---\n"));
      console.log(END);
      const stopping = new AbortController();
      void stopped.then(() => stopping.abort());
      return await showPool(applied.client, { dir, clock, signal: stopping.signal });
    }
    if (bmcs !== undefined && (options.cluster !== undefined || options.plunder !== undefined)) {
      console.log(END);
      return await makeCluster(options, { transport: kubernetes, bmcs, log, stopped, open });
    }
    if (options.vino !== undefined) {
      console.log(END);
      return await makeVino(options.vino, { dir, ...api, log, stopped, open });
    }
    if (papers !== undefined) console.log(papers);
    console.log(END);
    const began = clock.monotonic();
    const tell = (news: string): void => say(newsLine(secondsOf(clock.monotonic() - began), news));
    netboot.hosts.onChange(labNews(plans, tell));
    if (!options.hasBmcs) await rack.powerOn();
    await stopped;
  } finally {
    await closeAll(open);
  }
}

interface ClusterParts {
  transport: Transport;
  bmcs: LabBmcs;
  log: Log;
  stopped: Promise<unknown>;
  open: (() => Promise<unknown>)[];
}

/** Resolves when all of a cluster's course held; a signal before that is no success. */
async function makeCluster(
  { dir, cluster, plunder }: InsideOptions,
  { transport, bmcs, log, stopped, open }: ClusterParts,
): Promise<void> {
  const ports = { transport, clock, random, log, secrets };
  const operator =
    plunder === undefined
      ? await startLabCluster({ dir, ...ports })
      : await startLabPlunder({ assets: plunder.assets, ...ports });
  open.push(operator.close);
  const machines = labMachines(bmcs, () => clock.now());
  await untilHeld(stopped, async (signal) => {
    const shown = { client: operator.client, machines, ...ports, signal };
    if (plunder !== undefined) await showPlunder(plunder.lab, shown);
    else if (cluster !== undefined) await showCluster(cluster, shown);
  });
}

/** Runs a course until it ends, or a signal ends it, which is no success. */
async function untilHeld(stopped: Promise<unknown>, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  const { signal } = stopping;
  try {
    await run(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = 1;
  }
}

type VinoParts = Omit<ClusterParts, "bmcs"> & { dir: string } & Awaited<ReturnType<typeof startApi>>;

/** Resolves when all of the course held; a signal before that is no success. */
async function makeVino(
  { lab, files, programs }: NonNullable<InsideOptions["vino"]>,
  { dir, transport, port, kubeconfig, log, stopped, open }: VinoParts,
): Promise<void> {
  const ports = { clock, random, log, secrets };
  const slipway = ownCommand();
  const api = { host: "127.0.0.1", port };
  const { client, close } = await startLabVino(lab, { transport, api, kubeconfig, slipway, programs, dir, ...ports });
  open.push(close);
  await untilHeld(stopped, (signal) => showVino(lab, { client, transport, files, ...ports, signal }));
}

/** Who gets orders and user data. A cluster's machines are approved, a Vino's are declared. */
function trustOf({ cluster, vino }: InsideOptions): "approved" | "first-seen" {
  return cluster === undefined && vino === undefined ? "first-seen" : "approved";
}

/** The API on the loopback inside, its door, and the kubeconfig that fits the door's other end. */
async function startApi(options: InsideOptions, open: (() => Promise<unknown>)[], log: Log) {
  const { dir, socket, url } = options;
  const host = "127.0.0.1";
  // A node of a Vino reaches it from its own network.
  const identity = await laptopIdentity(dir, options.vino === undefined ? host : MANAGEMENT.lab, clock);
  const api = await startKubernetes("embedded", { dir: undefined, host, port: 0, identity, clock, random, log });
  open.push(() => api.close());
  await rm(socket, { force: true });
  const port = Number(new URL(api.url).port);
  const door = await openDoor({ path: socket, readableAll: false }, { host, port });
  open.push(() => door.close());
  await replacePrivateFile(join(dir, "kubeconfig"), identity.kubeconfig(url));
  return { transport: api.transport, url: api.url, identity, port, kubeconfig: identity.kubeconfig };
}

/** The web console on the loopback inside, and its door. */
async function openWeb(
  socket: string,
  api: Parameters<typeof laptopConsole>[0],
  open: (() => Promise<unknown>)[],
  log: Log,
): Promise<void> {
  const host = "127.0.0.1";
  const console = await laptopConsole(api, { host, port: 0, log });
  open.push(() => console.close());
  await rm(socket, { force: true });
  const door = await openDoor({ path: socket, readableAll: false }, { host, port: console.port });
  open.push(() => door.close());
}

async function startBmcs({ machines }: Rack, open: (() => Promise<unknown>)[], log: Log): Promise<LabBmcs> {
  const bmcs = await serveBmcs(machines, { clock, random, log });
  open.push(bmcs.close);
  return bmcs;
}

/** Writes down how the BMCs are reached; resolves with what the user is to know of them. */
async function papersOf(dir: string, bmcs: LabBmcs, open: (() => Promise<unknown>)[]): Promise<string> {
  const folder = join(dir, "bmc");
  open.push(() => rm(folder, { recursive: true, force: true }));
  const { hosts, authority, password } = await writeBmcPapers(folder, bmcs);
  const each = bmcs.list.map(
    ({ machine: { spec }, url, username }) =>
      `${spec.name.padEnd(17)}${url}  user ${username}, password in ${password(spec.name)}`,
  );
  return `
The machines are off, and have BMCs in the lab's network (Redfish; certificates of ${authority}):
${each.join("\n")}

  kubectl apply -f ${hosts}          # BareMetalHosts with these BMCs: they are switched on, inspected, wiped, and available`;
}

function introduce(options: InsideOptions, rack: Rack, netbootUrl: string): void {
  const { dir, url, web, plans, files } = options;
  console.log(`Kubernetes API   ${url}`);
  console.log(`Console          ${web.url} (sign in with the kubeconfig)`);
  console.log(`kubeconfig       ${join(dir, "kubeconfig")}`);
  for (const [at, { spec, console: serial }] of rack.machines.entries())
    console.log(`${spec.name.padEnd(17)}${spec.mac}  ${plans[at]!.firmware.padEnd(12)} ${serial.file}`);
  if (files !== undefined) console.log(`files            ${files}, for the machines at ${netbootUrl}/`);
  console.log(
    trustOf(options) === "approved"
      ? `trust            approved: a machine gets orders and user data once it is ${options.vino === undefined ? "approved, which the lab does" : "declared, which its Vino does"}`
      : "trust            first-seen: all who register as a machine of the lab get its orders and user data",
  );
  console.log(`
  export KUBECONFIG=${join(dir, "kubeconfig")}
  kubectl get bmh -A
  slipway get unleased
  slipway logs host/NAME --follow

Into its network: nsenter --target ${process.pid} --net${isRoot() ? "" : " --user --preserve-credentials"}`);
}

const END = `Ctrl-C ends it; nothing stays but the consoles.
`;

/** Whether we are root outside, too: then there is no user namespace to enter (user_namespaces(7): the map of the first one). */
function isRoot(): boolean {
  return /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync("/proc/self/uid_map", "utf8"));
}
