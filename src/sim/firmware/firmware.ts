/**
 * SIMULATION of a machine between power-on and a joined node: power-on self test, DHCP, the boot script over the network,
 * the installer it starts, the reboot from disk and the joining of the cluster. Implements `Firmware` for the simulated clouds.
 */
import { asFault, type Clock, type Http, isFault, type Log, type Random } from "@slipway/base";
import type { Firmware, Hardware, NetBoot, Powered, Progress } from "../hardware.ts";
import type { JoinRequest, Role } from "../site/node-object.ts";
import type { Joined } from "../site/site.ts";
import { isCloudConfig, type Seeded, seed } from "./cloud-init.ts";
import { harvesterVersion, install } from "./harvester-installer.ts";
import type { HarvesterConfig } from "./harvester-schema.ts";
import { installerRules, type Version } from "./harvester-versions.ts";
import { bootFrom } from "./ipxe.ts";
import type { IpxeEnd } from "./ipxe-machine.ts";
import { hardwareSettings } from "./ipxe-settings.ts";
import type { SimControlPlanes } from "./kubeadm-init.ts";
import { type JoinEnd, kubeadmJoin, type OpenApi } from "./kubeadm-join.ts";
import { runKubelet } from "./kubelet.ts";
import { machineNetwork } from "./metadata.ts";
import { seedFrom, seedUrlIn } from "./network-seed.ts";
import { jittered, METAL_TIMINGS, type Timings } from "./timings.ts";

/** Where an injected fault can stop a machine for good. */
export const STAGES = ["dhcp", "script", "kernel", "installing", "disk", "joining"] as const;
export type Stage = (typeof STAGES)[number];

export interface FirmwareOptions {
  /** The network that machines boot and install over. */
  http: Http;
  clock: Clock;
  random: Random;
  log: Log;
  /** The cluster; undefined: none is there, and an installed machine waits for one. */
  site: { join(request: JoinRequest): Promise<Joined>; powerLost(machineId: string): void } | undefined;
  timings?: Timings;
  /** The way to workload clusters' APIs. Default: that of `controlPlanes`, else sockets. */
  openApi?: OpenApi;
  /** What becomes of machines that run `kubeadm init`. Unset: nothing. */
  controlPlanes?: Pick<SimControlPlanes, "init" | "join" | "open">;
  /** Fault injection: whether this machine hangs at this stage. Asked once a stage. */
  hangs?: (hardware: Hardware, stage: Stage) => boolean;
  /** Fault injection: what goes wrong while the system is written; undefined: nothing. */
  installFails?: (hardware: Hardware) => string | undefined;
}

const REBOOT_MS = 1_000;

/** What an installation leaves on the disk. */
interface Installed {
  config: HarvesterConfig;
  version: Version;
}

type Kubelet = (signal: AbortSignal) => Promise<void>;
type Member = Extract<JoinEnd, { is: "joined" }>;

/** One power cycle. */
interface Run {
  hardware: Hardware;
  signal: AbortSignal;
  say: (now: Progress) => void;
}

