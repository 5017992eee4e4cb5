/**
 * Hosts with BMCs from `apply` to all `available`, then all `provisioned`, then at rest: servers that start, wipe and write in no time, so
 * that what is left is Slipway's own work. The agents speak the real protocol, the BMCs answer by direct call. The process holds everything:
 * embedded API (with `--kubernetes real`, kube-apiserver and etcd run beside it instead), engine, discovery, hosts' records, servers.
 * Run: `node bench/inventory.bench.ts [hosts] [--kubernetes real] [--idle seconds] [--one-secret]`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { createClient, createManager, type Transport } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { discoveryController } from "../src/inventory/discovery/controller.ts";
import { hostController } from "../src/inventory/hosts/controller.ts";
import { installCrds } from "../src/kinds/install.ts";
import { BareMetalHost } from "../src/kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../src/kinds/metal3/hardware-data.ts";
import { Provisioning, ProvisioningNetwork } from "../src/sim/rack/provisioning.ts";
import { SimServer } from "../src/sim/rack/server.ts";
import { serverBmc } from "../src/sim/rack/server-bmc.ts";
import { NO_SERVER_TIMINGS } from "../src/sim/rack/server-parts.ts";
import { asCommand } from "./as-command.ts";
import { Counts, countedTransport } from "./counts.ts";
import { startServer } from "./servers.ts";
import { cpuSeconds, peakMiB, printMachine, report, residentMiB } from "./table.ts";

const saver = asCommand();
const NAMESPACE = "slipway-hosts";
const LOGIN = { username: "admin", password: "right" };
const LOOK_MS = 100;
/** Hosts' power is looked at once a minute, and the past of a burst is forgotten after 80 s. */
const SETTLE_MS = 125_000;
const ESTABLISHED_MS = 2_500;

interface Api {
  transport(): Transport | Promise<Transport>;
  /** Absent: it is in this process. */
  cpuSeconds?(): number;
  close(): Promise<void>;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kubernetes: { type: "string", default: "embedded" },
    idle: { type: "string", default: "60" },
    // All hosts have the credentials of one Secret.
    "one-secret": { type: "boolean", default: false },
  },
});
const real = values.kubernetes === "real";
const count = Number(positionals[0] ?? 1000);
printMachine(
  `${count} hosts; ${real ? "kube-apiserver with etcd beside it, over TLS" : "embedded API in memory by direct call"}; BMCs by direct call; agents by their protocol, without sockets`,
);

const folder = mkdtempSync(join(tmpdir(), "slipway-bench-"));
const api: Api = await (real ? startServer("real", true) : createApiServer({ clock, random, log: quietLog }));
const [transport, operators] = [await api.transport(), await api.transport()];
const client = createClient(transport, { clock, random, log: quietLog });
await installCrds(client, clock, new AbortController().signal, [[BareMetalHost], [HardwareData]]);
// kube-apiserver holds back what is created within two seconds of a definition's establishment; a cluster has them long before.
if (real) await clock.sleep(ESTABLISHED_MS);
await client.create(Namespace, { metadata: { name: NAMESPACE } });

const network = new ProvisioningNetwork();
const servers = new Map<string, SimServer>();
let bmcCalls = 0;
for (let i = 1; i <= count; i++) {
  const [high, low] = [i >> 8, i & 255].map((byte) => byte.toString(16).padStart(2, "0"));
  const mac = `52:54:00:00:${high}:${low}`;
  const address = `10.20.${i >> 8}.${i & 255}`;
  network.plug(mac, address);
  servers.set(
    `node-${i}`,
    new SimServer({ name: `node-${i}`, mac, address, clock, random, network, timings: NO_SERVER_TIMINGS }),
  );
}
const provisioning = new Provisioning(
  { clock, random, hostsFile: join(folder, "hosts.db"), imagesFolder: join(folder, "images") },
  network,
);
network.serving = provisioning;

