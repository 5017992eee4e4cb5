/**
 * SIPClusters over many hosts that can be had: from `apply` until all say that they are ready, then at rest, and ten of them one after the
 * other, as the original serves them, against ten at once. Each has a load balancer before its control plane, one before its workers and a jump
 * host; simulated kubelets run Pods at once. The process holds everything: embedded API (with `--kubernetes real`, kube-apiserver and etcd run
 * beside it instead), the engine, kubelets.
 * Run: `node bench/sip.bench.ts [hosts] [clusters] [--kubernetes real] [--idle seconds]`.
 */
import { parseArgs } from "node:util";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { createClient, createManager, DONE, isTrue, type Manager, refOf, source, type Transport } from "@slipway/kube";
import { Deployment, Namespace, Secret } from "@slipway/kube/core";
import { installCrds } from "../src/kinds/install.ts";
import { BareMetalHost } from "../src/kinds/metal3/bare-metal-host.ts";
import { SIPCluster } from "../src/kinds/sip/sip-cluster.ts";
import { METAL3_KINDS } from "../src/systems/netboot/led-netboot.ts";
import { sipClusterController } from "../src/systems/sip/cluster-controller.ts";
import { asCommand } from "./as-command.ts";
import { Counts, countedTransport } from "./counts.ts";
import { startServer } from "./servers.ts";
import { cpuSeconds, peakMiB, printMachine, report, residentMiB } from "./table.ts";

const saver = asCommand();
const NAMESPACE = "default";
const ROLE = "example.com/role";
const RACK = "example.com/rack";
const CONTROL_PLANES = 3;
const WORKERS = 10;
const RACKS = 20;
const FEW = 10;
/** By turns, since other work on the machine comes and goes; it only ever adds time, so the fastest of each counts. */
const ROUNDS = 5;
const AT_ONCE = 32;
const LOOK_MS = 50;
const ESTABLISHED_MS = 2_500;
/** Events are written late, and memory is tidied up. */
const SETTLE_MS = 60_000;
const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHU8sxYuNGboFFrrMOkW769cxRllK7OBgq0k6YUrpbgW somebody@example.org";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { kubernetes: { type: "string", default: "embedded" }, idle: { type: "string", default: "60" } },
});
const real = values.kubernetes === "real";
const hosts = Number(positionals[0] ?? 1000);
const clusters = Number(positionals[1] ?? 50);
printMachine(
  `${hosts} hosts, ${clusters} SIPClusters of ${CONTROL_PLANES} + ${WORKERS} hosts and three services; ${real ? "kube-apiserver with etcd beside it, over TLS" : "embedded API in memory by direct call"}`,
);

const all = await world(hosts);
const began = all.mark();
await Promise.all(names(clusters).map((name, at) => all.apply(name, at)));
await all.ready(names(clusters));
all.measured(`from the first apply to ${clusters} ready`, began, clusters);
report("peak resident memory", peakMiB(), "MiB");
const seconds = Number(values.idle);
if (seconds > 0) {
  await clock.sleep(SETTLE_MS);
  const before = all.mark();
  await clock.sleep(seconds * 1_000);
  const after = all.mark();
  console.log(`idle for ${seconds} s, ${clusters} SIPClusters ready`);
  report("CPU", (after.cpu - before.cpu) / seconds, "of a core", 0.035);
  report("resident memory", residentMiB(), "MiB", 250);
  report("requests to Kubernetes", (after.total - before.total) / seconds, "/s", 0.1);
  for (const [name, sum] of after.each) {
    const asked = sum - (before.each.get(name) ?? 0);
    if (asked > 0) report(`  ${name}`, asked, "in all");
  }
}
await all.close();

const [alone, together]: [number[], number[]] = [[], []];
for (let round = 0; round < ROUNDS; round++) {
  alone.push(await few("one after the other"));
  together.push(await few("at once"));
}
report(`${FEW} one after the other, the fastest of ${ROUNDS}`, Math.min(...alone), "s");
report(`${FEW} at once, the fastest of ${ROUNDS}`, Math.min(...together), "s");
report(`${FEW} at once, of the time of one after the other`, Math.min(...together) / Math.min(...alone), "", 1);
saver.close();

/** Ten clusters in a world of their own. Resolves with the seconds that they took. */
async function few(how: "one after the other" | "at once"): Promise<number> {
  const of = await world(Math.min(hosts, FEW * (CONTROL_PLANES + WORKERS) * 2));
  const since = of.mark();
  if (how === "at once") await Promise.all(names(FEW).map((name, at) => of.apply(name, at)));
  for (const [at, name] of names(FEW).entries()) {
    if (how !== "at once") await of.apply(name, at);
    await of.ready([name]);
  }
  const taken = of.measured(`${FEW} clusters ${how}`, since, FEW);
  await of.close();
  return taken;
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `cluster-${at + 1}`);
}

