/**
 * PlunderMachines on simulated hosts, ten at once against one, in virtual time: how long they take, and what is asked of Kubernetes for each. The same
 * on hosts of a netboot outside of the cluster, and what is asked of that.
 * Then machines that wait: blank ones that were switched on, whose agents run, and of which nobody wants anything; real clock. The process
 * holds everything, simulated servers included; 0 leaves a part out, so that the other has the process to itself.
 * Run: `node bench/plunder.bench.ts [machines at once] [machines that wait]`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { createClient, createManager } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { discoveryController } from "../src/inventory/discovery/controller.ts";
import { Machine } from "../src/kinds/cluster-api/machine.ts";
import { installCrds } from "../src/kinds/install.ts";
import { BareMetalHost } from "../src/kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../src/kinds/metal3/hardware-data.ts";
import { PlunderMachine } from "../src/kinds/plunder/plunder-machine.ts";
import { Provisioning, ProvisioningNetwork } from "../src/sim/rack/provisioning.ts";
import { SimServer } from "../src/sim/rack/server.ts";
import { NO_SERVER_TIMINGS } from "../src/sim/rack/server-parts.ts";
import { CLUSTER, NAMESPACE, OLD_MANIFESTS, PlunderWorld } from "../test/system/plunder-world.ts";
import { inRemoteWorld } from "../test/system/remote-netboot.ts";
import { asCommand } from "./as-command.ts";
import { Counts, countedTransport } from "./counts.ts";
import { peakMiB, printMachine, report, residentMiB } from "./table.ts";

const saver = asCommand();
const HOSTS = "slipway-hosts";
const LOOK_MS = 100;
/** The past of a burst is forgotten after 80 s, and what is left is tidied up at rest. */
const SETTLE_MS = 125_000;
const [many = 10, waiting = 1000] = process.argv.slice(2).map(Number);
printMachine("embedded API in memory by direct call; simulated servers with agents by their protocol, without sockets");

if (many > 0) {
  const one = await installed(1);
  const all = await installed(many);
  report(`${many} against one`, all / one, "times", 1.5);
  const far = await farAgainstOne(many);
  report(`${many} against one, of a netboot elsewhere`, far, "times", 1.5);
}
if (waiting > 0) await wait(waiting);
saver.close();

/** Virtual seconds from the creation of so many machines until all are ready. */
async function installed(count: number): Promise<number> {
  const requests = new Counts();
  const world = await PlunderWorld.create({
    servers: { sg: count, ny: 0 },
    transport: (inner) => countedTransport(inner, requests),
  });
  try {
    await world.operator();
    await world.create(OLD_MANIFESTS[0]!);
    const before = requests.snapshot();
    const sum = (): number => [...requests.snapshot().values()].reduce((total, each) => total + each, 0);
    const total = sum();
    const seconds = await untilReady(world, count);
    report(`${count} at once, from creation to ready`, seconds, "s of virtual time");
    report("  Kubernetes requests a machine", (sum() - total) / count, "");
    for (const [name, each] of requests.entries()) {
      const share = (each - (before.get(name) ?? 0)) / count;
      if (share >= 1) report(`    ${name}`, share, "");
    }
    return seconds;
  } finally {
    await world.close();
  }
}

/** Virtual seconds that so many at once take, against one, on hosts of a netboot elsewhere. */
async function farAgainstOne(many: number): Promise<number> {
  const seconds: number[] = [];
  for (const count of [1, many])
    await inRemoteWorld(
      async (world, netboot) => {
        await world.operator();
        await world.create(OLD_MANIFESTS[0]!);
        seconds.push(await untilReady(world, count));
        report(`${count} at once, of a netboot elsewhere`, seconds.at(-1)!, "s of virtual time");
        const calls = [...netboot.calls.values()].reduce((total, each) => total + each, 0);
        report("  requests to the netboot a machine", calls / count, "");
      },
      { servers: count },
    );
  return seconds[1]! / seconds[0]!;
}

/** Creates so many machines. Resolves with the virtual seconds until all are ready. */
async function untilReady(world: PlunderWorld, count: number): Promise<number> {
  const began = world.clock.now();
  const names = Array.from({ length: count }, (_, at) => `m-${at}`);
  for (const name of names) await machine(world, name);
  await world.until("all are ready", async () => {
    const held = await world.plunderMachines();
    return names.every((name) => held.find(({ metadata }) => metadata.name === name)?.status?.ready === true);
  });
  return (world.clock.now() - began) / 1000;
}

async function machine(world: PlunderWorld, name: string): Promise<void> {
  const { client } = world;
  const metadata = { namespace: NAMESPACE, name };
  const labels = { "cluster.x-k8s.io/cluster-name": CLUSTER };
  const data = { metadata: { ...metadata, name: `${name}-data` }, stringData: { value: "#cloud-config\n" } };
  await world.whileTimePasses(client.create(Secret, data));
  await world.whileTimePasses(client.create(PlunderMachine, { metadata, spec: {} } as never));
  const spec = {
    ...{ clusterName: CLUSTER, version: "v1.34.1", bootstrap: { dataSecretName: `${name}-data` } },
    infrastructureRef: { apiGroup: PlunderMachine.group, kind: PlunderMachine.kind, name },
  };
  await world.whileTimePasses(client.create(Machine, { metadata: { ...metadata, labels }, spec } as never));
}

/** So many machines are switched on, run the agent, and wait. */
async function wait(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-bench-"));
  const api = await createApiServer({ clock, random, log: quietLog });
  const client = createClient(api.transport(), { clock, random, log: quietLog });
  await installCrds(client, clock, new AbortController().signal, [[BareMetalHost], [HardwareData]]);
  await client.create(Namespace, { metadata: { name: HOSTS } });
  const network = new ProvisioningNetwork();
  const servers = Array.from({ length: count }, (_, at) => server(at + 1, network));
  const provisioning = new Provisioning({ clock, random, hostsFile: join(folder, "hosts.db") }, network);
  network.serving = provisioning;
  const manager = createManager({ transport: api.transport(), clock, random, log: quietLog, leaderElection: false });
  const { hosts } = provisioning;
  manager.add(discoveryController({ hosts, namespace: HOSTS, most: count, perSecond: 1_000 }));
  await manager.start();
  const before = residentMiB();
  const began = performance.now();
  for (const each of servers) each.on();
  const isWaiting = ({ metadata }: BareMetalHost): boolean => hosts.get(metadata.name)?.inventory !== undefined;
  while (manager.cache.list(BareMetalHost).filter(isWaiting).length < count) await clock.sleep(LOOK_MS);
  report(`${count} machines on until all wait`, (performance.now() - began) / 1000, "s");
  await clock.sleep(SETTLE_MS);
  report("  resident memory, before", before, "MiB");
  report("  resident memory, with their agents", residentMiB(), "MiB");
  report("  peak", peakMiB(), "MiB");
  const listed = performance.now();
  const shown = hosts.list().length;
  report(`  list of ${shown}`, performance.now() - listed, "ms");
  await manager.stop();
  await provisioning.close();
  for (const each of servers) each.off();
  await api.close();
  rmSync(folder, { recursive: true, force: true });
}

function server(number: number, network: ProvisioningNetwork): SimServer {
  const [high, low] = [number >> 8, number & 255].map((byte) => byte.toString(16).padStart(2, "0"));
  const mac = `52:54:00:00:${high}:${low}` as const;
  const address = `10.20.${number >> 8}.${number & 255}`;
  network.plug(mac as never, address);
  const name = `node-${number}`;
  return new SimServer({ name, mac: mac as never, address, clock, random, network, timings: NO_SERVER_TIMINGS });
}
