import type { Client } from "@slipway/kube";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { type HostFacts, hostFacts } from "./host-facts.ts";

/** What nobody asked for in so long is forgotten: the host is in no cluster. Clusters at rest ask more often. */
const UNUSED_MS = 30 * 60_000;

/** Facts of hosts, read again when a host names other Secrets, or one of them has another version. What could not be read is not kept. */
export class KnownFacts {
  readonly #held = new Map<string, { until: number; facts: HostFacts }>();

  /** Rejects as `hostFacts` does. `version`: of the host's Secrets. `now`: milliseconds since the epoch. */
  async of(
    client: Client,
    host: BareMetalHost,
    { networks, version, now }: { networks: readonly string[]; version: string; now: number },
  ): Promise<HostFacts> {
    const key = keyOf(host, networks, version);
    const facts = this.#held.get(key)?.facts ?? (await hostFacts(client, host, networks));
    for (const [other, { until }] of this.#held) {
      // Those that were used first come first.
      if (now < until) break;
      this.#held.delete(other);
    }
    this.#held.delete(key);
    this.#held.set(key, { until: now + UNUSED_MS, facts });
    return facts;
  }
}

function keyOf({ metadata, spec }: BareMetalHost, networks: readonly string[], version: string): string {
  const { networkData, preprovisioningNetworkDataName, bmc } = spec;
  return JSON.stringify([metadata.uid, networkData, preprovisioningNetworkDataName, bmc, version, networks]);
}
