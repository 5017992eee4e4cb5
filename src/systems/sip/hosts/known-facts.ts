import type { Client } from "@slipway/kube";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { type HostFacts, hostFacts } from "./host-facts.ts";

/** For how long what was read counts. A cluster that comes up is looked at many times meanwhile. */
const LASTS_MS = 60_000;

/** Facts of hosts, read again after a minute, or when a host names other Secrets or its credentials have another version. What could not be read is not kept. */
export class KnownFacts {
  readonly #held = new Map<string, { until: number; facts: HostFacts }>();

  /** Rejects as `hostFacts` does. `now`: milliseconds since the epoch. */
  async of(client: Client, host: BareMetalHost, networks: readonly string[], now: number): Promise<HostFacts> {
    const key = keyOf(host, networks);
    const held = this.#held.get(key);
    if (held !== undefined && now < held.until) return held.facts;
    const facts = await hostFacts(client, host, networks);
    for (const [other, { until }] of this.#held) {
      // Those that were read first come first.
      if (now < until) break;
      this.#held.delete(other);
    }
    this.#held.delete(key);
    this.#held.set(key, { until: now + LASTS_MS, facts });
    return facts;
  }
}

function keyOf({ metadata, spec, status }: BareMetalHost, networks: readonly string[]): string {
  const { networkData, preprovisioningNetworkDataName, bmc } = spec;
  const version = status?.goodCredentials?.credentialsVersion;
  return JSON.stringify([metadata.uid, networkData, preprovisioningNetworkDataName, bmc, version, networks]);
}
