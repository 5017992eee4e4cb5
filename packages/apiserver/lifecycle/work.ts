import { Fault, isFault } from "@slipway/base";
import type { Call, Core } from "../core/call.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { removeObject } from "../verbs/delete.ts";
import type { DeleteOptions } from "../verbs/delete-options.ts";
import { placeOf } from "../verbs/object.ts";

const RETRY_MS = 1000;

/**
 * Keys waiting for one worker, each at most once. A failed key is tried again after a second. Runs in microtasks, so that
 * the server rests as soon as its work is done.
 */
export class Work<K> {
  readonly #keys = new Set<K>();
  readonly #core: Core;
  readonly #name: string;
  readonly #act: (key: K) => Promise<void>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(core: Core, name: string, act: (key: K) => Promise<void>) {
    this.#core = core;
    this.#name = name;
    this.#act = act;
  }

  add(key: K): void {
    if (this.#stop.signal.aborted) return;
    this.#keys.add(key);
    this.#running ??= this.#run();
  }

  /** Resolves when the key at hand is done; no more are taken. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    await undefined;
    for (const key of this.#keys) {
      if (this.#stop.signal.aborted) break;
      this.#keys.delete(key);
      try {
        await this.#act(key);
      } catch (error) {
        this.#retry(key, error);
      }
    }
    this.#running = undefined;
  }

  #retry(key: K, error: unknown): void {
    this.#core.log.warn({ work: this.#name, key, error }, "a step of the server's own failed and is tried again");
    const timer = this.#core.clock.after(RETRY_MS, () => {
      this.#stop.signal.removeEventListener("abort", cancel);
      this.add(key);
    });
    const cancel = (): void => timer.cancel();
    this.#stop.signal.addEventListener("abort", cancel, { once: true });
  }
}

/** What a call of the server's own is about, without a name the collection, and in whose name it is made. */
interface OwnCall {
  namespace?: string;
  name?: string;
  /** Who owns the fields that are written; `kube-controller-manager` unless said. */
  manager?: string;
}

/** A call that the server makes on its own behalf. */
export function ownCall(
  core: Core,
  resource: ServedResource,
  { namespace = "", name = "", manager = "kube-controller-manager" }: OwnCall,
): Call {
  return {
    core,
    user: { name: "system:apiserver", groups: ["system:masters"] },
    resource,
    namespace,
    name,
    subresource: "",
    query: new URLSearchParams({ fieldManager: manager, fieldValidation: "Ignore" }),
    headers: {},
    contentType: "application/json",
    body: undefined,
    warnings: [],
    signal: undefined,
  };
}

/** Deletes an object; that it is gone already is as good. */
export async function deleteQuietly(
  core: Core,
  resource: ServedResource,
  object: Body,
  options: DeleteOptions,
): Promise<void> {
  const call = ownCall(core, resource, object.metadata);
  try {
    await removeObject(call, { uid: object.metadata.uid, ...options });
  } catch (error) {
    const stored = core.store.get(placeOf(call).collection, placeOf(call).key);
    const replaced = stored?.metadata.uid !== object.metadata.uid;
    if (!(error instanceof Fault) || !(isFault(error, "NotFound") || replaced)) throw error;
  }
}
