import { asFault, type Clock, Fault, isFault, type Log, type Random } from "@slipway/base";
import { type Client, type KubeObject, keyOf, type Resource, reflect, Store } from "@slipway/kube";
import type { KindName } from "./kind-name.ts";

/** How a kind stands. `denied`, `missing`: nothing of it is shown. `waiting`: what is shown may be old. */
export type KindState = "synced" | "denied" | "missing" | "waiting";

/** Who is informed of a kind. `begin`: what was known before counts no more. */
export interface FollowerListener {
  begin(): void;
  set(key: string, object: KubeObject): void;
  gone(key: string, object: KubeObject): void;
  state(state: KindState, message?: string): void;
}

export interface FollowerPorts {
  client: Client;
  /** Finds the resource; rejects as `resourceOf`. */
  lookUp(kind: KindName, signal: AbortSignal): Promise<Resource>;
  clock: Clock;
  random: Random;
  log: Log;
  /** The API does not take the credentials any more. */
  refused(): void;
  /** Objects of one kind at most. */
  most: number;
}

const DENIED_AGAIN_MS = 30_000;
const MISSING_AGAIN_MS = 10_000;
const WAITING_AGAIN_MS = 3_000;

/** Follows one kind by one watch with one user's credentials, for all pages of a session. Ends with its signal. */
export class Follower {
  readonly #kind: KindName;
  readonly #namespace: string | undefined;
  readonly #ports: FollowerPorts;
  readonly #listeners = new Set<FollowerListener>();
  #store = new Store();
  #resource: Resource | undefined;
  #state: { state: KindState; message?: string } | undefined;

  constructor(kind: KindName, namespace: string | undefined, ports: FollowerPorts) {
    this.#kind = kind;
    this.#namespace = namespace;
    this.#ports = ports;
  }

  /** Objects that are held. */
  get size(): number {
    return this.#store.size;
  }

  /** Informs the listener of what there is, and then of each change, until the answer is called. */
  listen(listener: FollowerListener): () => void {
    listener.begin();
    for (const object of this.#store.values()) listener.set(keyOf(object.metadata), whole(object, this.#resource));
    if (this.#state !== undefined) listener.state(this.#state.state, this.#state.message);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows until `signal` is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const trouble = await this.#round(signal);
      if (signal.aborted) return;
      if (trouble.code === "Unauthorized") return this.#ports.refused();
      const [state, waitMs] = verdictOf(trouble);
      if (state !== "waiting") this.#forget();
      this.#tell(state, trouble.message);
      await this.#ports.clock.sleep(waitMs, signal).catch(() => {});
    }
  }

  /** Finds the kind and follows it; resolves with what ended that. */
  async #round(signal: AbortSignal): Promise<Fault> {
    const ending = new AbortController();
    const both = AbortSignal.any([signal, ending.signal]);
    const stop = (fault: Fault): void => ending.abort(fault);
    try {
      const resource = await this.#ports.lookUp(this.#kind, both);
      this.#forget();
      this.#resource = resource;
      this.#store.listen(({ type, object }) => this.#change(type, whole(object, resource), stop));
      const selection = {
        resource,
        ...(this.#namespace !== undefined && resource.namespaced && { namespace: this.#namespace }),
      };
      await reflect(selection, this.#store, { ...this.#ports, client: this.#watched(stop) }, both);
    } catch (error) {
      stop(asFault(error, this.#kind.text));
    }
    return asFault(ending.signal.reason, this.#kind.text);
  }

  /** The client, with an ear at how watches and lists begin: what no patience mends ends the round. */
  #watched(stop: (fault: Fault) => void): Client {
    const { client } = this.#ports;
    const heard = async <T>(begun: Promise<T>, streams: boolean): Promise<T> => {
      try {
        const result = await begun;
        if (this.#store.synced) this.#tell("synced");
        return result;
      } catch (error) {
        // An API that does not stream what there is says so; it is asked for a list then.
        if (isFault(error, "Forbidden", "Unauthorized", "NotFound")) stop(error);
        else if (!isFault(error, "Gone") && !(streams && isFault(error, "Invalid", "BadRequest")))
          this.#tell("waiting", asFault(error, this.#kind.text).message);
        throw error;
      }
    };
    return {
      ...client,
      watch: (resource, options) => heard(client.watch(resource, options), options.sendInitialEvents === true),
      list: (resource, options) => heard(client.list(resource, options), false),
    };
  }

  #change(type: "added" | "updated" | "deleted", object: KubeObject, stop: (fault: Fault) => void): void {
    const { most } = this.#ports;
    if (this.#store.size > most) {
      stop(new Fault("TooLarge", this.#kind.text, `there are more than ${most}: choose a namespace`));
      return;
    }
    const key = keyOf(object.metadata);
    for (const listener of this.#listeners) listener[type === "deleted" ? "gone" : "set"](key, object);
  }

  #forget(): void {
    if (this.#store.size > 0 || this.#state !== undefined) for (const listener of this.#listeners) listener.begin();
    this.#store = new Store();
    this.#state = undefined;
    const store = this.#store;
    void store.whenSynced().then(() => this.#store === store && this.#tell("synced"));
  }

  #tell(state: KindState, message?: string): void {
    if (this.#state?.state === state && this.#state.message === message) return;
    this.#state = { state, ...(message !== undefined && { message }) };
    for (const listener of this.#listeners) listener.state(state, message);
  }
}

function verdictOf(trouble: Fault): [KindState, number] {
  if (isFault(trouble, "Forbidden", "TooLarge")) return ["denied", DENIED_AGAIN_MS];
  if (isFault(trouble, "NotFound")) return ["missing", MISSING_AGAIN_MS];
  return ["waiting", WAITING_AGAIN_MS];
}

/** Items of a list name neither version nor kind. */
function whole(object: KubeObject, resource: Resource | undefined): KubeObject {
  if (resource === undefined || (object.apiVersion !== undefined && object.kind !== undefined)) return object;
  const { group, version, kind } = resource;
  return { ...object, apiVersion: group === "" ? version : `${group}/${version}`, kind };
}
