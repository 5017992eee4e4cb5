/** One round of scheduling: which hosts the cluster has afterwards, with what is known of each. */
import type { Client } from "@slipway/kube";
import { CONSUMER_LABEL } from "../../../inventory/hosts/annotations.ts";
import { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import type { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import { inBatches } from "../../in-batches.ts";
import { type Schedule, schedule, type Wish } from "../schedule/schedule.ts";
import { candidatesFor, heldBy, hostId, isConsumed, isLabelled } from "./belonging.ts";
import { giveBack, label, reserve } from "./claims.ts";
import { type HostFacts, isHostFault } from "./host-facts.ts";

/** Requests at a time. Clusters gather one after another, so that what one waits for all wait for. */
const AT_ONCE = 8;

export interface Gathering {
  client: Client;
  now: number;
  cluster: SIPCluster;
  wish: Wish;
  /** What services need to know of a host. Rejects as `hostFacts` does. */
  facts(host: BareMetalHost): Promise<HostFacts>;
  /** Namespaces whose hosts the cluster may not have. */
  closed: ReadonlySet<string>;
}

export interface Gathered {
  /** Of the last choice. */
  planned: Schedule;
  /** Hosts that were claimed now, with their roles. */
  claimed: readonly { host: string; role: string }[];
  /** All hosts as they are now. */
  hosts: ReadonlyMap<string, BareMetalHost>;
}

/**
 * Claims what is missing: all of it or nothing. Hosts whose Secrets are missing or can't be read, and hosts that somebody else takes
 * meanwhile, are passed over. Rejects as the API does; what is reserved until then stays so, and is found by the next round.
 */
export async function gather(of: Gathering, cached: readonly BareMetalHost[]): Promise<Gathered> {
  const round = new Round(of, cached);
  if (round.plan().take.length > 0 || round.reserved().length > 0) await round.lookAgain();
  for (;;) {
    const planned = round.plan();
    if (planned.short.length === 0 && !(await round.areSound(planned))) continue;
    if (planned.short.length === 0 && !(await round.reserveAll(planned))) continue;
    await round.giveUpExcept(planned);
    const claimed = await round.labelAll(planned);
    return { planned, claimed, hosts: round.hosts };
  }
}

class Round {
  readonly hosts: Map<string, BareMetalHost>;
  readonly #of: Gathering;
  readonly #bad = new Map<string, string>();
  readonly #sound = new Set<string>();

  constructor(of: Gathering, cached: readonly BareMetalHost[]) {
    this.#of = of;
    this.hosts = new Map(cached.map((host) => [hostId(host), host]));
  }

  /** What an earlier round, or a process that died, has written may not be in the cache yet. */
  async lookAgain(): Promise<void> {
    const { client, cluster } = this.#of;
    const labelSelector = `${CONSUMER_LABEL}=${cluster.metadata.uid}`;
    const { items } = await client.list(BareMetalHost, { labelSelector });
    for (const host of items) this.hosts.set(hostId(host), host);
  }

  plan(): Schedule {
    const { cluster, wish, closed } = this.#of;
    const hosts = [...this.hosts.values()];
    return schedule(wish, heldBy(hosts, cluster), candidatesFor(hosts, cluster, { closed, bad: this.#bad }));
  }

  /** Hosts that are reserved and not labelled. */
  reserved(): BareMetalHost[] {
    const { cluster } = this.#of;
    return [...this.hosts.values()].filter((host) => isConsumed(host, cluster) && !isLabelled(host, cluster));
  }

  /** Whether what has to be known of the chosen hosts is. Those of which it is not are not chosen again. */
  async areSound({ take }: Schedule): Promise<boolean> {
    const bad = this.#bad.size;
    const unread = take.filter(({ host }) => !this.#sound.has(host));
    await inBatches(unread, AT_ONCE, async ({ host }) => {
      try {
        await this.#of.facts(this.hosts.get(host)!);
        this.#sound.add(host);
      } catch (error) {
        if (!isHostFault(error)) throw error;
        this.#bad.set(host, error.advice);
      }
    });
    return this.#bad.size === bad;
  }

  async reserveAll({ take }: Schedule): Promise<boolean> {
    const { client, cluster, now } = this.#of;
    const reserved = await inBatches(take, AT_ONCE, async ({ host }) => {
      const taken = await reserve(client, this.hosts.get(host)!, cluster, now);
      if (taken !== undefined) this.hosts.set(host, taken);
      else this.#bad.set(host, "just taken, or changed");
      return taken !== undefined;
    });
    return reserved.every((isTaken) => isTaken);
  }

  /** Gives back what is reserved and not needed. What can't be given back at once is found by the next round. */
  async giveUpExcept({ take }: Schedule): Promise<void> {
    const { client, cluster } = this.#of;
    const needed = new Set(take.map(({ host }) => host));
    for (const host of this.reserved())
      if (!needed.has(hostId(host))) {
        await giveBack(client, host, cluster);
        this.hosts.delete(hostId(host));
      }
  }

  async labelAll({ take }: Schedule): Promise<{ host: string; role: string }[]> {
    const { client, cluster } = this.#of;
    const claimed = await inBatches(take, AT_ONCE, async ({ host, role }) => {
      const labelled = await label(client, this.hosts.get(host)!, cluster, role);
      if (labelled === undefined) return [];
      this.hosts.set(host, labelled);
      return [{ host, role }];
    });
    return claimed.flat();
  }
}
