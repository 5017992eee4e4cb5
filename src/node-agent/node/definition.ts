/** The definition that a domain is to have. Pure. */
import { createHash } from "node:crypto";
import type { HostCapabilities } from "../xml/capabilities.ts";
import type { BootFrom, DomainDefinition } from "../xml/domain.ts";
import type { BootRecord, DomainRecord } from "../xml/record.ts";
import type { Placement } from "./cores.ts";
import type { DomainWish } from "./wish.ts";

/** What of the agent's own settings is in every definition. */
export interface DomainSettings {
  /** Where screens listen. */
  vncListen: string;
  /** Processors are emulated, also where they need not be. */
  emulated: boolean;
}

export const BOOT_FROM: Readonly<Record<BootRecord["target"], BootFrom>> = { Pxe: "network", Hdd: "disk", Cd: "cd" };

/** What there may be beside the wish: it comes and goes by Redfish, and survives other changes. */
export type Kept = Pick<DomainRecord, "boot" | "media" | "volumes">;

/** Version of how definitions are written: a change of it has all of them written anew. */
const FORM = 1;

/** A checksum of all that the definition follows from, but for what is `Kept`. */
export function checksumOf(wanted: Wanted): string {
  const { vnc, ...rest } = bare(wanted);
  const { owner, screen } = wanted.wish;
  const all = [FORM, owner, rest, vnc?.listen, screen?.version];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex").slice(0, 32);
}

/** The definition of a wish at a place. */
export function definitionOf(wanted: Wanted, { boot, media, volumes }: Kept): DomainDefinition {
  return {
    ...bare(wanted),
    ...(media?.inserted && { media: media.volume }),
    ...(boot !== undefined && { bootFirst: BOOT_FROM[boot.target] }),
    record: {
      owner: wanted.wish.owner,
      origin: wanted.wish.origin,
      checksum: checksumOf(wanted),
      volumes,
      ...(boot !== undefined && { boot }),
      ...(media !== undefined && { media }),
    },
  };
}

function bare({ wish, placement, host, settings }: Wanted): Omit<DomainDefinition, "record"> {
  const { name, uuid, firmware, vcpus, memoryMiB, pool, screen } = wish;
  return {
    ...{ name, uuid, firmware, vcpus, memoryMiB, ...placement },
    architecture: host.architecture!,
    accelerated: host.accelerated && !settings.emulated,
    disks: wish.disks.map(({ volume, device }) => ({ pool, name: volume, device })),
    interfaces: wish.interfaces.map(({ mac, mtu }, at) => ({
      ...{ network: wish.cards[at]!, mac },
      ...(mtu !== undefined && { mtu }),
    })),
    ...(wish.bootMAC !== undefined && { bootMac: wish.bootMAC }),
    ...(screen !== undefined && { vnc: { password: screen.password, listen: settings.vncListen } }),
  };
}

/** A domain as it is to be, at its place. */
export interface Wanted {
  wish: DomainWish;
  placement: Placement;
  host: HostCapabilities;
  settings: DomainSettings;
}
