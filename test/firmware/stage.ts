/** Machines with real firmware, netboot beside them as users run it, and a Kubernetes API in which they appear. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiServer, createApiServer } from "@slipway/apiserver";
import { systemClock as clock, cryptoRandom as random, Secrets } from "@slipway/base";
import { jsonLog } from "@slipway/base/json-log";
import type { Client, Transport } from "@slipway/kube";
import { convertersByDefinition } from "../../src/kinds/conversion.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { type LabNetbootOptions, startLabNetboot } from "../../src/lab/lab-netboot.ts";
import { type MachinePlan, type Rack, setUpRack } from "../../src/lab/rack.ts";
import { assetsFolder } from "../../src/netboot/agent/assets-folder.ts";
import { SOCKET } from "../../src/netboot/service/place.ts";
import type { Netboot } from "../../src/netboot/service/service.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { ALL_KINDS } from "../../src/operator/kinds.ts";

export interface Stage {
  /** Removed when the stage is closed. */
  folder: string;
  rack: Rack;
  netboot: Netboot;
  client: Client;
  /** To the same API. */
  transport: Transport;
  /** The same API, for who is in no process of ours. */
  api: ApiServer;
  close(): Promise<void>;
}

/** Sets everything up and starts it, machines excepted. Rejects when a part can't be had; nothing is left open then. */
export async function setStage(
  plans: readonly MachinePlan[],
  options: Partial<LabNetbootOptions> = {},
): Promise<Stage> {
  const open: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of open.splice(0).reverse()) await end();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "slipway-firmware-"));
    open.push(() => rm(folder, { recursive: true }));
    const rack = await setUpRack(folder, plans);
    open.push(() => rack.close());
    const log = jsonLog({ level: "warn", secrets: new Secrets() });
    const api = await createApiServer({ clock, random, log, conversions: convertersByDefinition(ALL_KINDS) });
    open.push(() => api.close());
    const dir = join(folder, "netboot");
    const place = { assets: assetsFolder(process.env), dir, socket: join(dir, SOCKET) };
    const transport = api.transport();
    const started = await startLabNetboot(transport, place, log, {
      trust: "approved",
      drivesHosts: false,
      ...options,
    });
    open.push(started.close);
    return { folder, rack, netboot: started.netboot, client: started.client, transport, api, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The BareMetalHosts that there are, by the card that they boot from. */
export async function bareMetalHosts(client: Client): Promise<Map<string, BareMetalHost>> {
  const { items } = await client.list(BareMetalHost, { namespace: DISCOVERY_NAMESPACE });
  return new Map(items.map((each) => [each.spec.bootMACAddress ?? "", each]));
}
