/** Slipway as plunder's provider, beside upstream's core or with its own light one, with the rights that `deploy/` ships and a simulated rack of machines that are trusted as first seen. */
import { readFile } from "node:fs/promises";
import type { TestContext } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { type Client, createClient, type KubeObject } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { BOOT_LIMITS } from "../../../src/bootstrap/boot-service.ts";
import { CLUSTER_API_KINDS } from "../../../src/kinds/cluster-api/kinds.ts";
import { installCrds } from "../../../src/kinds/install.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import { PLUNDER_KINDS } from "../../../src/kinds/plunder/kinds.ts";
import { MachineProvider } from "../../../src/kinds/slipway/machine-provider.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { startMetal } from "../../../src/laptop/metal.ts";
import { HttpClients } from "../../../src/machines/http-clients.ts";
import { DISCOVERY_NAMESPACE } from "../../../src/netboot/settings.ts";
import { serveConversion } from "../../../src/operator/conversion-server.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../../../src/operator/defaults.ts";
import { createOperator, type Operator, systemsOf } from "../../../src/operator/operator.ts";
import { METAL3_KINDS } from "../../../src/systems/netboot/led-netboot.ts";
import { hardware } from "../../../src/systems/netboot/simulated.ts";
import { shippedRbac, wordsOf } from "../grants.ts";
import { observed } from "../observed.ts";
import { apply, operatorTransport } from "../operator-account.ts";
import { declareBmcs } from "../rack-bmcs.ts";
import { type FarNetboot, farNetboot } from "./far-netboot.ts";
import type { Management } from "./management.ts";

const LOOPBACK = "127.0.0.1";
const SPEED = 400;

/** What runs of Slipway by whose core it is: systems, kinds of several versions that it serves, and files of `deploy/` with its rights. */
const BY_CORE = {
  upstream: { systems: [], kinds: [], rights: [] },
  light: { systems: ["cluster-api"], kinds: CLUSTER_API_KINDS, rights: ["cluster-api-in-operator.yaml"] },
} as const;

/** Upstream's is somebody else's process. */
export type Core = keyof typeof BY_CORE;

/** Whose the rack is: the operator's own, or that of a netboot outside of the cluster, which Secret `plunder` of namespace `default` names. */
export type Rack = "own" | "a netboot's";

export interface Provider {
  client: Client;
  /** What the operator was forbidden. */
  forbidden: readonly string[];
  /** Where the rack is a netboot's. */
  netboot: FarNetboot | undefined;
}

/** Files of `deploy/`, with the operator's account and what it needs for the systems that run here. */
const RIGHTS = ["rbac.yaml", "netboot-in-operator.yaml", "plunder-in-operator.yaml"];
/** Namespaces of others that some of them are in. */
const RIGHTS_IN = ["fleet-local"];

/** Resolves once all machines of the rack are offered. Control planes that begin on them listen at their endpoints. */
export async function startPlunder(
  t: TestContext,
  { transport, kubeconfigFile }: Pick<Management, "transport" | "kubeconfigFile">,
  { rack = "own", core = "upstream" }: { rack?: Rack; core?: Core } = {},
): Promise<Provider> {
  const client = createClient(transport, { clock, random, log });
  const stopping = new AbortController();
  const { systems, kinds, rights } = BY_CORE[core];
  const converted: readonly (readonly Kind[])[] = [...PLUNDER_KINDS, ...kinds, [MachineProvider]];
  await installCrds(client, clock, stopping.signal, [...converted, ...METAL3_KINDS]);
  for (const name of [DEFAULT_NAMESPACE, DISCOVERY_NAMESPACE, ...RIGHTS_IN])
    await client.create(Namespace, { metadata: { name } });
  for (const file of ["upstream-core", "provider"]) {
    const objects = loadAll(await readFile(`examples/plunder/${file}.yaml`, "utf8")) as KubeObject[];
    await applyObjects({ client, transport }, objects);
  }
  for (const file of [...RIGHTS, ...rights])
    for (const object of await shippedRbac(file)) await apply(transport, object);
  const forbidden: string[] = [];
  const account = observed(
    await operatorTransport({ transport, plane: { kubeconfigFile } }),
    (rights, status) => void (status === 403 && forbidden.push(...rights.map(wordsOf))),
  );
  const way = { host: LOOPBACK, port: 0, url: (at: number) => `https://${LOOPBACK}:${at}` };
  const conversion = await serveConversion(
    { client, clock, log },
    { kinds: converted, namespace: DEFAULT_NAMESPACE, ...way },
  );
  await conversion?.start();
  const http = undiciHttp({});
  const clients = new HttpClients((ca, client) => undiciHttp({ ...(ca && { ca }), ...(client && { client }) }));
  const metal = await startMetal({
    ...{ client, clock, random, log, http, speed: SPEED, vip: "10.20.30.40", joinToken: "t", counterparts: [] },
    controlPlanesOnSockets: true,
  });
  const own = await hardware({ client, clock, random, log, firmware: metal.firmware, speed: SPEED });
  let answer: Operator["boot"] | undefined;
  const boot = await serveHttp(async (request) => await answer!(request), { ...BOOT_LIMITS, host: LOOPBACK });
  const operator = createOperator(
    {
      ...{ transport: account, clock, random, log, readNodeFile: async () => undefined },
      http: (ca, certificate) => clients.of(ca, certificate),
      openWorkload: metal.controlPlanes.open,
    },
    {
      ...{ namespace: DEFAULT_NAMESPACE, secret: DEFAULT_SECRET, bootUrl: boot.url, pollMs: 500 },
      leaderElection: false,
      systems: systemsOf(["providers", "netboot", ...systems, "plunder"]),
      of: { netboot: own.settings, plunder: { enabled: true }, "cluster-api": { core: "light" } },
    },
  );
  answer = operator.boot;
  t.after(async () => {
    stopping.abort();
    await operator.manager.stop();
    await operator.closed();
    await own.close();
    await clients.close();
    await account.close();
    await Promise.all([metal.close(), conversion?.close(), boot.close(), http.close()]);
  });
  await operator.prepare(stopping.signal);
  void operator.manager.start(stopping.signal);
  await operator.manager.whenReady();
  if (rack === "own") {
    own.begin();
    await declareBmcs(client);
    return { client, forbidden, netboot: undefined };
  }
  const netboot = await farNetboot(t, { firmware: metal.firmware, speed: SPEED });
  const stringData = { "plunderclient.yaml": netboot.clientFile };
  await client.create(Secret, { metadata: { namespace: "default", name: "plunder" }, stringData });
  return { client, forbidden, netboot };
}
