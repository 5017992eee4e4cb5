import { Fault, isFault, type Log } from "@slipway/base";
import { boundClient, type Client, refOf } from "@slipway/kube";
import { obstacle } from "../../../inventory/claims/choose.ts";
import { type Consumer, claimHost, isConsumedBy } from "../../../inventory/claims/claim.ts";
import { giveBack } from "../../../inventory/claims/turn.ts";
import { CONSUMER_LABEL } from "../../../inventory/hosts/annotations.ts";
import { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import type { HostOffer } from "../../../kinds/slipway/machine-provider.ts";
import type { Machine, Order, Release } from "../../machine.ts";
import type { HostInventory } from "../../provider.ts";
import { hostTurn } from "./host-id.ts";
import { bootMacOf, failuresOf, machineOf } from "./observe.ts";
import { wishOf } from "./offer.ts";
import { installation, systemOf } from "./operating-system.ts";
import { dropScript, putScript, scriptSecretName } from "./script-secret.ts";

/** Hosts in their turns with claims: taken, found again, changed, given back. */
export class HostTurns {
  readonly #hosts: HostInventory;
  readonly #offer: HostOffer;
  readonly #log: Log;
  /** Hosts that were taken here and what they were then, until the list shows them otherwise. */
  readonly #taken = new Map<string, { host: BareMetalHost; before: string | undefined }>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(hosts: HostInventory, offer: HostOffer, log: Log) {
    this.#hosts = hosts;
    this.#offer = offer;
    this.#log = log;
  }

  /** A client that sends nothing any more once the caller has given up: a claim may then be another operator's to carry out. */
  client(signal: AbortSignal | undefined): Client {
    const { client } = this.#hosts;
    return signal === undefined ? client : boundClient(client, signal);
  }

  /** Every machine in the offer's namespaces, as the cache has them. */
  async list(): Promise<Machine[]> {
    const { namespaces } = this.#offer;
    const hosts = (await this.#hosts.list()).filter(({ metadata }) => namespaces.includes(metadata.namespace ?? ""));
    return hosts.flatMap((host) => machineOf(host) ?? []);
  }

  /** The machines of a claim, asked of the API now. */
  async of(claim: string, signal?: AbortSignal): Promise<Machine[]> {
    const { items } = await this.client(signal).list(BareMetalHost, { labelSelector: `${CONSUMER_LABEL}=${claim}` });
    return items.flatMap((host) => machineOf(host) ?? []).filter((machine) => machine.claim === claim);
  }

  /** The host in this turn, as the API has it now; undefined: it is nobody's, or another's. */
  async find(id: string, signal?: AbortSignal): Promise<[BareMetalHost, Consumer] | undefined> {
    const { host: ref, claim } = hostTurn(id);
    const host = await this.client(signal).find(BareMetalHost, ref);
    const consumer = { apiVersion: "", kind: "", name: "", uid: claim };
    return host !== undefined && isConsumedBy(host, consumer) ? [host, consumer] : undefined;
  }

  /** As `find`. Rejects with `NotFound` where the turn is over. */
  async known(id: string, signal?: AbortSignal): Promise<[BareMetalHost, Consumer]> {
    const found = await this.find(id, signal);
    if (found === undefined) throw new Fault("NotFound", `machine ${id}`, "the host is not this claim's");
    return found;
  }

  /** Whether there is a host for the order, as far as is known. */
  async couldBegin(order: Order): Promise<boolean> {
    return (await this.candidates(order)).length > 0;
  }

  /** Names of the hosts that the order could have now, as far as is known. */
  async candidates(order: Order): Promise<string[]> {
    const hosts = (await this.#hosts.list()).map((host) => this.#newer(host));
    const wish = wishOf(order, this.#offer, hosts);
    return hosts
      .filter((host) => obstacle(host, wish) === undefined)
      .map(({ metadata }) => metadata.name)
      .toSorted();
  }

  /**
   * Begins a turn: the host is taken and told what to boot in one write. One after the other, each in sight of those before, so that hosts
   * of a group are spread even where all are asked for at once. Rejects as `claimHost`.
   */
  begin(order: Order, signal?: AbortSignal): Promise<Machine> {
    const begun = this.#last.then(() => this.#begin(order, this.client(signal)));
    this.#last = begun.catch(() => {});
    return begun;
  }

  async #begin(order: Order, client: Client): Promise<Machine> {
    const listed = await this.#hosts.list();
    const all = listed.map((host) => this.#newer(host));
    const { claim: uid, claimant, group, boot, placement } = order;
    const written = new Set<string>();
    const dropScripts = async (kept?: string): Promise<void> => {
      for (const namespace of written) if (namespace !== kept) await dropScript(client, namespace, uid);
    };
    const consumer = { ...claimant, uid };
    const host = await claimHost(client, all, consumer, {
      wish: wishOf(order, this.#offer, all),
      ...(group !== undefined && { group }),
      install: async (host) => {
        const { namespace = "" } = host.metadata;
        const mac = bootMacOf(host);
        await boot.forHost?.(mac ?? "");
        const system = systemOf(this.#offer, order.operatingSystem);
        const { texts, install } = installation(system, boot, { hostname: order.hostname, mac });
        written.add(namespace);
        await putScript(client, namespace, { claim: uid, claimant, texts });
        return install({ name: scriptSecretName(uid), namespace });
      },
    }).catch(async (error: unknown) => {
      if (isFault(error, "NoCapacity")) await dropScripts();
      throw error;
    });
    await dropScripts(host.metadata.namespace);
    const before = listed.find(({ metadata }) => metadata.uid === host.metadata.uid);
    this.#taken.set(host.metadata.uid, { host, before: before?.metadata.resourceVersion });
    this.#log.info({ host: host.metadata.name, claimant: claimant.name }, "claimed");
    const { plan, metro } = placement;
    return { ...machineOf(host)!, plan, metro };
  }

  #newer(host: BareMetalHost): BareMetalHost {
    const taken = this.#taken.get(host.metadata.uid);
    if (taken === undefined) return host;
    if (taken.before === host.metadata.resourceVersion) return taken.host;
    this.#taken.delete(host.metadata.uid);
    return host;
  }

  /** Ends a turn. What takes long goes on by itself. */
  async end(id: string, { force, failure }: Release, signal?: AbortSignal): Promise<void> {
    const client = this.client(signal);
    const { host: ref, claim } = hostTurn(id);
    const found = await this.find(id, signal);
    await dropScript(client, ref.namespace, claim);
    if (found === undefined) return;
    const [host, consumer] = found;
    const most = this.#offer.setAsideAfter;
    const failed = failure === undefined ? undefined : { message: failure, tries: Math.max(1, failuresOf(host)), most };
    await giveBack(client, host, consumer, { force, failure: failed });
    this.#log.info({ host: ref.name, force }, "given back");
  }

  /** Removes the scripts of a claim that has no host. */
  async forget(claim: string, signal?: AbortSignal): Promise<void> {
    const { namespaces } = this.#offer;
    const own = (await this.#hosts.list()).flatMap(({ metadata }) => metadata.namespace ?? []);
    for (const namespace of new Set(own.filter((one) => namespaces.includes(one))))
      await dropScript(this.client(signal), namespace, claim);
  }

  /** Changes the host of a turn under its version. Rejects with `NotFound`, `Conflict`. */
  async change(
    id: string,
    body: (host: BareMetalHost) => { metadata?: object; spec?: object } | undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    const [host] = await this.known(id, signal);
    const { resourceVersion } = host.metadata;
    const changes = body(host);
    if (changes === undefined) return;
    const guarded = { ...changes, metadata: { ...changes.metadata, resourceVersion } };
    await this.client(signal).patch(BareMetalHost, refOf(host), { type: "merge", body: guarded });
  }
}
