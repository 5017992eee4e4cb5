import { systemClock as clock, deadline, type Http, type Log, cryptoRandom as random } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { type Client, type Controller, createClient, createManager, type Transport } from "@slipway/kube";
import { Bmcs } from "../inventory/bmc/bmcs.ts";
import { hostClaimController } from "../inventory/claims/host-claim-controller.ts";
import type { OpenBmc } from "../inventory/hosts/bmc-views.ts";
import { hostController } from "../inventory/hosts/controller.ts";
import type { Machines } from "../inventory/hosts/machines.ts";
import type { NetbootPlace } from "../netboot/service/place.ts";
import { type Netboot, startNetboot } from "../netboot/service/service.ts";
import { type NetbootSettings, netbootSettings } from "../netboot/settings.ts";
import { ledNetboot, prepareDiscovery } from "../systems/netboot/led-netboot.ts";
import { LAB } from "./rack.ts";

export interface LabNetboot {
  netboot: Netboot;
  /** Of the API in which the machines appear. */
  client: Client;
  close(): Promise<void>;
}

export interface LabNetbootOptions extends Pick<NetbootSettings, "trust" | "tpmAuthorities"> {
  /** BareMetalHosts are driven; else nothing is done that nobody has ordered. */
  drivesHosts: boolean;
  /** Served to the machines. */
  files?: string;
  /** Addresses that are given to these cards alone. */
  reservations?: readonly { mac: string; address: string }[];
}

/**
 * Netboot in the rack's network, as the operator runs it: machines that were seen appear in the API behind `transport`. Rejects when it
 * does not start at once; nothing is left open then. Whoever calls closes it.
 */
export async function startLabNetboot(
  transport: Transport,
  place: Omit<NetbootPlace, "settings">,
  log: Log,
  options: LabNetbootOptions,
): Promise<LabNetboot> {
  const settings = labSettings(options);
  const client = createClient(transport, { clock, random, log });
  const { signal, done } = deadline(clock, 60_000);
  await prepareDiscovery({ client, clock, signal }, settings).finally(done);

  const manager = createManager({ transport, clock, random, log, leaderElection: false });
  const started = Promise.withResolvers<Netboot>();
  const led = ledNetboot(settings, {
    start: () => {
      const starting = startNetboot({ ...place, settings, hasCluster: true }, { clock, random, log });
      starting.then(started.resolve, started.reject);
      return starting;
    },
    log,
    clock,
  });
  const http = undiciHttp({ proxy: true });
  const engine = options.drivesHosts ? hostEngine(led.machines, { http, log }, settings.discovery) : [];
  for (const controller of [...led.controllers, ...engine]) manager.add(controller);
  const stopping = new AbortController();
  const close = async (): Promise<void> => {
    stopping.abort();
    await manager.stop();
    await led.closed();
    await http.close();
  };
  try {
    await manager.start(stopping.signal);
    return { netboot: await started.promise, client, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What drives BareMetalHosts in the operator, too. Nobody else drives them here. */
function hostEngine(
  machines: Machines,
  { http, log }: { http: Http; log: Log },
  { namespace }: NetbootSettings["discovery"],
): Controller[] {
  const bmcs = new Bmcs({ log });
  const drivenElsewhere = async (): Promise<undefined> => undefined;
  const openBmc: OpenBmc = (target) => bmcs.open(target);
  return [
    hostController({ machines, openBmc, http, namespace, drivenElsewhere }),
    hostClaimController({ drivenElsewhere }),
  ];
}

/** Netboot's settings for the rack. Pure. */
export function labSettings({ trust, files, tpmAuthorities, reservations = [] }: LabNetbootOptions): NetbootSettings {
  return netbootSettings(
    {
      interface: LAB.bridge,
      trust,
      ...(tpmAuthorities !== undefined && { tpmAuthorities }),
      dhcp: { subnets: [{ network: LAB.network, pools: [{ first: LAB.first, last: LAB.last }] }], reservations },
      // The agent speaks on the serial line: each machine has one of the two. An emulated timer that is late on a busy host is no broken one.
      boot: {
        arguments: ["console=ttyAMA0", "console=ttyS0", "no_timer_check"],
        ...(files !== undefined && { files }),
      },
    },
    "lab",
  );
}
