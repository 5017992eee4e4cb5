/** Upstream's core, its manager as a process with its own account and webhooks, and Slipway beside it as providers alone. */
import type { TestContext } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { type Client, createClient, type KubeObject } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { BOOT_LIMITS } from "../../../src/bootstrap/boot-service.ts";
import { installCrds } from "../../../src/kinds/install.ts";
import { KAMAJI_KINDS } from "../../../src/kinds/kamaji/kinds.ts";
import { KAMAJI_CONTROL_PLANE_KINDS } from "../../../src/kinds/kamaji-control-plane/kinds.ts";
import { PACKET_KINDS } from "../../../src/kinds/packet/kinds.ts";
import { MachineProvider } from "../../../src/kinds/slipway/machine-provider.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { type SimulatedMetal, startMetal } from "../../../src/laptop/metal.ts";
import { serveConversion } from "../../../src/operator/conversion-server.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../../../src/operator/defaults.ts";
import { clusterctlFiles } from "../../../src/operator/install/clusterctl.ts";
import { createOperator, type Operator } from "../../../src/operator/operator.ts";
import { settingsFrom } from "../../../src/operator/settings.ts";
import { componentsOf } from "./components.ts";
import { embeddedApi, type Management, type ManagementOptions, startManagement, webhookServing } from "./management.ts";
import { modulesOf, PROVIDERS } from "./programs.ts";

const LOOPBACK = "127.0.0.1";
const OWN = [...KAMAJI_KINDS, ...KAMAJI_CONTROL_PLANE_KINDS, ...PACKET_KINDS, [MachineProvider]];

/** The programs that `startUpstream` runs and needs. */
export const UPSTREAM_PROGRAMS = ["clusterctl", "kubectl", "capi-core", "capi-bootstrap"];

/** Upstream's core and bootstrap provider, installed by clusterctl and running; `variables` are those of their manifests. */
export async function startUpstream(
  t: Pick<TestContext, "after">,
  folder: string,
  {
    run = ["capi-core", "capi-bootstrap"],
    variables = {},
    api = embeddedApi,
  }: { run?: string[]; variables?: Record<string, string>; api?: ManagementOptions["api"] } = {},
): Promise<Management> {
  const providers = PROVIDERS.filter(({ program }) => run.includes(program));
  const built = { folder, modules: await modulesOf(providers) };
  const components = [];
  for (const provider of providers) components.push(await componentsOf(built, provider, variables));
  const management = await startManagement({
    ...{ programs: built, components, serving: await webhookServing(), api },
    init: [
      ...(run.includes("capi-bootstrap") ? [] : ["--bootstrap", "-"]),
      ...(run.includes("capi-control-plane") ? [] : ["--control-plane", "-"]),
    ],
  });
  t.after(() => management.close());
  for (const program of run) await management.start(program);
  return management;
}

/** Slipway as providers: Packet's and Kamaji's kinds, add-ons, tenants and a simulated cloud. No core, no bootstrap provider. */
export async function startProviders(
  t: TestContext,
  { transport }: Pick<Management, "transport">,
  { speed = 400 }: { speed?: number } = {},
): Promise<{ client: Client; metal: SimulatedMetal }> {
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
    ...{ client, clock, random, log, http, speed, vip: "10.20.30.40", joinToken: "t", counterparts: [] },
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
  return { client, metal };
}
