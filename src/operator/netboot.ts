/** Netboot as a system of the operator: machines are served while it leads, and those that were heard become objects. */
import type { Clock, Timer } from "../base/clock.ts";
import { asFault, Fault, isFault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import { discoveryController, type HeardHosts, SYSTEM } from "../inventory/discovery/controller.ts";
import type { Client } from "../kube/client.ts";
import { type Access, type Controller, DONE } from "../kube/controller.ts";
import { ConfigMap, Namespace } from "../kube/core.ts";
import type { Manager } from "../kube/manager.ts";
import type { SharedLeases } from "../netboot/dhcp/leases/mirror.ts";
import type { HostChange } from "../netboot/hosts/host.ts";
import type { Netboot } from "../netboot/service/service.ts";
import type { NetbootSettings } from "../netboot/settings.ts";
import { installOwnCrds } from "./install-crds.ts";
import { METAL3_KINDS } from "./kinds.ts";

const RETRY_MS = 5_000;

export interface LedNetboot {
  /** The service while it runs here. */
  current(): Netboot | undefined;
  /** Resolves when what was started is closed. */
  closed(): Promise<void>;
}

/** Sees to the kinds (Metal3's own stay) and the namespace that discovery needs. Rejects with a `Fault` that says what to do where it may not. */
export async function prepareDiscovery(
  { client, clock, signal }: { client: Client; clock: Clock; signal: AbortSignal },
  { discovery: { namespace } }: Pick<NetbootSettings, "discovery">,
): Promise<void> {
  await installOwnCrds(client, clock, signal, METAL3_KINDS);
  if ((await client.find(Namespace, { name: namespace }, { signal })) !== undefined) return;
  await client.create(Namespace, { metadata: { name: namespace } }, { signal }).catch((cause: unknown) => {
    if (isFault(cause, "AlreadyExists")) return;
    const { code, message } = asFault(cause, namespace);
    throw new Fault(code, `Namespace/${namespace}`, message, {
      remedy: `kubectl create namespace ${namespace}`,
      cause,
    });
  });
}

/** What replicas need to go on with each other's DHCP leases. */
export function sharedLeasesAccess(namespace: string): readonly Access[] {
  return [{ resource: ConfigMap, verbs: ["list", "get", "create", "update"], namespace }];
}

/**
 * Has the manager start the service with the lease and end it with the lease. `start` is tried again while it fails. With a `client`, DHCP
 * leases are copied to the namespace of the hosts, where the next replica finds them.
 */
export function addNetboot(
  manager: Manager,
  { discovery }: Pick<NetbootSettings, "discovery">,
  {
    start,
    log,
    clock,
    client,
  }: {
    start(leases?: SharedLeases): Promise<Netboot>;
    log: Log;
    clock: Pick<Clock, "after">;
    client?: Client;
  },
): LedNetboot {
  const listeners = new Set<(change: HostChange) => void>();
  const tell = (change: HostChange): void => {
    for (const listener of listeners) listener(change);
  };
  let turn: Promise<void> = Promise.resolve();
  let running: Netboot | undefined;

  const lead = (): (() => void) => {
    let isWanted = true;
    let again: Timer | undefined;
    const begin = async (): Promise<void> => {
      if (!isWanted) return;
      try {
        running = await start(client && { client, namespace: discovery.namespace, name: "dhcp" });
        running.hosts.onChange(tell);
        for (const host of running.hosts.list()) tell({ is: "changed", host });
      } catch (error) {
        log.error({ error: asFault(error, "netboot").advice }, "netboot could not be started");
        if (!isWanted) return;
        again = clock.after(RETRY_MS, () => {
          turn = turn.then(begin);
        });
      }
    };
    const end = async (): Promise<void> => {
      const ending = running;
      running = undefined;
      await ending?.close().catch((error: unknown) => {
        log.error({ error: asFault(error, "netboot").advice }, "netboot could not be closed");
      });
    };
    // A service that is still closing holds the ports.
    turn = turn.then(begin);
    return () => {
      isWanted = false;
      again?.cancel();
      turn = turn.then(end);
    };
  };

  const heard: HeardHosts = {
    get: (name) => running?.hosts.get(name),
    list: () => running?.hosts.list() ?? [],
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const { namespace, most, perSecond } = discovery;
  manager.add(discoveryController({ hosts: heard, namespace, most, perSecond }));
  manager.add(serving(lead));
  return { current: () => running, closed: () => turn };
}

/** A controller of nothing but the lease. */
function serving(lead: () => () => void): Controller {
  return { name: SYSTEM, system: SYSTEM, sources: [], access: [], listen: lead, reconcile: async () => DONE };
}
