/** Netboot as a system of the operator: machines are served while it leads, and machines that were seen become objects. */
import { asFault, type Clock, Fault, isFault, type Log, type Timer } from "@slipway/base";
import { type Access, type Client, type Controller, DONE } from "@slipway/kube";
import { ConfigMap, Namespace } from "@slipway/kube/core";
import { discoveryController, NETBOOT, type SeenHosts } from "../../inventory/discovery/controller.ts";
import type { Machines } from "../../inventory/hosts/machines.ts";
import { installOwnCrds } from "../../kinds/install.ts";
import type { Kind } from "../../kinds/kind.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import { HostClaim } from "../../kinds/metal3/host-claim.ts";
import { HostDeployPolicy } from "../../kinds/metal3/host-deploy-policy.ts";
import { HostFirmwareSettings } from "../../kinds/metal3/host-firmware-settings.ts";
import type { SharedLeases } from "../../netboot/dhcp/leases/mirror.ts";
import type { HostChange } from "../../netboot/hosts/host.ts";
import type { Standing } from "../../netboot/hosts/trust.ts";
import type { Netboot } from "../../netboot/service/service.ts";
import type { NetbootSettings } from "../../netboot/settings.ts";

const RETRY_MS = 5_000;

/** Of a host whose service has just ended. */
const NOBODY: Standing = { trust: "discovered", because: "netboot does not serve here" };

/** Metal3's kinds, installed with netboot, and only where Metal3 has not installed them itself. */
export const METAL3_KINDS: readonly (readonly Kind[])[] = [
  [BareMetalHost],
  [HardwareData],
  [HostFirmwareSettings],
  [HostClaim],
  [HostDeployPolicy],
];

/** Starts the service; `leases`: where replicas find each other's. */
export type StartNetboot = (leases?: SharedLeases) => Promise<Netboot>;

export interface LedNetboot {
  /** To be added to a manager: they start the service with the lease, end it with the lease, and make objects of hosts. */
  controllers: readonly Controller[];
  /** The machines that it knows, while it runs here. */
  machines: Machines;
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
  await ensureNamespace(client, namespace, signal);
}

/** Creates the namespace of discovered hosts where it is missing. Rejects as `prepareDiscovery`. */
export async function ensureNamespace(client: Client, namespace: string, signal: AbortSignal): Promise<void> {
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

/** What replicas need to go on with each other's DHCP leases, and to know that the namespace is there. */
export function netbootAccess(namespace: string): readonly Access[] {
  return [
    { resource: ConfigMap, verbs: ["list", "get", "create", "update"], namespace },
    { resource: Namespace, verbs: ["get"], names: [namespace] },
  ];
}

/**
 * Netboot that is started with the lease and ended with the lease. `start` is tried again while it fails. With a `client`, DHCP leases are
 * copied to the namespace of the hosts, where the next replica finds them.
 */
export function ledNetboot(
  { discovery }: Pick<NetbootSettings, "discovery">,
  {
    start,
    log,
    clock,
    client,
  }: {
    start: StartNetboot;
    log: Log;
    clock: Pick<Clock, "after">;
    client?: Client;
  },
): LedNetboot {
  const listeners = new Set<(change: HostChange) => void>();
  const notify = (change: HostChange): void => {
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
        running.hosts.onChange(notify);
        for (const host of running.hosts.list()) notify({ is: "changed", host });
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

  const serving = (): Netboot => {
    if (running !== undefined) return running;
    throw new Fault("Unavailable", "netboot", "it does not serve here");
  };
  const seenHosts: SeenHosts = {
    get: (name) => running?.hosts.get(name),
    list: () => running?.hosts.list() ?? [],
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    declare: (name, declaration) => running?.hosts.declare(name, declaration) ?? false,
    standing: (name) => running?.hosts.standing(name) ?? NOBODY,
  };
  const { namespace, most, perSecond } = discovery;
  const controllers = [discoveryController({ hosts: seenHosts, namespace, most, perSecond }), leading(lead)];
  const machines: Machines = {
    ...seenHosts,
    isServing: () => running !== undefined,
    setBoot: (name, boot) => serving().hosts.setBoot(name, boot),
    install: (name, id, make) => serving().installers.give(name, id, make),
    endInstall: (name, id, result) => void running?.hosts.installs.end(name, id, result),
    askBoot: (mac, architecture) => serving().askBoot(mac, architecture),
    askMedia: (mac, architecture) => serving().askMedia(mac, architecture),
    endAskedBoot: (mac) => running?.endAskedBoot(mac),
    forget: (name) => void running?.hosts.forget(name),
    order: async (name, wanted, id) => serving().order(name, wanted, id),
  };
  return { controllers, machines, current: () => running, closed: () => turn };
}

/** A controller of nothing but the lease. */
function leading(lead: () => () => void): Controller {
  return { name: NETBOOT, system: NETBOOT, sources: [], access: [], listen: lead, reconcile: async () => DONE };
}
