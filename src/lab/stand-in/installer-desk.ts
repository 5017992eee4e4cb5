/**
 * Where the stand-in's installers, which run on the lab's machines, learn what to do. STAND-IN for the part of Harvester's installer that reads
 * and judges: a machine brings its kernel arguments, the configuration that it has fetched and what it is made of; it is refused what the real
 * installer of that release refuses, or gets the steps, which it does itself.
 */
import { type HttpAnswer, type HttpHandler, json, plain } from "@slipway/base";
import { z } from "zod";
import { harvesterVersion } from "../../sim/firmware/harvester-installer.ts";
import { argumentsConfig, planInstall } from "../../sim/firmware/harvester-plan.ts";
import type { InstallTarget } from "../../sim/firmware/harvester-rules.ts";
import type { HarvesterConfig, Webhook } from "../../sim/firmware/harvester-schema.ts";
import { argument } from "../../sim/firmware/kernel-command-line.ts";
import { requestOf, type WebhookContext } from "../../sim/firmware/webhooks.ts";

/** Where installers ask, below the server's address. */
export const PLAN_PATH = "/stand-in/plan";

const visitor = z.object({
  commandLine: z.string(),
  /** The text behind `harvester.install.config_url`; unset: the kernel arguments name none. */
  config: z.string().optional(),
  firmware: z.enum(["uefi", "bios"]),
  uuid: z.string(),
  address: z.string(),
  cpus: z.int(),
  memoryMiB: z.int(),
  /** By every name they have: `/dev/nvme0n1`, `/dev/disk/by-id/…`. */
  disks: z.array(z.object({ names: z.array(z.string()), bytes: z.number() })),
  cards: z.array(z.object({ name: z.string(), mac: z.string() })),
});
/** What a machine says of itself when it asks. */
export type Visitor = z.infer<typeof visitor>;

/** A call that the machine makes. */
export interface Call {
  method: string;
  url: string;
  headers: string[];
  body: string;
}

/** What the machine does. */
export interface Steps {
  /** The kernel's name of the disk: `nvme0n1`. */
  disk: string;
  iso: string;
  /** Serial console of the installed system. */
  tty: string;
  powersOff: boolean;
  calls: { STARTED: Call[]; SUCCEEDED: Call[]; FAILED: Call[] };
  /** What the installed system joins with: kept on the disk. */
  system: InstalledSystem;
}

/** What an installed system knows of itself. */
export interface InstalledSystem {
  hostname: string;
  serverUrl: string;
  token: string;
  labels: Record<string, string>;
  role: string;
  cordoned: boolean;
  version: string;
}

const GIB = 1024 ** 3;
/** The real installer's own numbers for tests (pkg/preflight). */
const LEAST_CPUS = 8;
const LEAST_MEMORY_GIB = 32;

/** Answers `POST /stand-in/plan`: 200 with the steps, 422 with `reason`, which the machine shows on its console and stops. */
export const installerDesk: HttpHandler = async ({ method, url, body = "" }) => {
  if (new URL(url).pathname !== PLAN_PATH) return plain(404, "not found\n");
  if (method !== "POST") return plain(405, "method not allowed\n", { allow: "POST" });
  const read = said(body);
  if (read === undefined) return refused("the stand-in's installer has said what its desk can't read");
  const steps = stepsFor(read);
  return typeof steps === "string" ? refused(steps) : json(200, steps);
};

/** The steps of a machine's installation, or why there are none. Pure. */
export function stepsFor(machine: Visitor): Steps | string {
  const { commandLine, config: remote } = machine;
  const version = harvesterVersion("", commandLine);
  if (version === undefined) return "root=live: names no release of Harvester";
  const begun = argumentsConfig(commandLine);
  if (begun.is === "failed") return begun.message;
  const plan = planInstall(version, begun.config, remote, targetOf(machine));
  if (plan.is === "failed") return plan.message;
  const { config, context } = plan;
  const { install = {} } = config;
  const disk = machine.disks.find(({ names }) => names.includes(install.device ?? ""))!;
  // Installers differ in what they start from; this one knows one way.
  if (machine.firmware !== "uefi") return "the stand-in's system starts by UEFI alone";
  return {
    disk: disk.names[0]!.slice("/dev/".length),
    iso: install.iso_url!,
    // What the installer itself was started with: as many kernels, it speaks on the last one.
    tty: argument(commandLine, "console") ?? "ttyS0,115200n8",
    powersOff: install.poweroff === true,
    calls: callsOf(install.webhooks ?? [], context),
    system: systemOf(config, version),
  };
}

function targetOf({ uuid, address, firmware, disks, cards, cpus, memoryMiB }: Visitor): InstallTarget {
  const hardware = { id: uuid, hostname: "this machine", plan: "", serial: "", nics: cards, firmware, diskGiB: 0 };
  const sizes = disks.flatMap(({ names, bytes }) => names.map((name) => [name, Math.floor(bytes / GIB)] as const));
  const memory = Math.round(memoryMiB / 1024);
  return {
    hardware: { ...hardware, publicIp: address, privateIp: address, reachable: () => true },
    disks: Object.fromEntries(sizes),
    interfaceNames: cards.map(({ name }) => name),
    warnings: [
      ...(cpus < LEAST_CPUS ? [`${cpus} CPU cores, at least ${LEAST_CPUS} are needed`] : []),
      ...(memory < LEAST_MEMORY_GIB ? [`${memory} GiB of memory, at least ${LEAST_MEMORY_GIB} GiB are needed`] : []),
    ],
  };
}

function callsOf(hooks: readonly Webhook[], context: WebhookContext): Steps["calls"] {
  const of = (event: string): Call[] =>
    hooks
      .filter((hook) => hook.event === event)
      .map((hook) => {
        const { method, url, headers = {}, body = "" } = requestOf(hook, context);
        return { method, url, headers: Object.entries(headers).map(([name, value]) => `${name}: ${value}`), body };
      });
  return { STARTED: of("STARTED"), SUCCEEDED: of("SUCCEEDED"), FAILED: of("FAILED") };
}

function systemOf(config: HarvesterConfig, version: readonly number[]): InstalledSystem {
  const { os = {}, install = {}, server_url: serverUrl, token } = config;
  return {
    hostname: os.hostname!,
    serverUrl: serverUrl!,
    token: token!,
    labels: os.labels ?? {},
    role: install.role || "default",
    cordoned: install.cordoned ?? false,
    version: `v${version.join(".")}`,
  };
}

function refused(reason: string): HttpAnswer {
  return json(422, { reason });
}

function said(body: string): Visitor | undefined {
  try {
    return visitor.parse(JSON.parse(body));
  } catch {
    return undefined;
  }
}
