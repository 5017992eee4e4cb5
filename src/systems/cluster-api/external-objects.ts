import { type Clock, Fault, isFault, type Log, type Random } from "@slipway/base";
import {
  type Client,
  type DefinitionWatch,
  type KubeObject,
  keyOf,
  type Ref,
  type Resource,
  reflect,
  refOf,
  Store,
} from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { type ContractKind, contractKindOf, definitionName } from "../../cluster-api/contract.ts";
import type { ContractReference } from "../../kinds/cluster-api/fields.ts";

export interface ExternalPorts {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  /** Unset: whoever misses a kind looks for it now and then. */
  definitions?: DefinitionWatch;
}

/** Who asks, and what calls it back. */
export interface Asker {
  who: string;
  wake: () => void;
}

type KindName = Pick<ContractReference, "apiGroup" | "kind">;

/** An object as it was found. Undefined: there is none. */
export interface External {
  kind: ContractKind;
  object: KubeObject | undefined;
}

/** A definition is looked at again after this long: a provider that was upgraded serves another version. */
const LOOK_AGAIN_MS = 10 * 60_000;
/** Until a kind that can't be read is looked for again, where its definition is not followed. */
const MISSING_MS = 30_000;

interface Watched {
  kind: ContractKind;
  store: Store;
  lookedAt: number;
  end: AbortController;
}

/**
 * Objects of providers, whose kinds the core does not know: which version is read follows from the labels of their definitions, and each kind that
 * is used is watched. A wait for an object ends with its event, and one for a kind with that of its definition.
 */
export class ExternalObjects {
  readonly #ports: ExternalPorts;
  readonly #kinds = new Map<string, Promise<Watched>>();
  /** Who waits for an object, by its kind and name; each once. */
  readonly #waiting = new Map<string, Map<string, () => void>>();
  /** Who waits for a kind, by the name of its definition; each once. */
  readonly #missing = new Map<string, Map<string, () => void>>();

  constructor(ports: ExternalPorts) {
    this.#ports = ports;
    ports.definitions?.listen((name) => {
      for (const wake of this.#missing.get(name)?.values() ?? []) wake();
    });
  }

  /** Until a kind that can't be read is looked for again though its definition has not changed. */
  get missingMs(): number {
    return this.#ports.definitions?.isFollowed === true ? LOOK_AGAIN_MS : MISSING_MS;
  }

  /**
   * The object that a reference names, beside an object of this namespace. Each later change of it calls `wake`; `who` is woken once a change.
   * Rejects with `NotFound` where the kind has no definition, and with `Invalid` where its definition names no contract: then changes of the
   * definition call `wake`.
   */
  async read(reference: ContractReference, namespace: string, by: Asker): Promise<External> {
    const { who, wake } = by;
    const ref = { namespace, name: reference.name };
    const of = waitKey(reference, ref);
    const waiting = this.#waiting.get(of) ?? new Map<string, () => void>();
    this.#waiting.set(of, waiting.set(who, wake));
    const { kind, store } = await this.#watchedFor(reference, by);
    await store.whenAnswered();
    // What the watch has not brought yet may be there already.
    const object = store.get(keyOf(ref)) ?? (await this.#ports.client.find(kind.resource, ref));
    return { kind, object };
  }

  /** The object that a reference names, as far as it is known without asking for it; undefined where its kind is not known either. */
  async known(reference: ContractReference, namespace: string): Promise<External | undefined> {
    const watched = await this.#watched(reference).catch(() => undefined);
    return watched && { kind: watched.kind, object: watched.store.get(keyOf({ namespace, name: reference.name })) };
  }

  /** How objects of a kind are read. Rejects as `read` does. */
  async kindOf(reference: KindName, by?: Asker): Promise<ContractKind> {
    return (await (by === undefined ? this.#watched(reference) : this.#watchedFor(reference, by))).kind;
  }

  /** The objects of a kind in a namespace, as far as they are known. */
  async list(reference: KindName, namespace: string): Promise<KubeObject[]> {
    const { store } = await this.#watched(reference);
    await store.whenAnswered();
    return [...store.values()].filter(({ metadata }) => metadata.namespace === namespace);
  }

  /** Forgets who waits under this name. */
  forget(who: string): void {
    for (const waits of [this.#waiting, this.#missing])
      for (const [key, waiting] of waits) if (waiting.delete(who) && waiting.size === 0) waits.delete(key);
  }

  /** Ends all watches. */
  close(): void {
    for (const watched of this.#kinds.values()) watched.then(({ end }) => end.abort()).catch(() => {});
    this.#kinds.clear();
  }

  /** Noted before it is asked for: a definition that comes meanwhile wakes, too. */
  async #watchedFor(reference: KindName, { who, wake }: Asker): Promise<Watched> {
    const name = definitionName(reference);
    const missing = this.#missing.get(name) ?? new Map<string, () => void>();
    this.#missing.set(name, missing.set(who, wake));
    try {
      const watched = await this.#watched(reference);
      if (missing.delete(who) && missing.size === 0) this.#missing.delete(name);
      return watched;
    } catch (error) {
      if (isFault(error, "NotFound", "Invalid")) void this.#ports.definitions?.follow();
      throw error;
    }
  }

  async #watched(reference: KindName): Promise<Watched> {
    const name = definitionName(reference);
    const held = this.#kinds.get(name);
    if (held !== undefined) {
      const watched = await held;
      if (this.#ports.clock.monotonic() - watched.lookedAt < LOOK_AGAIN_MS && !watched.store.missing) return watched;
    }
    const next = this.#look(reference, name, held);
    this.#kinds.set(name, next);
    next.catch(() => {
      if (this.#kinds.get(name) === next) this.#kinds.delete(name);
    });
    return await next;
  }

  /** Reads the definition; the watch goes on where the same version is read by the same contract. */
  async #look(reference: KindName, name: string, before: Promise<Watched> | undefined): Promise<Watched> {
    const { client, clock } = this.#ports;
    const held = await before?.catch(() => undefined);
    const definition = await client.find(CustomResourceDefinition, { name });
    if (definition === undefined) {
      held?.end.abort();
      throw new Fault(
        "NotFound",
        `CustomResourceDefinition/${name}`,
        `there is no kind ${reference.kind} of ${reference.apiGroup}`,
        {
          remedy: "install the provider that brings it, or correct the reference",
        },
      );
    }
    const kind = contractKindOf(reference, definition.metadata.labels);
    const lookedAt = clock.monotonic();
    if (held !== undefined && isSame(held.kind, kind) && !held.store.missing) {
      held.lookedAt = lookedAt;
      return held;
    }
    held?.end.abort();
    return { kind, lookedAt, ...this.#watch(kind.resource) };
  }

  #watch(resource: Resource): Pick<Watched, "store" | "end"> {
    const store = new Store();
    const end = new AbortController();
    store.listen(({ object }) => {
      const waiting = this.#waiting.get(waitKey({ apiGroup: resource.group, kind: resource.kind }, refOf(object)));
      for (const wake of waiting?.values() ?? []) wake();
    });
    const { definitions } = this.#ports;
    store.listenMissing((is) => {
      if (is) void definitions?.follow();
    });
    void reflect({ resource }, store, this.#ports, end.signal);
    return { store, end };
  }
}

const waitKey = ({ apiGroup, kind }: KindName, ref: Ref): string => `${apiGroup}/${kind}/${keyOf(ref)}`;

const isSame = (a: ContractKind, b: ContractKind): boolean =>
  a.contract === b.contract && a.resource.version === b.resource.version;
