import type { DomainRef, NamedRef, VolumeRef } from "../libvirt/libvirt.ts";
import type { DomainDefinition, DomainRead } from "../xml/domain.ts";
import type { NetworkDefinition } from "../xml/network.ts";
import type { PoolWish } from "./wish.ts";

/** One thing that is done to the node. Each may be repeated: it looks the same when it was done before. */
export type Step = { about: string } & (
  | { do: "define-pool"; pool: PoolWish }
  | { do: "start-pool"; pool: NamedRef }
  | { do: "remove-pool"; pool: NamedRef; active: boolean }
  | { do: "define-network"; definition: NetworkDefinition }
  /** `active`: it runs by an older definition, and is stopped first. */
  | { do: "start-network"; network: NamedRef; active: boolean }
  | { do: "remove-network"; network: NamedRef; active: boolean }
  | { do: "plug"; device: string; bridge: string }
  | { do: "define-domain"; definition: DomainDefinition }
  | { do: "create-volume"; pool: NamedRef; name: string; sizeGiB: number; sparse: boolean }
  | { do: "grow-volume"; volume: VolumeRef; bytes: bigint }
  | { do: "delete-volume"; volume: VolumeRef }
  | { do: "power-off"; domain: DomainRef }
  | { do: "undefine-domain"; domain: DomainRef }
  /** A running domain boots next by the usual order again: what was to be once is over. */
  | { do: "boot-as-usual"; domain: DomainRef; live: DomainRead; order: Readonly<Record<string, number>> }
);

export interface Plan {
  steps: readonly Step[];
  /** Why something can't be as it is wanted. */
  problems: ReadonlyMap<string, string>;
  /** What is as wanted but for something that has to wait. */
  waits: ReadonlyMap<string, string>;
}
