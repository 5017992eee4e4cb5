import { hostname } from "node:os";
import { resolve } from "node:path";
import { systemClock as clock, type Log, quietLog, cryptoRandom as random, uuid } from "@slipway/base";
import { createClient, createManager } from "@slipway/kube";
import { createHttpTransport } from "@slipway/kube/http";
import type { Command } from "commander";
import { assetsFolder } from "../netboot/agent/assets-folder.ts";
import { ledNetboot, prepareDiscovery } from "../systems/netboot/led-netboot.ts";
import { type NetbootHere, netbootHere } from "../systems/netboot/netboot-here.ts";
import { commandLog, type LogOptions, logFormat, logLevel } from "./command-log.ts";
import { addNetbootOptions, type NetbootOptions, settingsOf } from "./netboot-options.ts";
import { connectionTo } from "./on-cluster.ts";
import { reachSoon } from "./reach.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

interface Options extends NetbootOptions, LogOptions {
  dir: string;
  assets?: string;
  kubeconfig?: string;
  context?: string;
  kubernetes: boolean;
  leaderElection: boolean;
  installCrds: boolean;
  dryRun: boolean;
}

/** `slipway netboot`: runs until Ctrl-C. */
export const verb: Verb = (program) => {
  const command: Command = program
    .command("netboot")
    .description("Boot blank machines from the network: DHCP, TFTP, HTTP and the agent, until Ctrl-C.");
  addNetbootOptions(command)
    .option("--dir <folder>", "where leases, hosts and keys are kept", ".slipway/netboot")
    .option("--assets <folder>", "what `make agent` has put together; unset: $SLIPWAY_NETBOOT_ASSETS, else the cache")
    .option("--kubeconfig <file>", "cluster in which hosts appear; unset: $KUBECONFIG, else the cluster it runs in")
    .option("--context <name>", "context of the kubeconfig")
    .option("--no-kubernetes", "without a cluster: hosts are shown by `slipway get unleased` alone")
    .option("--no-leader-election", "run without a Lease: only where there is one replica")
    .option("--no-install-crds", "leave the CRDs and the namespace as they are")
    .option("--dry-run", "check the settings and the boot files, say what would be served, and open nothing", false)
    .addOption(logLevel("info"))
    .addOption(logFormat())
    .addHelpText(
      "after",
      `
Ports below 1024 need root, CAP_NET_BIND_SERVICE, or sockets from systemd (examples/rack).

Examples:
  slipway netboot --interface eth1 --subnet 10.20.0.0/24 --range 10.20.0.100-10.20.0.199 --no-kubernetes
  slipway netboot --interface eth1 --dhcp proxy
  slipway netboot --config examples/rack/netboot.yaml --dry-run`,
    )
    .action(run);
};

async function run(options: Options): Promise<void> {
  const settings = await settingsOf(options);
  const place = { settings, assets: options.assets ?? assetsFolder(process.env), dir: resolve(options.dir) };
  if (options.dryRun) {
    const { describe } = await import("../netboot/service/describe.ts");
    for (const line of await describe(place)) console.log(line);
    return;
  }
  const log = commandLog(options);
  const here = await netbootHere({ ...place, hasCluster: options.kubernetes }, log);
  try {
    if (options.kubernetes) await withCluster(options, here, log);
    else await alone(here);
  } finally {
    here.close();
  }
}

async function alone({ start }: NetbootHere): Promise<void> {
  const stopped = untilStopped();
  const netboot = await start();
  await stopped;
  await netboot.close();
}

async function withCluster(options: Options, { settings, start }: NetbootHere, log: Log): Promise<void> {
  const connection = await connectionTo(options, {
    on: "netboot",
    message: "there is no kubeconfig of the cluster in which hosts are to appear",
    remedy: "give --kubeconfig or set KUBECONFIG; --no-kubernetes runs without a cluster",
  });
  const transport = createHttpTransport(connection);
  const client = createClient(transport, { clock, random, log: quietLog, fieldManager: "slipway" });
  const { namespace } = settings.discovery;
  const identity = `${hostname()}_${process.pid}_${uuid(random)}`;
  const manager = createManager({
    transport,
    clock,
    random,
    log,
    leaderElection: options.leaderElection && { namespace, identity },
  });
  const led = ledNetboot(settings, { start, log, clock, ...(options.leaderElection && { client }) });
  for (const controller of led.controllers) manager.add(controller);
  const stopping = new AbortController();
  const stopped = untilStopped().then(() => stopping.abort());
  try {
    await reachSoon(transport, connection.server, { signal: stopping.signal, log });
    if (options.installCrds) await prepareDiscovery({ client, clock, signal: stopping.signal }, settings);
    await manager.start(stopping.signal);
    await stopped;
  } catch (error) {
    // Whatever was waited for, Ctrl-C ends it.
    if (!stopping.signal.aborted) throw error;
  } finally {
    stopping.abort();
    await manager.stop();
    await led.closed();
    await transport.close();
  }
}
