import { isDeepStrictEqual } from "node:util";
import type { Host, HostRecord } from "./host.ts";
import type { Makers } from "./maker-doubt.ts";
import { standingUnder } from "./standing-under.ts";
import { type Declaration, type Standing, standingOf, type TrustSetting, UNDECLARED, UNREAD } from "./trust.ts";

export interface StandingsOptions {
  setting: TrustSetting;
  /** A cluster says of every host what it knows, if that is nothing, too: until then none is trusted. */
  hasCluster: boolean;
  /** Authorities of TPMs. */
  makers?: Makers;
}

/** How far each host is trusted now: by what the cluster says of it, by its record, and by the settings. */
export class Standings {
  readonly #options: StandingsOptions;
  /** What the cluster says, by host. Not kept: after a restart no host is trusted before the cluster is read. */
  readonly #declarations = new Map<string, Declaration>();

  constructor(options: StandingsOptions) {
    this.#options = options;
  }

  of(host: Readonly<Host>): Standing {
    const { setting, hasCluster, makers } = this.#options;
    const declaration = this.#declarations.get(host.name);
    if (declaration === undefined && hasCluster) return UNREAD;
    return standingUnder(host, declaration ?? UNDECLARED, setting, makers);
  }

  /** Approved and declared hosts are never evicted for room, whatever their namespace demands; first-seen trust does not protect a host. */
  isKept({ host }: HostRecord): boolean {
    const { trust } = standingOf(host, this.#declarations.get(host.name) ?? UNDECLARED, "approved");
    return host.approval !== undefined || trust !== "discovered";
  }

  /** Takes what the cluster says of a host. True: that is news. */
  declare(name: string, declaration: Declaration): boolean {
    const before = this.#declarations.get(name);
    if (isDeepStrictEqual(before ?? (this.#options.hasCluster ? undefined : UNDECLARED), declaration)) return false;
    this.#declarations.set(name, declaration);
    return true;
  }

  forget(name: string): void {
    this.#declarations.delete(name);
  }
}
