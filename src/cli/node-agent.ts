import { resolve } from "node:path";
import { systemClock as clock, closeAll, Fault, plain, cryptoRandom as random } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { createManager } from "@slipway/kube";
import { createHttpTransport } from "@slipway/kube/http";
import { type Command, Option } from "commander";
import { fetchTo } from "../netboot/images/fetch-image.ts";
import { startNodeAgent } from "../node-agent/agent.ts";
import { commandLog, type LogOptions, logFormat, logLevel } from "./command-log.ts";
import { healthPage } from "./health-pages.ts";
import { connectionTo } from "./on-cluster.ts";
import { ipAddress, type ListenAddress, listenAddress, portNumber } from "./option-values.ts";
import { secrets } from "./outgoing.ts";
import { reachSoon } from "./reach.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

interface Options extends LogOptions {
  node?: string;
  namespace?: string;
  address?: string;
  redfishPort: number;
  libvirt: string;
  dir: string;
  vncListen: string;
  kvm: boolean;
  confirmRemoval?: string;
  kubeconfig?: string;
  context?: string;
  healthListen: ListenAddress;
}

/** Longer images would fill the disk of the node. */
const LARGEST_CD = 16 * 2 ** 30;

/** `slipway node-agent`: runs until a signal. */
export const verb: Verb = (program) => {
  const command: Command = program
    .command("node-agent")
    .description("Make a node's virtual machines as its VinoNodes want them, and serve Redfish for them, until Ctrl-C.")
    .addOption(new Option("--node <name>", "name of the Node that this is").env("NODE_NAME"))
    .option("--namespace <name>", "namespace of the node's VinoNodes; unset: all")
    .addOption(
      new Option("--address <ip>", "the node's address, at which Redfish is reached")
        .env("NODE_ADDRESS")
        .argParser(ipAddress),
    )
    .option("--redfish-port <port>", "port of Redfish", portNumber, 8443)
    .option("--libvirt <socket>", "libvirt's socket", "/var/run/libvirt/libvirt-sock")
    .option(
      "--dir <folder>",
      "where the authority of the certificates is kept, and images on their way",
      ".slipway/node-agent",
    )
    .addOption(
      new Option("--vnc-listen <ip>", "where screens of machines with VNC listen")
        .argParser(ipAddress)
        .default("127.0.0.1"),
    )
    .option("--no-kvm", "emulate processors also where the node could run machines by itself")
    .option(
      "--confirm-removal <code>",
      "change and remove the machines that a stop with this code names (docs/node-agent.md)",
    )
    .option("--kubeconfig <file>", "cluster of the VinoNodes; unset: $KUBECONFIG, else the cluster it runs in")
    .option("--context <name>", "context of the kubeconfig")
    .addOption(
      new Option("--health-listen <address:port>", "where /healthz and /readyz (both take ?verbose) listen")
        .argParser(listenAddress)
        .default(listenAddress("127.0.0.1:8088"), "127.0.0.1:8088"),
    )
    .addOption(logLevel("info"))
    .addOption(logFormat());
  command
    .addHelpText(
      "after",
      `
It needs libvirtd (or virtqemud) with the QEMU driver on the node, and perl. docs/node-agent.md says more.

Examples:
  slipway node-agent --node worker-1 --address 10.0.0.5
  slipway node-agent --node worker-1 --address 10.0.0.5 --kubeconfig agent.yaml --dir /var/lib/slipway/node-agent`,
    )
    .action(run);
};

async function run(options: Options): Promise<void> {
  const { node, address, redfishPort: port, libvirt, vncListen, kvm } = options;
  if (node === undefined || address === undefined)
    throw new Fault("MissingInput", "node-agent", "the node's name or its address is not given", {
      remedy:
        "give --node and --address, or set NODE_NAME and NODE_ADDRESS, in a Pod from spec.nodeName and status.hostIP",
    });
  const log = commandLog(options);
  const connection = await connectionTo(options, {
    on: "node-agent",
    message: "there is no kubeconfig of the cluster that has the VinoNodes",
    remedy: "give --kubeconfig or set KUBECONFIG",
  });
  const transport = createHttpTransport(connection);
  const stopping = new AbortController();
  const stopped = untilStopped().then(() => stopping.abort());
  const open: (() => Promise<unknown>)[] = [() => transport.close()];
  const manager = createManager({ transport, clock, random, log, leaderElection: false, outgoing: secrets });
  try {
    const agent = await startNodeAgent({
      ...{ node, address, port, log, clock, random },
      ...(options.namespace !== undefined && { namespace: options.namespace }),
      socket: libvirt,
      folder: resolve(options.dir),
      settings: { vncListen, emulated: !kvm },
      ...(options.confirmRemoval !== undefined && { confirmations: [options.confirmRemoval] }),
      fetchImage: (url, to) => fetchTo(fetch, url, { to, mostBytes: LARGEST_CD }),
      onSecret: (value) => secrets.add(value),
    });
    open.push(() => agent.close());
    manager.add(agent.controller);
    const health = await serveHttp(async ({ url }) => {
      const { pathname, searchParams } = new URL(url, "http://local.invalid");
      const verbose = searchParams.has("verbose");
      const page = healthPage(pathname, { verbose, serving: true, health: manager.health() });
      return page === undefined ? plain(404, "not found\n") : plain(page.status, page.text);
    }, options.healthListen);
    open.push(() => health.close());
    await reachSoon(transport, connection.server, { signal: stopping.signal, log });
    await manager.start(stopping.signal);
    log.info({ node, redfish: agent.url, health: health.url }, "node agent started");
    await stopped;
  } catch (error) {
    // Whatever was waited for, Ctrl-C ends it.
    if (!stopping.signal.aborted) throw error;
  } finally {
    stopping.abort();
    await manager.stop();
    await closeAll(open);
  }
}
