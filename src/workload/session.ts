import { asFault, Fault, isFault, type Timer } from "@slipway/base";
import {
  type Client,
  createClient,
  type KubeObject,
  keyOf,
  type Ref,
  type Resource,
  reflect,
  Store,
  type Transport,
  type WatchEvent,
  type WatchStream,
} from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { connectionOf } from "@slipway/kube/http";
import type { WorkloadPorts } from "./ports.ts";

/** Requests to one workload cluster. */
const LIMITS = { qps: 20, burst: 30 };
/** Until a kubeconfig that is missing or refused is read again: at first, and at most. Each time twice as long, as long as nothing answers. */
const RECONNECT_MS = { least: 1_000, most: 30_000 };
/** A cluster that has not answered for so long counts as not reached. */
export const LOST_MS = 50_000;
/** A watch on which nothing came for so long is taken for dead. API servers send a bookmark a minute. */
const SILENCE_MS = 75_000;
/** So many failures in a row, and the kubeconfig is read again. */
const FAILURES = 5;

const BY_PROVIDER_ID = "providerID";

/** One workload cluster: its client, its Nodes, and whether it answers. */
export class Session {
  readonly #cluster: Ref;
  readonly #ports: WorkloadPorts;
  readonly #notify: (node: Node | undefined) => void;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;
  #nodes = emptyStore();
  #client: Client | undefined;
  #lostAt: number | undefined;
  #why: string | undefined = "the kubeconfig has not been read yet";
  /** Whether listeners were told that it is reached. */
  #told = false;
  #failures = 0;
  #reconnectMs = RECONNECT_MS.least;
  #timer: Timer | undefined;

  constructor(cluster: Ref, ports: WorkloadPorts, notify: (node: Node | undefined) => void) {
    this.#cluster = cluster;
    this.#ports = ports;
    this.#notify = notify;
    this.#lostAt = ports.clock.now();
    this.#running = this.#run();
  }

  /** Undefined until its Nodes have been listed once. */
  get client(): Client | undefined {
    return this.#client;
  }

  /** Since when it does not answer, in ms since the epoch; undefined: it answers. */
  get lostAt(): number | undefined {
    return this.#lostAt;
  }

  /** Why it does not answer. */
  get why(): string | undefined {
    return this.#why;
  }

  /** Whether it answers, or did a moment ago. */
  get isReached(): boolean {
    const { clock } = this.#ports;
    return this.#client !== undefined && (this.#lostAt === undefined || clock.now() - this.#lostAt < LOST_MS);
  }

  /** Its Nodes with this id, byte for byte. */
  nodesBy(providerID: string): readonly Node[] {
    return this.#nodes.byIndex(BY_PROVIDER_ID, providerID);
  }

  node(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  async close(): Promise<void> {
    this.#ending.abort(new DOMException("the cluster is gone", "AbortError"));
    await this.#running;
    // The watch that ends by closing is a loss like another, and starts the timer.
    this.#timer?.cancel();
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#ports;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#connect(signal);
      } catch (error) {
        if (signal.aborted) return;
        const fault = asFault(error, `workload cluster ${keyOf(this.#cluster)}`);
        this.#lose(fault);
        log.debug({ cluster: keyOf(this.#cluster), code: fault.code, error: fault.message }, "no connection");
      }
      await clock.sleep(this.#reconnectMs, signal).catch(() => {});
      this.#reconnectMs = Math.min(2 * this.#reconnectMs, RECONNECT_MS.most);
    }
  }

  /** Follows the Nodes by the kubeconfig as it is now, until that has to be read again. */
  async #connect(ending: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#ports;
    const on = `kubeconfig of ${keyOf(this.#cluster)}`;
    const text = await this.#ports.kubeconfig(this.#cluster);
    if (text === undefined) throw new Fault("MissingInput", on, "there is no such Secret yet");
    const transport = this.#ports.open(connectionOf(text, on, clock), this.#cluster);
    const session = new AbortController();
    const signal = AbortSignal.any([ending, session.signal]);
    try {
      const client = createClient(transport, { clock, random, log, limits: LIMITS, fieldManager: "slipway" });
      const nodes = emptyStore();
      nodes.listen(({ object }) => {
        if (this.#nodes === nodes) this.#notify(object);
      });
      void nodes.whenSynced().then(() => this.#take(client, nodes, signal));
      this.#failures = 0;
      const watching = { ...client, watch: this.#watching(client, () => session.abort()) };
      await reflect({ resource: Node }, nodes, { client: watching, clock, random, log, silenceMs: SILENCE_MS }, signal);
    } finally {
      await closed(transport);
    }
  }

  #take(client: Client, nodes: Store<Node>, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#client = client;
    this.#nodes = nodes;
    this.#told = true;
    this.#notify(undefined);
    for (const node of nodes.values()) this.#notify(node);
  }

  /** The client's watch, which says whether the cluster answers. */
  #watching(client: Client, renew: () => void): Client["watch"] {
    const lose = (error: unknown): void => {
      this.#lose(asFault(error, `workload cluster ${keyOf(this.#cluster)}`));
      if (isFault(error, "Unauthorized") || ++this.#failures >= FAILURES) renew();
    };
    return async <T extends KubeObject>(resource: Resource<T>, options: Parameters<Client["watch"]>[1]) => {
      try {
        const stream = await client.watch(resource, options);
        this.#find();
        return this.#followed(stream, lose);
      } catch (error) {
        lose(error);
        throw error;
      }
    };
  }

  async *#followed(stream: WatchStream, lose: (error: unknown) => void): AsyncGenerator<WatchEvent> {
    try {
      yield* stream;
    } catch (error) {
      lose(error);
      throw error;
    }
    this.#lose(new Fault("Unavailable", `workload cluster ${keyOf(this.#cluster)}`, "the watch ended"));
  }

  #find(): void {
    this.#reconnectMs = RECONNECT_MS.least;
    this.#lostAt = undefined;
    this.#why = undefined;
    this.#failures = 0;
    if (this.#client === undefined || this.#told) return;
    this.#told = true;
    this.#notify(undefined);
  }

  #lose(fault: Fault): void {
    const { clock } = this.#ports;
    this.#why = fault.message;
    if (this.#lostAt !== undefined) return;
    this.#lostAt = clock.now();
    // A watch that is opened again at once is no loss.
    this.#timer?.cancel();
    this.#timer = clock.after(LOST_MS, () => {
      if (this.#lostAt === undefined || this.#ending.signal.aborted) return;
      this.#told = false;
      this.#notify(undefined);
    });
  }
}

function emptyStore(): Store<Node> {
  const store = new Store<Node>();
  store.addIndex(BY_PROVIDER_ID, ({ spec }) => (spec?.providerID ? [spec.providerID] : []));
  return store;
}

/** A transport that can't be closed any more is closed. */
const closed = (transport: Transport): Promise<void> => transport.close().catch(() => {});
