/**
 * libvirt as the node agent needs it: a port over its RPC (`connection.ts`, no native addon). Descriptions go in and out as XML, which `../xml`
 * writes and reads. All calls reject with a `Fault` as `remote-fault.ts` says. It must not know what a VinoNode is.
 */
import { type ConnectOptions, LibvirtConnection } from "./connection.ts";
import type { DomainRef, NamedRef, VolumeRef } from "./procedures.ts";
import * as remote from "./procedures.ts";
import { decode } from "./xdr.ts";

export type { DomainRef, NamedRef, VolumeRef } from "./procedures.ts";

/** What happened to a domain. `other`: pause, and what else makes no difference here. */
export type DomainEvent = "started" | "stopped" | "defined" | "undefined" | "rebooted" | "other";

export interface Listed {
  ref: NamedRef;
  active: boolean;
}

export interface Libvirt {
  /** What the node can do, as XML. */
  capabilities(): Promise<string>;
  domains(): Promise<readonly DomainRef[]>;
  /** `next`: the definition that the next start is by, with its passwords; otherwise the domain as it runs. */
  domainXml(domain: DomainRef, next: boolean): Promise<string>;
  defineDomain(xml: string): Promise<DomainRef>;
  /** With its variables of the firmware and all else that libvirt keeps of it; volumes stay. */
  undefineDomain(domain: DomainRef): Promise<void>;
  startDomain(domain: DomainRef): Promise<void>;
  /** Cuts the power. */
  destroyDomain(domain: DomainRef): Promise<void>;
  /** Asks its system to end, as the power button does. */
  shutDownDomain(domain: DomainRef): Promise<void>;
  /** Changes a device of the running domain. */
  updateDevice(domain: DomainRef, xml: string): Promise<void>;
  /** A command of QEMU's own protocol; resolves with its answer, both JSON. */
  monitorCommand(domain: DomainRef, command: string): Promise<string>;

  networks(): Promise<readonly Listed[]>;
  networkXml(network: NamedRef): Promise<string>;
  defineNetwork(xml: string): Promise<NamedRef>;
  /** Now, and whenever libvirt starts. */
  startNetwork(network: NamedRef): Promise<void>;
  stopNetwork(network: NamedRef): Promise<void>;
  undefineNetwork(network: NamedRef): Promise<void>;

  pools(): Promise<readonly Listed[]>;
  poolXml(pool: NamedRef): Promise<string>;
  definePool(xml: string): Promise<NamedRef>;
  /** Now, and whenever libvirt starts. Makes the folder where there is none. */
  startPool(pool: NamedRef): Promise<void>;
  /** Its volumes stay. */
  stopPool(pool: NamedRef): Promise<void>;
  undefinePool(pool: NamedRef): Promise<void>;
  /** Removes the folder of a stopped pool, which must be empty. */
  deletePool(pool: NamedRef): Promise<void>;

