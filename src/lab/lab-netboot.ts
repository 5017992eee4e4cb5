import { systemClock as clock, type Log, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient, createManager, type Transport } from "@slipway/kube";
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

/**
 * Netboot in the rack's network, as the operator runs it: machines that were seen appear in the API behind `transport`. Rejects when it
 * does not start at once; nothing is left open then. Whoever calls closes it.
 */
export async function startLabNetboot(
  transport: Transport,
  place: Omit<NetbootPlace, "settings">,
  log: Log,
  trust: NetbootSettings["trust"],
): Promise<LabNetboot> {
  const settings = labSettings(trust);
  const client = createClient(transport, { clock, random, log });
  await prepareDiscovery({ client, clock, signal: AbortSignal.timeout(60_000) }, settings);

  const manager = createManager({ transport, clock, random, log, leaderElection: false });
  const started = Promise.withResolvers<Netboot>();
  const led = ledNetboot(settings, {
    start: () => {
      const starting = startNetboot({ ...place, settings }, { clock, random, log });
      starting.then(started.resolve, started.reject);
      return starting;
    },
    log,
    clock,
  });
  for (const controller of led.controllers) manager.add(controller);
  const stopping = new AbortController();
  const close = async (): Promise<void> => {
    stopping.abort();
    await manager.stop();
    await led.closed();
  };
  try {
    await manager.start(stopping.signal);
    return { netboot: await started.promise, client, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function labSettings(trust: NetbootSettings["trust"]): NetbootSettings {
  return netbootSettings(
    {
      interface: LAB.bridge,
      trust,
      dhcp: { subnets: [{ network: LAB.network, pools: [{ first: LAB.first, last: LAB.last }] }] },
      // The agent speaks on the serial line: each machine has one of the two.
      boot: { arguments: ["console=ttyAMA0", "console=ttyS0"] },
    },
    "lab",
  );
}
