import { rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { Fault, parseQuantity, privateFolder, quantityNumber } from "@slipway/base";
import { ownCommand } from "@slipway/base/shipped";
import { type Command, InvalidArgumentError, Option } from "commander";
import { CONSOLE_PORT } from "../console/server/port.ts";
import { KeptProcess } from "../kubernetes/kept-process.ts";
import type { LabCluster } from "../lab/cluster/manifests.ts";
import { type Door, openDoor } from "../lab/door.ts";
import { FIRMWARES, type Firmware } from "../lab/machine.ts";
import { inOwnNetwork } from "../lab/namespace.ts";
import type { LabPlunder } from "../lab/plunder/manifests.ts";
import { checkInstalled } from "../lab/programs.ts";
import { type MachinePlan, planMachines } from "../lab/rack.ts";
import { isoRelease } from "../lab/stand-in/iso-release.ts";
import type { LabVino } from "../lab/vino/manifests.ts";
import { VINO_FOLDERS } from "../lab/vino/operator.ts";
import { assetsFolder } from "../netboot/agent/assets-folder.ts";
import { type LogOptions, logFormat, logLevel } from "./command-log.ts";
import { imageFolderFor, labClusterIn } from "./lab-cluster.ts";
import { type InsideOptions, runInside } from "./lab-inside.ts";
import { labPlunderIn, planePrograms } from "./lab-plunder.ts";
import { checkMemory, type LabShape, labOf } from "./lab-shape.ts";
import { checkRoot, labVinoIn, VINO_PROGRAMS, vinoPlaces } from "./lab-vino.ts";
import { namesOf, portNumber, wholeNumber } from "./option-values.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

interface Options extends LogOptions {
  machines: number;
  pool?: number | true;
  iso?: string;
  cluster?: string;
  vino?: string;
  plunder?: string;
  firmware: Firmware[];
  disk: number;
  memory: number;
  console?: string;
  bmc: boolean;
  tpm: boolean;
  files?: string;
  dir: string;
  assets?: string;
  port: number;
  consolePort?: number;
  inside?: number;
  insideConsole?: number;
}

const HOST = "127.0.0.1";
const MIB = 1024 ** 2;
/** The agent's Linux lives in memory. */
const LEAST_MEMORY = 512 * MIB;
const MOST_MACHINES = 64;
/** The node image lives in memory, and its Pods. */
const CLUSTER_MEMORY = 2048 * MIB;
/** A control plane's, too, and its images. */
const PLANE_MEMORY = 4096 * MIB;
/** kubeadm makes no control plane on fewer. */
const PLANE_PROCESSORS = 2;

/** `slipway lab`: runs until Ctrl-C, then ends its machines and removes its network. */
export const verb: Verb = (program) => {
  program
    .command("lab")
    .description("A rack on a laptop: emulated machines on a network of their own boot from Slipway, until Ctrl-C.")
    .option(
      "--machines <number>",
      "how many; with --pool and --cluster one more than these have, with --plunder as many as it has",
      wholeNumber,
      3,
    )
    .option(
      "--pool [number]",
      "apply an InstancePool of so many of them (default: 3), and show how they install and join",
      wholeNumber,
    )
    .option("--iso <file>", "with --pool: install the real release of this ISO, for amd64, instead of the stand-in")
    .option(
      "--cluster <folder>",
      "take a cluster of these manifests through its life: machines join it, one is killed and replaced, all are wiped; ends with 0 when all of it held",
    )
    .option(
      "--vino <folder>",
      "virtual machines of libvirt by this Vino, a tenant on them by its SIPCluster: its API is reached by the load balancer, users log in; ends with 0 when all of it held (root)",
    )
    .option(
      "--plunder <folder>",
      "take plunder's manifests of 2019 through their walk: blank machines are unleased, kubeadm makes a cluster of them, deleted Machines are wiped; ends with 0 when all of it held",
    )
    .addOption(
      new Option("--firmware <list>", `of the machines in turn, with commas: ${FIRMWARES.join(", ")}`)
        .argParser(namesOf(FIRMWARES))
        .default(["bios", "uefi"], "bios,uefi"),
    )
    .addOption(new Option("--disk <size>", "of each machine's disk").argParser(bytes).default(bytes("4Gi"), "4Gi"))
    .addOption(
      new Option("--memory <size>", "of each machine; with --cluster 2Gi, with --plunder 4Gi")
        .argParser(bytes)
        .default(bytes("1Gi"), "1Gi"),
    )
    .option("--console <name>", "show what this machine says on its serial line (lab-1)")
    .option("--bmc", "machines have Redfish BMCs, and are off until these switch them on", false)
    .option("--tpm", "machines have a TPM 2.0 each (swtpm), by which they are known", false)
    .option("--files <folder>", "served to the machines: images for spec.image.url")
    .option("--dir <folder>", "for consoles and the kubeconfig", ".slipway/lab")
    .option("--assets <folder>", "what `make agent` has put together; unset: $SLIPWAY_NETBOOT_ASSETS, else the cache")
    .option("--port <number>", "port of the Kubernetes API; 0: any free one", portNumber, 6443)
    .option("--console-port <port>", `port of the web console (default: ${CONSOLE_PORT}, or any free one)`, portNumber)
    .addOption(logLevel("warn"))
    .addOption(logFormat())
    .addOption(new Option("--inside <port>").argParser(portNumber).hideHelp())
    .addOption(new Option("--inside-console <port>").argParser(portNumber).hideHelp())
    .addHelpText(
      "after",
      `
Examples:
  slipway lab
  slipway lab --bmc --files ~/images
  slipway lab --pool
  slipway lab --pool 2 --memory 768Mi --console lab-1
  slipway lab --cluster examples/lab-cluster
  slipway lab --vino examples/lab-vino
  slipway lab --plunder examples/lab-plunder
  slipway lab --machines 4 --firmware bios,uefi-secure,uefi-http,arm64 --console lab-2
  KUBECONFIG=.slipway/lab/kubeconfig kubectl get bmh -A
  slipway get unleased`,
    )
    .action(run);
};

async function run(given: Options, command: Command): Promise<void> {
  const lab = await labAsked(given, (name) => command.getOptionValueSource(name) === "cli");
  const { options, pool, cluster, plunder, vino, memory } = lab;
  const { machines, firmware, inside } = options;
  const dir = resolve(options.dir);
  const sockets = { api: socketIn(dir, "api.sock"), web: socketIn(dir, "web.sock") };
  if (inside !== undefined) return await runInside(await insideOf(lab, { dir, sockets, inside }));
  // A Vino's machines boot by BIOS or UEFI of this machine's processor.
  const firmwares: Firmware[] = vino === undefined ? firmware.slice(0, machines) : ["bios", "uefi"];
  await checkInstalled(firmwares, process.env.PATH ?? "", {
    hasTpms: options.tpm,
    ...(vino !== undefined && { programs: VINO_PROGRAMS }),
  });
  if (pool !== undefined || cluster !== undefined || plunder !== undefined)
    checkMemory(machines * memory, process.availableMemory());
  if (pool?.iso !== undefined) await isoRelease(pool.iso);
  const nodes = cluster ?? plunder;
  if (nodes !== undefined) await imageFolderFor(nodes, process.env);
  if (vino !== undefined) {
    checkRoot();
    checkMemory(vino.memoryMiB * MIB, process.availableMemory());
    await vinoPlaces(vino, process.env);
  }
  await runOutside(dir, sockets, options);
}

/** What is made of folders of manifests. */
interface Asked {
  cluster: LabCluster | undefined;
  vino: LabVino | undefined;
  plunder: LabPlunder | undefined;
}

interface Lab extends Asked {
  options: Options;
  plans: MachinePlan[];
  pool: LabShape["pool"] | undefined;
  /** Of each machine. */
  memory: number;
}

async function manifestsAsked({ cluster, vino, plunder }: Options): Promise<Asked> {
  return {
    cluster: cluster === undefined ? undefined : await labClusterIn(cluster),
    vino: vino === undefined ? undefined : await labVinoIn(vino),
    plunder: plunder === undefined ? undefined : await labPlunderIn(plunder),
  };
}

function memoryFor({ cluster, plunder }: Asked, usual: number): number {
  if (plunder !== undefined) return PLANE_MEMORY;
  return cluster === undefined ? usual : CLUSTER_MEMORY;
}

/** The lab that was asked for. Rejects with a `Fault` for what can't be had. */
async function labAsked(given: Options, isSet: (name: string) => boolean): Promise<Lab> {
  const asked = await manifestsAsked(given);
  const { cluster, plunder, vino } = asked;
  const { cluster: _, vino: ___, plunder: ____, ...wish } = given;
  const { pool, ...shape } = labOf(
    {
      ...wish,
      ...(cluster !== undefined && { cluster: cluster.count }),
      ...(plunder !== undefined && { plunder: plunder.count }),
      ...(vino !== undefined && { vino: true }),
    },
    { hasMachines: isSet("machines"), hasFirmware: isSet("firmware") },
  );
  const { pool: __, ...rest } = given;
  const options = { ...rest, ...shape };
  const { machines, firmware, disk } = options;
  const memory = isSet("memory") ? options.memory : memoryFor(asked, options.memory);
  if (vino === undefined && (machines < 1 || machines > MOST_MACHINES))
    throw new Fault("BadRequest", "lab", `${machines} machines`, { remedy: `say 1 to ${MOST_MACHINES}` });
  if (memory < LEAST_MEMORY) throw new Fault("BadRequest", "lab", "the agent needs 512Mi of memory");
  const plans = planMachines(machines, firmware, {
    memoryMiB: Math.floor(memory / MIB),
    diskBytes: disk,
    ...(options.tpm && { hasTpm: true }),
    ...(plunder !== undefined && { processors: PLANE_PROCESSORS }),
  });
  if (options.console !== undefined && !plans.some(({ name }) => name === options.console))
    throw new Fault("BadRequest", "lab", `there is no ${options.console}`, {
      remedy: `say one of ${plans.map(({ name }) => name).join(", ")}`,
    });
  return { options, plans, pool, ...asked, memory };
}

async function insideOf(
  { options, plans, pool, cluster, vino, plunder }: Lab,
  { dir, sockets, inside }: { dir: string; sockets: Sockets; inside: number },
): Promise<InsideOptions> {
  const assets = options.assets ?? assetsFolder(process.env);
  const { logLevel, logFormat, console, files, bmc: hasBmcs } = options;
  const url = `https://127.0.0.1:${inside}`;
  const web = { url: `http://127.0.0.1:${options.insideConsole}`, socket: sockets.web };
  return {
    ...{ dir, socket: sockets.api, assets, plans, url, web, logLevel, hasBmcs },
    ...(logFormat && { logFormat }),
    ...(pool !== undefined && { pool }),
    ...(cluster !== undefined && { cluster, files: await imageFolderFor(cluster, process.env) }),
    ...(plunder !== undefined && {
      plunder: { lab: plunder, assets: await planePrograms(process.env) },
      files: await imageFolderFor(plunder, process.env),
    }),
    ...(vino !== undefined && { vino: { lab: vino, ...(await vinoPlaces(vino, process.env)) } }),
    ...(console !== undefined && { console }),
    ...(files !== undefined && { files: resolve(files) }),
  };
}

/** Where the Kubernetes API and the web console are reached from outside of the network. */
interface Sockets {
  api: string;
  web: string;
}

/** All that needs the network runs in a process inside it; this one is its doors and its end. */
async function runOutside(
  dir: string,
  sockets: Sockets,
  { port, consolePort }: Pick<Options, "port" | "consolePort">,
): Promise<void> {
  privateFolder(dir);
  const stopped = untilStopped();
  const door = await openDoor({ host: HOST, port }, { path: sockets.api });
  const web = await webDoor(consolePort, sockets.web).catch(async (error: unknown) => {
    await door.close();
    throw error;
  });
  const ports = ["--inside", String(door.port), "--inside-console", String(web.port)];
  const [program, ...before] = ownCommand();
  const args = [...before, ...process.argv.slice(2), ...ports];
  const root = process.getuid?.() === 0;
  const inner = new KeptProcess({
    ...inOwnNetwork(program!, args, { root }),
    removeAfter: join(dir, "netboot"),
  });
  try {
    await Promise.race([stopped, inner.gone]);
    await inner.stop();
    process.exitCode = (await inner.gone) === 0 ? 0 : 1;
  } finally {
    await door.close();
    await web.close();
    const left = [
      ...Object.values(sockets),
      ...["kubeconfig", "pki", "bmc", "stand-in", "tenants", "pool.yaml", ...VINO_FOLDERS].map((name) =>
        join(dir, name),
      ),
    ];
    await Promise.all(left.map((path) => rm(path, { recursive: true, force: true })));
  }
}

/** Where no port is chosen and the usual one is taken, any free one. */
async function webDoor(port: number | undefined, path: string): Promise<Door> {
  return await openDoor({ host: HOST, port: port ?? CONSOLE_PORT }, { path }).catch((error: NodeJS.ErrnoException) => {
    if (port === undefined && error.code === "EADDRINUSE") return openDoor({ host: HOST, port: 0 }, { path });
    throw error;
  });
}

/** A Unix socket's path is at most 107 bytes long; from here it may be shorter. */
function socketIn(dir: string, name: string): string {
  const [whole, short] = [join(dir, name), relative("", join(dir, name))];
  return short.length < whole.length ? short : whole;
}

function bytes(text: string): number {
  try {
    const number = quantityNumber(parseQuantity(text));
    if (Number.isSafeInteger(number) && number >= MIB) return number;
  } catch {
    // Said below, with the same example.
  }
  throw new InvalidArgumentError("Give a size such as 4Gi.");
}