  /** What is in an active pool, looked up anew. */
  volumes(pool: NamedRef): Promise<readonly VolumeRef[]>;
  volumeXml(volume: VolumeRef): Promise<string>;
  createVolume(pool: NamedRef, xml: string): Promise<VolumeRef>;
  deleteVolume(volume: VolumeRef): Promise<void>;
  resizeVolume(volume: VolumeRef, bytes: bigint): Promise<void>;
  uploadVolume(volume: VolumeRef, bytes: AsyncIterable<Buffer>): Promise<void>;

  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const ACTIVE = 2;
const INACTIVE = 1;
/** Of an XML description: with secrets, of the definition for the next start. */
const SECURE = 1;
const NEXT = 2;
/** What else libvirt keeps: a saved state, snapshots, variables of the firmware, checkpoints. */
const WITH_ALL = 1 | 2 | 4 | 16;
const LIVE = 1;
/** `VIR_DOMAIN_EVENT_*`, by number. */
const EVENTS: readonly DomainEvent[] = [
  "defined",
  "undefined",
  "started",
  "other",
  "other",
  "stopped",
  "other",
  "other",
  "stopped",
];

/** Opens libvirt at a socket. Rejects with a `Fault` as `LibvirtConnection.open` does. */
export async function openLibvirt({
  onEvent,
  ...options
}: Omit<ConnectOptions, "onEvent"> & { onEvent?: (domain: DomainRef, event: DomainEvent) => void }): Promise<Libvirt> {
  const connection = await LibvirtConnection.open({
    ...options,
    onEvent(procedure, body) {
      if (procedure === remote.LIFECYCLE.procedure) {
        const { domain, event } = decode(remote.lifecycleEvent, body);
        onEvent?.(domain, EVENTS[event] ?? "other");
      } else if (procedure === remote.REBOOT.procedure) onEvent?.(decode(remote.rebootEvent, body).domain, "rebooted");
    },
  });
  try {
    for (const { event } of [remote.LIFECYCLE, remote.REBOOT])
      await connection.call(remote.REGISTER_EVENT, { event, domain: undefined });
  } catch (error) {
    await connection.close();
    throw error;
  }
  return overConnection(connection);
}

function overConnection(connection: LibvirtConnection): Libvirt {
  const call = connection.call.bind(connection);
  const value = async <T>(answer: Promise<{ value: T }>): Promise<T> => (await answer).value;
  const done = async (answer: Promise<unknown>): Promise<void> => void (await answer);
  const listed = async (procedure: typeof remote.LIST_NETWORKS): Promise<Listed[]> => {
    const of = async (flags: number, active: boolean): Promise<Listed[]> =>
      (await call(procedure, { results: 1, flags })).values.map((ref) => ({ ref, active }));
    return [...(await of(ACTIVE, true)), ...(await of(INACTIVE, false))];
  };
  return {
    capabilities: () => value(call(remote.CAPABILITIES, undefined)),
    domains: async () => (await call(remote.LIST_DOMAINS, { results: 1, flags: 0 })).values,
    domainXml: (domain, next) => value(call(remote.DOMAIN_XML, { domain, flags: next ? NEXT | SECURE : 0 })),
    defineDomain: (xml) => value(call(remote.DEFINE_DOMAIN, { xml, flags: 0 })),
    undefineDomain: (domain) => call(remote.UNDEFINE_DOMAIN, { domain, flags: WITH_ALL }),
    startDomain: (domain) => done(call(remote.START_DOMAIN, { domain, flags: 0 })),
    destroyDomain: (domain) => call(remote.DESTROY_DOMAIN, { domain, flags: 0 }),
    shutDownDomain: (domain) => call(remote.SHUT_DOWN_DOMAIN, { domain, flags: 0 }),
    updateDevice: (domain, xml) => call(remote.UPDATE_DEVICE, { domain, xml, flags: LIVE }),
    monitorCommand: (domain, command) => value(call(remote.MONITOR_COMMAND, { domain, command, flags: 0 })),
    networks: () => listed(remote.LIST_NETWORKS),
    networkXml: (network) => value(call(remote.NETWORK_XML, { network, flags: 0 })),
    defineNetwork: (xml) => value(call(remote.DEFINE_NETWORK, { value: xml })),
    async startNetwork(network) {
      await call(remote.AUTOSTART_NETWORK, { network, on: 1 });
      await call(remote.START_NETWORK, { network });
    },
    stopNetwork: (network) => call(remote.DESTROY_NETWORK, { network }),
    undefineNetwork: (network) => call(remote.UNDEFINE_NETWORK, { network }),
    pools: () => listed(remote.LIST_POOLS),
    poolXml: (pool) => value(call(remote.POOL_XML, { pool, flags: 0 })),
    definePool: (xml) => value(call(remote.DEFINE_POOL, { xml, flags: 0 })),
    async startPool(pool) {
      await call(remote.AUTOSTART_POOL, { pool, on: 1 });
      await call(remote.BUILD_POOL, { pool, flags: 0 });
      await call(remote.START_POOL, { pool, flags: 0 });
    },
    stopPool: (pool) => call(remote.DESTROY_POOL, { pool }),
    undefinePool: (pool) => call(remote.UNDEFINE_POOL, { pool }),
    deletePool: (pool) => call(remote.DELETE_POOL, { pool, flags: 0 }),
    async volumes(pool) {
      await call(remote.REFRESH_POOL, { pool, flags: 0 });
      return (await call(remote.LIST_VOLUMES, { pool, results: 1, flags: 0 })).values;
    },
    volumeXml: (volume) => value(call(remote.VOLUME_XML, { volume, flags: 0 })),
    createVolume: (pool, xml) => value(call(remote.CREATE_VOLUME, { pool, xml, flags: 0 })),
    deleteVolume: (volume) => call(remote.DELETE_VOLUME, { volume, flags: 0 }),
    resizeVolume: (volume, bytes) => call(remote.RESIZE_VOLUME, { volume, bytes, flags: 0 }),
    uploadVolume: (volume, bytes) =>
      connection.upload(remote.UPLOAD_VOLUME, { volume, offset: 0n, length: 0n, flags: 0 }, bytes),
    ended: connection.ended,
    close: () => connection.close(),
  };
}
