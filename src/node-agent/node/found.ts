/** What a node has, as libvirt and the kernel report it. */
import type { DomainRef, NamedRef, VolumeRef } from "../libvirt/libvirt.ts";
import type { HostCapabilities } from "../xml/capabilities.ts";
import type { DomainRead } from "../xml/domain.ts";
import type { NetworkRead } from "../xml/network.ts";

export interface FoundVolume {
  ref: VolumeRef;
  bytes: bigint;
}

export interface FoundPool {
  ref: NamedRef;
  active: boolean;
  path: string | undefined;
  /** By name; empty while it is not active. */
  volumes: ReadonlyMap<string, FoundVolume>;
}

export interface FoundNetwork extends NetworkRead {
  ref: NamedRef;
  active: boolean;
}

export interface FoundDomain {
  ref: DomainRef;
  /** The definition that its next start is by. */
  next: DomainRead;
  /** As it runs; undefined: it is off. */
  live?: DomainRead;
}

export interface NodeFound {
  host: HostCapabilities;
  pools: readonly FoundPool[];
  networks: readonly FoundNetwork[];
  domains: readonly FoundDomain[];
  /** The bridge that each network device is a port of, undefined for none; a device that is not in it does not exist. */
  links: ReadonlyMap<string, string | undefined>;
}
