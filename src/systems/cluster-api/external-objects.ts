/**
 * Objects of providers, whose kinds the core does not know: which version is read follows from the labels of their definitions, and each kind that
 * is used is watched. A wait for an object ends with its event.
 */
import { type Clock, Fault, type Log, type Random } from "@slipway/base";
import { type Client, type KubeObject, keyOf, type Ref, type Resource, reflect, refOf, Store } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { type ContractKind, contractKindOf, definitionName } from "../../cluster-api/contract.ts";
import type { ContractReference } from "../../kinds/cluster-api/fields.ts";

export interface ExternalPorts {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
}

/** An object as it was found. Undefined: there is none. */
export interface External {
  kind: ContractKind;
  object: KubeObject | undefined;
}

/** A definition is looked at again after this long: a provider that was upgraded serves another version. */
const LOOK_AGAIN_MS = 10 * 60_000;

interface Watched {
  kind: ContractKind;
  store: Store;
  lookedAt: number;
  end: AbortController;
}

export class ExternalObjects {
  readonly #ports: ExternalPorts;
  readonly #kinds = new Map<string, Promise<Watched>>();
  /** Who waits for an object, by its kind and name; each once. */
  readonly #waiting = new Map<string, Map<string, () => void>>();

  constructor(ports: ExternalPorts) {
    this.#ports = ports;
  }

  /**
   * The object that a reference names, beside an object of this namespace. Each later change of it calls `wake`; `who` is woken once a change.
   * Rejects with `NotFound` where the kind has no definition, and with `Invalid` where its definition names no contract.
   */
  async read(
    reference: ContractReference,
    namespace: string,
    { who, wake }: { who: string; wake: () => void },
  ): Promise<External> {
    const ref = { namespace, name: reference.name };
    const of = waitKey(reference, ref);
    const waiting = this.#waiting.get(of) ?? new Map<string, () => void>();
    this.#waiting.set(of, waiting.set(who, wake));
    const { kind, store } = await this.#watched(reference);
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
  async kindOf(reference: Pick<ContractReference, "apiGroup" | "kind">): Promise<ContractKind> {
    return (await this.#watched(reference)).kind;
  }

  /** The objects of a kind in a namespace, as far as they are known. */
  async list(reference: Pick<ContractReference, "apiGroup" | "kind">, namespace: string): Promise<KubeObject[]> {
    const { store } = await this.#watched(reference);
    await store.whenAnswered();
    return [...store.values()].filter(({ metadata }) => metadata.namespace === namespace);
  }

  /** Forgets who waits under this name. */
  forget(who: string): void {
    for (const [key, waiting] of this.#waiting)
      if (waiting.delete(who) && waiting.size === 0) this.#waiting.delete(key);
  }

  /** Ends all watches. */
  close(): void {
    for (const watched of this.#kinds.values()) watched.then(({ end }) => end.abort()).catch(() => {});
    this.#kinds.clear();
  }

  async #watched(reference: Pick<ContractReference, "apiGroup" | "kind">): Promise<Watched> {
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
  async #look(
    reference: Pick<ContractReference, "apiGroup" | "kind">,
    name: string,
    before: Promise<Watched> | undefined,
  ): Promise<Watched> {
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
    void reflect({ resource }, store, this.#ports, end.signal);
    return { store, end };
  }
}

const waitKey = ({ apiGroup, kind }: Pick<ContractReference, "apiGroup" | "kind">, ref: Ref): string =>
  `${apiGroup}/${kind}/${keyOf(ref)}`;

const isSame = (a: ContractKind, b: ContractKind): boolean =>
  a.contract === b.contract && a.resource.version === b.resource.version;