/** Firmware for the machines of a simulated cloud. It uses the clock and the network that it was given and no other. */
export function createFirmware(options: FirmwareOptions): Firmware {
  const { clock, random, site, timings = METAL_TIMINGS } = options;
  const disks = new Map<string, Installed>();
  /** Nodes on disks, by the machine, and by the data that each was made from. */
  const joined = new Map<string, { url: string; kubelet: Kubelet }>();

  const pause = (ms: number, signal: AbortSignal): Promise<void> => clock.sleep(jittered(ms, random), signal);

  /** Starts `work` and returns the switch that ends it. */
  function power(hardware: Hardware, progress: (now: Progress) => void, work: (run: Run) => Promise<void>): Powered {
    const controller = new AbortController();
    const { signal } = controller;
    const say = (now: Progress): void => {
      if (!signal.aborted) progress(now);
    };
    work({ hardware, signal, say }).catch((error: unknown) => {
      if (signal.aborted) return;
      say({ stage: "failed", message: asFault(error, hardware.hostname).message });
      options.log.debug({ hostname: hardware.hostname, error }, "simulated machine failed");
    });
    return {
      off() {
        if (signal.aborted) return;
        controller.abort(new Error("power off"));
        site?.powerLost(hardware.id);
      },
    };
  }

  function hangsAt(run: Run, stage: Stage): boolean {
    if (options.hangs?.(run.hardware, stage) !== true) return false;
    run.say({ stage: "hung", message: `hangs at ${stage}` });
    return true;
  }

  async function netBoot(run: Run, boot: NetBoot): Promise<void> {
    const { hardware, signal, say } = run;
    const http = machineNetwork(hardware, boot, options.http);
    for (;;) {
      await pause(timings.postMs, signal);
      say({ stage: "dhcp", message: "asks for an address" });
      await pause(timings.dhcpMs, signal);
      if (hangsAt(run, "dhcp")) return;
      if (boot.scriptUrl === "") return await withoutScript(run, boot);
      say({ stage: "script", message: "runs its boot script" });
      if (hangsAt(run, "script")) return;
      const settings = hardwareSettings(hardware, { extra: { ipxe_cloud_config: "packet", ...boot.settings } });
      // The provisioning network serves the firmware whatever mode the ports are in.
      const end = await bootFrom(boot.scriptUrl, { http: options.http, clock, signal, settings, dhcp: true });
      if (end.is === "reboot") {
        // Whatever the timings say: a script that only reboots must not stop the clock.
        await clock.sleep(REBOOT_MS, signal);
        continue;
      }
      return await afterScript(run, end, http);
    }
  }

  async function withoutScript(run: Run, { userData }: NetBoot): Promise<void> {
    if (isCloudConfig(userData)) return await bootImage(run, userData);
    run.say({ stage: "shell", message: "nothing to boot" });
  }

  /** The provider's image is on the disk; cloud-init carries out the user data, and kubeadm joins where it says so. */
  async function bootImage(run: Run, userData: string): Promise<void> {
    const { hardware, signal, say } = run;
    say({ stage: "installing", message: "starts the provider's image" });
    await pause(timings.installMs, signal);
    const end = seed(userData, hardware);
    if (end.is === "failed") return say({ stage: "failed", message: end.message });
    await pause(timings.diskBootMs, signal);
    say({ stage: "installed", message: `is set up by cloud-init: ${end.commands.length} commands are recorded` });
    await becomeNode(run, end, { hostname: hardware.hostname, hasNetwork: false });
  }

  /** An image in memory: it fetches its user data as cloud-init does, joins, and brings the Pods' network along. */
  async function bootLive(run: Run, seedUrl: string, http: Http, onJoin?: (kubelet: Kubelet) => void): Promise<void> {
    const { signal, say } = run;
    const found = await seedFrom(seedUrl, { http, clock, signal });
    if (found.is === "failed") return say({ stage: "failed", message: found.message });
    const end = seed(found.userData, found.instance);
    if (end.is === "failed") return say({ stage: "failed", message: end.message });
    await pause(timings.diskBootMs, signal);
    say({ stage: "kernel", message: `is set up by its user data: ${end.commands.length} commands are recorded` });
    await becomeNode(run, end, { hostname: found.instance.hostname, hasNetwork: true }, onJoin);
  }

  /** Joins where the user data say so, and is a Node until its power is cut. */
  async function becomeNode(
    { hardware, signal, say }: Run,
    { files, commands }: Seeded,
    { hostname, hasNetwork }: { hostname: string; hasNetwork: boolean },
    onJoin: (kubelet: Kubelet) => void = () => {},
  ): Promise<void> {
    const { clock, random, log, controlPlanes, openApi = controlPlanes?.open } = options;
    const found = commands.flatMap((command) => /\bkubeadm (init|join) --config (\S+)/.exec(command) ?? []);
    const [, verb, path] = found;
    if (path === undefined || (verb === "init" && controlPlanes === undefined)) return;
    const file = files.get(path);
    if (file === undefined) return say({ stage: "failed", message: `kubeadm: ${path} does not exist` });
    const begun = verb === "init" ? await controlPlanes!.init(file, files, signal) : undefined;
    if (begun?.is === "refused") return say({ stage: "failed", message: begun.message });
    const ports = { clock, random, log, signal, ...(openApi && { open: openApi }) };
    const machine = { hostname, addresses: addressesOf(hardware), files };
    const member = await kubeadmJoin(begun?.join ?? file, machine, ports);
    if (member.is === "refused") return say({ stage: "failed", message: member.message });
    serve(member, signal);
    say({ stage: "joined", message: `has joined as Node ${member.node}` });
    const kubelet = (now: AbortSignal) =>
      runKubelet(member.node, member.kubelet, { ...ports, signal: now, hasNetwork });
    onJoin(kubelet);
    await kubelet(signal);
  }

  /** A machine of a control plane answers for it while it has power. */
  function serve({ isControlPlane, kubelet }: Member, signal: AbortSignal): void {
    if (isControlPlane) options.controlPlanes?.join(new URL(kubelet.server).host, signal);
  }

  /** A system on a disk asks for its data at its first boot alone; once it has joined it is that Node whenever it starts. */
  async function bootSeeded(run: Run, url: string): Promise<void> {
    const { id } = run.hardware;
    const known = joined.get(id);
    if (known?.url === url) return await known.kubelet(run.signal);
    await bootLive(run, url, options.http, (kubelet) => void joined.set(id, { url, kubelet }));
  }

  async function afterScript(run: Run, end: IpxeEnd, http: Http): Promise<void> {
    const { signal, say } = run;
    switch (end.is) {
      case "boots":
        return await bootKernel(run, end.kernel, end.args, http);
      case "disk":
      case "exit":
        return await bootDisk(run);
      case "shell":
        return say({ stage: "shell", message: "waits at the firmware's prompt" });
      case "poweroff":
        return say({ stage: "off", message: "switched itself off" });
      case "failed":
        return say({ stage: "failed", message: end.message });
      case "reboot":
        return signal.throwIfAborted();
    }
  }

  async function bootKernel(run: Run, kernel: string, args: string, http: Http): Promise<void> {
    const { hardware, signal, say } = run;
    say({ stage: "kernel", message: "starts the kernel" });
    await pause(timings.kernelMs, signal);
    if (hangsAt(run, "kernel")) return;
    const seedUrl = seedUrlIn(args);
    if (seedUrl !== undefined) return await bootLive(run, seedUrl, http);
    const version = harvesterVersion(kernel, args);
    if (version === undefined)
      return say({ stage: "kernel", message: "runs a kernel that installs nothing known here" });
    say({ stage: "installing", message: `installs Harvester ${version.join(".")}` });
    if (hangsAt(run, "installing")) return;
    const end = await install(version, args, targetOf(hardware), {
      http,
      clock,
      signal,
      installMs: jittered(timings.installMs, random),
      fails: options.installFails?.(hardware),
      say: (message) => say({ stage: "installing", message }),
    });
    if (end.is === "failed") return say({ stage: "failed", message: end.message });
    disks.set(hardware.id, { config: end.config, version: end.version });
    if (end.config.install?.poweroff) return say({ stage: "off", message: "is installed and switched itself off" });
    say({ stage: "installed", message: "is installed and starts from its disk" });
    await bootDisk(run);
  }

  async function bootDisk(run: Run): Promise<void> {
    const { hardware, signal, say } = run;
    const installed = disks.get(hardware.id);
    if (installed === undefined) return say({ stage: "failed", message: "no bootable disk" });
    await pause(timings.postMs + timings.diskBootMs, signal);
    if (hangsAt(run, "disk") || hangsAt(run, "joining")) return;
    if (site === undefined) return say({ stage: "installed", message: "is installed; no cluster is there to join" });
    await join(run, installed, site);
  }

  async function join(
    { hardware, signal, say }: Run,
    installed: Installed,
    cluster: NonNullable<FirmwareOptions["site"]>,
  ): Promise<void> {
    for (;;) {
      const joined: Joined = hardware.reachable()
        ? await cluster.join(joinRequest(hardware, installed)).catch(outage)
        : { is: "refused", reason: "its ports have no address" };
      if (signal.aborted) {
        // The power went while the cluster let it in: it must not stay there as if it ran.
        cluster.powerLost(hardware.id);
        throw signal.reason;
      }
      if (joined.is === "joined") return say({ stage: "joined", message: "has joined the cluster" });
      say({ stage: "installed", message: `can't join: ${joined.reason}` });
      await pause(timings.joinRetryMs, signal);
    }
  }

  return {
    fromNetwork: (hardware, boot, progress) => power(hardware, progress, (run) => netBoot(run, boot)),
    fromDisk: (hardware, progress) => power(hardware, progress, bootDisk),
    fromSeed: (hardware, url, progress) => power(hardware, progress, (run) => bootSeeded(run, url)),
    fromKernel: (hardware, kernel, args, progress) =>
      power(hardware, progress, (run) => bootKernel(run, kernel, args, options.http)),
    wipe: (hardware) => void disks.delete(hardware.id),
    remember: (hardware) => disks.get(hardware.id),
    recall: (hardware, disk) => void disks.set(hardware.id, disk as Installed),
  };
}

