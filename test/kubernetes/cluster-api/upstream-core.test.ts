/**
 * The Packet example under upstream's core and bootstrap provider: their managers as processes with their own accounts and webhooks, Slipway as providers
 * alone.
 */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { createClient, isTrue, type KubeObject } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { BOOT_LIMITS } from "../../../src/bootstrap/boot-service.ts";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { installCrds } from "../../../src/kinds/install.ts";
import { KAMAJI_KINDS } from "../../../src/kinds/kamaji/kinds.ts";
import { KAMAJI_CONTROL_PLANE_KINDS } from "../../../src/kinds/kamaji-control-plane/kinds.ts";
import { PACKET_KINDS } from "../../../src/kinds/packet/kinds.ts";
import { MachineProvider } from "../../../src/kinds/slipway/machine-provider.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { readManifests } from "../../../src/laptop/manifests.ts";
import { startMetal } from "../../../src/laptop/metal.ts";
import { serveConversion } from "../../../src/operator/conversion-server.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../../../src/operator/defaults.ts";
import { clusterctlFiles } from "../../../src/operator/install/clusterctl.ts";
import { createOperator, type Operator } from "../../../src/operator/operator.ts";
import { settingsFrom } from "../../../src/operator/settings.ts";
import { until } from "../live.ts";
import { programs } from "./clusterctl.ts";
import { componentsOf } from "./components.ts";
import { embeddedApi, type Management, startManagement, webhookServing } from "./management.ts";
import { modulesOf, PROVIDERS } from "./programs.ts";

const NAME = "capi-quickstart";
const WITHIN_MS = 180_000;
const LOOPBACK = "127.0.0.1";
const OWN = [...KAMAJI_KINDS, ...KAMAJI_CONTROL_PLANE_KINDS, ...PACKET_KINDS, [MachineProvider]];
const folder = await programs("clusterctl", "kubectl", "capi-core", "capi-bootstrap");
const skip = folder instanceof Error && folder.message;

/** Upstream's core and bootstrap provider, installed by clusterctl and running. */
async function upstream(t: TestContext): Promise<Management> {
  const providers = PROVIDERS.filter(({ program }) => program === "capi-core" || program === "capi-bootstrap");
  const built = { folder: String(folder), modules: await modulesOf(providers) };
  const components = [];
  for (const provider of providers) components.push(await componentsOf(built, provider));
  const management = await startManagement({
    programs: built,
    components,
    serving: await webhookServing(),
    api: embeddedApi,
    init: ["--control-plane", "-"],
  });
  t.after(() => management.close());
  return management;
}

/** Slipway as providers: Packet's and Kamaji's kinds, add-ons, tenants and the simulated cloud. No core, no bootstrap provider. */
async function slipway(t: TestContext, { transport }: Management): Promise<void> {
  const client = createClient(transport, { clock, random, log });
  const stopping = new AbortController();
  await installCrds(client, clock, stopping.signal, OWN as never);
  await client.create(Namespace, { metadata: { name: DEFAULT_NAMESPACE } });
  // What clusterctl installs for upstream's managers beside Slipway's own account.
  const components = [...clusterctlFiles("/repository").values()].flatMap((text) => loadAll(text) as KubeObject[]);
  const rights = components.filter(({ metadata }) => /-for-(cluster-api|bootstrap)$/.test(metadata?.name ?? ""));
  await applyObjects({ client, transport }, rights);
  const way = { host: LOOPBACK, port: 0, url: (at: number) => `https://${LOOPBACK}:${at}` };
  const conversion = await serveConversion(
    { client, clock, log },
    { kinds: OWN as never, namespace: DEFAULT_NAMESPACE, ...way },
  );
  await conversion?.start();
  const http = undiciHttp({});
  const metal = await startMetal({
    client,
    clock,
    random,
    log,
    http,
    speed: 400,
    vip: "10.20.30.40",
    joinToken: "t",
    counterparts: [],
  });
  let answer: Operator["boot"] | undefined;
  const boot = await serveHttp(async (request) => await answer!(request), { ...BOOT_LIMITS, host: LOOPBACK });
  const endpoints = settingsFrom({ EQUINIX_ENDPOINT: metal.equinix.url, LATITUDE_ENDPOINT: metal.latitude.url });
  const operator = createOperator(
    { transport, clock, random, log, http: () => http, readNodeFile: async () => undefined },
    {
      ...{
        namespace: DEFAULT_NAMESPACE,
        secret: DEFAULT_SECRET,
        bootUrl: boot.url,
        pollMs: 500,
        leaderElection: false,
      },
      of: {
        ...endpoints,
        kamaji: { runtime: "embedded" },
        "kamaji-control-plane": { enabled: true },
        packet: { enabled: true },
        "cluster-addons": { addons: "network,cloud-controller", networkImage: "slipway/node-network:test" },
      },
    },
  );
  answer = operator.boot;
  t.after(async () => {
    stopping.abort();
    await operator.manager.stop();
    await operator.closed();
    await Promise.all([metal.close(), conversion?.close(), boot.close(), http.close()]);
  });
  await operator.prepare(stopping.signal);
  void operator.manager.start(stopping.signal);
}

describe("upstream's core", { skip }, () => {
  test("A1 the Packet example ends in three running machines under upstream's core and bootstrap provider", async (t) => {
    const management = await upstream(t);
    for (const program of ["capi-core", "capi-bootstrap"]) await management.start(program);
    await slipway(t, management);
    const client = createClient(management.transport, { clock, random, log });
    await applyObjects({ client, transport: management.transport }, await readManifests("examples/packet-kamaji"));
    const machines = async () => (await client.list(Machine)).items;
    const cluster = () => client.find(Cluster, { namespace: "default", name: NAME });
    await until(
      "the cluster is available with three running machines",
      async () => {
        const running = (await machines()).filter(({ status }) => status?.phase === "Running");
        return isTrue((await cluster())?.status?.conditions, "Available") && running.length === 3;
      },
      WITHIN_MS,
      async () =>
        `${JSON.stringify([(await cluster())?.status?.conditions, (await machines()).map(({ status }) => status?.conditions)])}\n${(await management.said("capi-core")).slice(-3_000)}`,
    );
    const out = await management.clusterctl("describe", "cluster", NAME, "--kubeconfig", management.kubeconfigFile);
    assert.match(out, /Cluster default\/capi-quickstart +5\/5 +5 +5 +5 +True +Available/);
    assert.match(out, /3 Machines\.\.\. +3 +3 +3 +True +Ready/);
  });
});
