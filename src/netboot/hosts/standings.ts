import type { Host, HostRecord } from "./host.ts";
import { type Declaration, type Standing, standingOf, type TrustPolicy, UNDECLARED } from "./trust.ts";

/** How far each host is trusted now: by what the cluster says of it, by its record, and by the settings. */
export class Standings {
  readonly #policy: TrustPolicy;
  /** What the cluster says, by host. Not kept: after a restart no host counts as declared before the cluster is read. */
  readonly #declarations = new Map<string, Declaration>();

  constructor(policy: TrustPolicy) {
    this.#policy = policy;
  }

  of(host: Readonly<Host>): Standing {
    return standingOf(host, this.#declarations.get(host.name) ?? UNDECLARED, this.#policy);
  }

  /** Approved and declared hosts are never evicted for room; first-seen trust does not protect a host. */
  isKept({ host }: HostRecord): boolean {
    const { trust } = this.of(host);
    return host.approval !== undefined || trust === "declared" || trust === "approved";
  }

  /** Takes what the cluster says of a host. True: that is news. */
  declare(name: string, declaration: Declaration): boolean {
    const before = this.#declarations.get(name) ?? UNDECLARED;
    if (before.is === declaration.is && before.approved === declaration.approved) return false;
    if (declaration.is === "none" && declaration.approved === undefined) this.#declarations.delete(name);
    else this.#declarations.set(name, declaration);
    return true;
  }

  forget(name: string): void {
    this.#declarations.delete(name);
  }
}