const requests = new Counts();
const manager = createManager({
  transport: countedTransport(operators, requests),
  clock,
  random,
  log: quietLog,
  leaderElection: false,
});
const { hosts, machines } = provisioning;
manager.add(discoveryController({ hosts, namespace: NAMESPACE, most: count, perSecond: 1_000 }));
manager.add(
  hostController({
    machines,
    drivenElsewhere: async () => undefined,
    openBmc: ({ address, credentials }) => {
      const server = servers.get(address.replace(/^redfish:\/\//, ""))!;
      const befall = (): void => void bmcCalls++;
      return serverBmc(server, { expected: LOGIN, given: credentials, befall });
    },
    http: async () => ({ status: 404, headers: {}, body: "" }),
    namespace: NAMESPACE,
  }),
);
await manager.start();

const began = mark();
const shared = values["one-secret"] ? "shared" : undefined;
const secret = (name: string) => client.create(Secret, { metadata: { name, namespace: NAMESPACE }, stringData: LOGIN });
if (shared !== undefined) await secret(shared);
for (const [name, { mac }] of servers) {
  if (shared === undefined) await secret(name);
  const bmc = { address: `redfish://${name}`, credentialsName: shared ?? name };
  const spec = { online: true, automatedCleaningMode: "metadata" as const, bootMACAddress: mac, bmc };
  await client.create(BareMetalHost, { metadata: { name, namespace: NAMESPACE }, spec });
}
await reached("available");
measured("from the first apply to all available", began);

const again = mark();
const image = { url: "http://images.invalid/a.raw", checksum: "a".repeat(64), checksumType: "sha256" as const };
for (const name of servers.keys())
  await client.patch(BareMetalHost, { name, namespace: NAMESPACE }, { type: "merge", body: { spec: { image } } });
await reached("provisioned");
measured("from the first change to all provisioned", again);
report("peak resident memory", peakMiB(), "MiB");

const seconds = Number(values.idle);
if (seconds > 0) {
  await clock.sleep(SETTLE_MS);
  const [cpuBefore, totalBefore, bmcBefore] = [cpuSeconds(), requests.total, bmcCalls];
  await clock.sleep(seconds * 1_000);
  console.log(`idle for ${seconds} s, ${count} hosts provisioned`);
  report("CPU", (cpuSeconds() - cpuBefore) / seconds, "of a core", 0.035);
  report("resident memory", residentMiB(), "MiB", 200);
  report("requests to Kubernetes", (requests.total - totalBefore) / seconds, "/s", 5);
  report("BMC calls", (bmcCalls - bmcBefore) / seconds, "/s");
}
await manager.stop();
for (const way of [transport, operators]) await way.close();
await provisioning.close();
for (const server of servers.values()) server.off();
await api.close();
saver.close();
rmSync(folder, { recursive: true, force: true });

async function reached(state: string): Promise<void> {
  const left = new Set(servers.keys());
  while (left.size > 0) {
    await clock.sleep(LOOK_MS);
    for (const { metadata, status } of manager.cache.list(BareMetalHost))
      if (status?.provisioning?.state === state) left.delete(metadata.name);
  }
}

function mark() {
  const { total } = requests;
  const each = requests.snapshot();
  return { at: performance.now(), cpu: cpuSeconds(), server: api.cpuSeconds?.() ?? 0, total, each, bmcCalls };
}

function measured(what: string, since: ReturnType<typeof mark>): void {
  const now = mark();
  report(what, (now.at - since.at) / 1000, "s");
  report("  CPU time", now.cpu - since.cpu, "s");
  if (real) report("  CPU time of kube-apiserver and etcd", now.server - since.server, "s");
  report("  Kubernetes requests a host", (now.total - since.total) / count, "");
  for (const [name, all] of requests.entries()) {
    const each = all - (since.each.get(name) ?? 0);
    if (each >= count / 10) report(`    ${name}`, each / count, "");
  }
  report("  BMC calls a host", (now.bmcCalls - since.bmcCalls) / count, "");
}
