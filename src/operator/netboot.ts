/** Netboot as a system of the operator: machines are served while it leads, and those that were heard become objects. */
import { asFault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import { discoveryController, type HeardHosts, SYSTEM } from "../inventory/discovery/controller.ts";
import type { Controller } from "../kube/controller.ts";
import { DONE } from "../kube/controller.ts";
import type { Manager } from "../kube/manager.ts";
import type { HostChange } from "../netboot/hosts/host.ts";
import type { Netboot } from "../netboot/service/service.ts";
import type { NetbootSettings } from "../netboot/settings.ts";

export interface LedNetboot {
  /** The service while it runs here. */
  current(): Netboot | undefined;
  /** Resolves when what was started is closed. */
  closed(): Promise<void>;
}

/** Has the manager start the service with the lease and end it with the lease. `start` is tried again while it fails. */
export function addNetboot(
  manager: Manager,
  { discovery }: Pick<NetbootSettings, "discovery">,
  { start, log, retry }: { start(): Promise<Netboot>; log: Log; retry(again: () => void): () => void },
): LedNetboot {
  const listeners = new Set<(change: HostChange) => void>();
  const tell = (change: HostChange): void => {
    for (const listener of listeners) listener(change);
  };
  let turn: Promise<void> = Promise.resolve();
  let running: Netboot | undefined;

  const lead = (): (() => void) => {
    let isWanted = true;
    let cancel = (): void => {};
    const begin = async (): Promise<void> => {
      if (!isWanted) return;
      try {
        running = await start();
        running.hosts.onChange(tell);
        for (const host of running.hosts.list()) tell({ is: "changed", host });
      } catch (error) {
        log.error({ error: asFault(error, "netboot").advice }, "netboot could not be started");
        cancel = retry(() => {
          turn = turn.then(begin);
        });
      }
    };
    // A service that is still closing holds the ports.
    turn = turn.then(begin);
    return () => {
      isWanted = false;
      cancel();
      turn = turn.then(async () => {
        await running?.close();
        running = undefined;
      });
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