/** A cluster that does not answer now is asked again, as a machine's own services do. */
function outage(error: unknown): Joined {
  if (!isFault(error)) throw error;
  return { is: "refused", reason: `the cluster does not answer (${error.code})` };
}

function targetOf(hardware: Hardware): Parameters<typeof install>[2] {
  const names = hardware.nics.map((_, index) => `enp${65 + index}s0f${index % 2}`);
  return {
    hardware,
    disks: { "/dev/sda": hardware.diskGiB, "/dev/sdb": hardware.diskGiB },
    interfaceNames: names,
    warnings: [],
  };
}

const addressesOf = (hardware: Hardware): { type: "InternalIP" | "ExternalIP"; address: string }[] => [
  { type: "InternalIP", address: hardware.privateIp },
  { type: "ExternalIP", address: hardware.publicIp },
];

function joinRequest(hardware: Hardware, { config, version }: Installed): JoinRequest {
  const rules = installerRules(version);
  const role = ((rules.roles && config.install?.role) || "default") as Role;
  return {
    hostname: config.os?.hostname ?? hardware.hostname,
    token: config.token ?? "",
    serverUrl: config.server_url ?? "",
    labels: (config.os?.labels ?? {}) as Record<string, string>,
    role,
    cordoned: rules.cordoned && config.install?.cordoned === true,
    nics: hardware.nics,
    addresses: addressesOf(hardware),
    machineId: hardware.id,
    version: `v${version.join(".")}`,
    reachable: hardware.reachable,
  };
}