/** An API with so many hosts that can be had, the engine, and kubelets. */
async function world(count: number) {
  const api: Awaited<ReturnType<typeof startServer>> | Awaited<ReturnType<typeof createApiServer>> = await (real
    ? startServer("real", true)
    : createApiServer({ clock, random, log: quietLog }));
  const [transport, operators] = [await api.transport(), await api.transport()];
  const client = createClient(transport, { clock, random, log: quietLog });
  await installCrds(client, clock, new AbortController().signal, [...METAL3_KINDS, [SIPCluster]]);
  // kube-apiserver holds back what is created within two seconds of a definition's establishment; a cluster has them long before.
  if (real) await clock.sleep(ESTABLISHED_MS);
  else await client.create(Namespace, { metadata: { name: NAMESPACE } }).catch(() => undefined);
  await client.create(Secret, { metadata: { namespace: NAMESPACE, name: "ssh-keys" }, stringData: { id: "KEY" } });
  const numbers = Array.from({ length: count }, (_, at) => at);
  for (let at = 0; at < count; at += AT_ONCE)
    await Promise.all(numbers.slice(at, at + AT_ONCE).map((number) => host(client, number)));

  const requests = new Counts();
  const counted = countedTransport(operators, requests);
  const manager = createManager({ transport: counted, clock, random, log: quietLog, leaderElection: false });
  manager.add(sipClusterController());
  await manager.start();
  await manager.whenReady();
  const kubelets = await startKubelets(transport);
  const mark = () => {
    const server = "cpuSeconds" in api ? api.cpuSeconds() : 0;
    return { at: performance.now(), cpu: cpuSeconds(), server, total: requests.total, each: requests.snapshot() };
  };
  return {
    mark,
    apply: (name: string, at: number) => apply(client, name, at),
    async ready(wanted: readonly string[]): Promise<void> {
      for (const name of wanted)
        while (!isTrue(manager.cache.get(SIPCluster, { namespace: NAMESPACE, name })?.status?.conditions, "Ready"))
          await clock.sleep(LOOK_MS);
    },
    measured(what: string, since: ReturnType<typeof mark>, of: number): number {
      const now = mark();
      const taken = (now.at - since.at) / 1000;
      report(what, taken, "s");
      report("  CPU time", now.cpu - since.cpu, "s");
      if (real) report("  CPU time of kube-apiserver and etcd", now.server - since.server, "s");
      report("  Kubernetes requests a cluster", (now.total - since.total) / of, "");
      for (const [name, sum] of requests.entries()) {
        const each = sum - (since.each.get(name) ?? 0);
        if (each >= of) report(`    ${name}`, each / of, "");
      }
      return taken;
    },
    async close(): Promise<void> {
      await kubelets.stop();
      await manager.stop();
      for (const way of [transport, operators]) await way.close();
      await api.close();
    },
  };
}

/** A host as its engine leaves it: available. */
async function host(client: ReturnType<typeof createClient>, number: number): Promise<void> {
  const name = `host-${number}`;
  const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
  const networks = [{ id: "oam", type: "ipv4", link: "eno1", ip_address: address }];
  const secret = (suffix: string, stringData: Record<string, string>) =>
    client.create(Secret, { metadata: { namespace: NAMESPACE, name: `${name}-${suffix}` }, stringData });
  await secret("network-data", { networkData: JSON.stringify({ networks }) });
  await secret("bmc", { username: "admin", password: "right" });
  const isControlPlane = number % (CONTROL_PLANES + WORKERS) < CONTROL_PLANES;
  const labels = { [ROLE]: isControlPlane ? "control-plane" : "worker", [RACK]: `rack-${number % RACKS}` };
  const made = await client.create(BareMetalHost, {
    metadata: { namespace: NAMESPACE, name, labels },
    spec: {
      online: true,
      bmc: { address: `redfish+https://192.0.2.1/redfish/v1/Systems/${number}`, credentialsName: `${name}-bmc` },
      networkData: { namespace: NAMESPACE, name: `${name}-network-data` },
    },
  } as never);
  const status = {
    operationalStatus: "OK",
    errorMessage: "",
    poweredOn: false,
    provisioning: { state: "available", ID: "" },
  };
  const patch = { type: "merge", body: { status } } as const;
  await client.patch(BareMetalHost, refOf(made), patch, { subresource: "status" });
}

async function apply(client: ReturnType<typeof createClient>, name: string, at: number): Promise<void> {
  const role = (value: string, active: number, topologyKey?: string) => ({
    labelSelector: { matchLabels: { [ROLE]: value } },
    ...(topologyKey !== undefined && { topologyKey }),
    count: { active },
  });
  const first = 30_000 + at * (WORKERS + 2);
  const common = { image: "haproxy:2.8", nodeInterfaceId: "oam" };
  await client.create(SIPCluster, {
    metadata: { namespace: NAMESPACE, name },
    spec: {
      nodes: { ControlPlane: role("control-plane", CONTROL_PLANES, RACK), Worker: role("worker", WORKERS) },
      services: {
        loadBalancerControlPlane: [{ ...common, nodePort: first }],
        loadBalancerWorker: [{ ...common, nodePortRange: { start: first + 1, end: first + WORKERS } }],
        jumpHost: [
          {
            ...{ ...common, nodePort: first + WORKERS + 1 },
            ...{ sshAuthorizedKeys: [KEY], nodeSSHPrivateKeys: "ssh-keys" },
          },
        ],
      },
    },
  });
}

/** Every Deployment has its Pods at once. */
async function startKubelets(transport: Transport): Promise<Manager> {
  const manager = createManager({ transport, clock, random, log: quietLog, leaderElection: false });
  manager.add({
    name: "kubelets",
    system: "kubelets",
    sources: [source({ resource: Deployment })],
    access: [{ resource: Deployment, verbs: ["patch"], subresource: "status" }],
    async reconcile(ref, { cache, client }) {
      const deployment = cache.get(Deployment, ref);
      const { generation = 0 } = deployment?.metadata ?? {};
      if (deployment === undefined || deployment.status?.observedGeneration === generation) return DONE;
      const replicas = deployment.spec?.replicas ?? 1;
      const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
      const body = { status: { observedGeneration: generation, ...counts } };
      await client.patch(Deployment, ref, { type: "merge", body }, { subresource: "status" });
      return DONE;
    },
  });
  await manager.start();
  return manager;
}
