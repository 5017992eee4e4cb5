import { Fault, type Http } from "@slipway/base";
import type { ApiRequest, Transport } from "@slipway/kube";

/** When a process dies: at its n-th effect (from 1), just before the effect or just after it. */
export interface Death {
  atEffect: number;
  when: "before" | "after";
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/**
 * The effects of one operator process: its writes to the Kubernetes API and its calls to clouds that change something. They are
 * counted, and at the chosen one the process dies: nothing it had under way ever ends, and nothing it still tries reaches anybody.
 * It may also be paused, as a stopped virtual machine is: its calls and the answers to them wait until it is resumed.
 */
export class Mortal {
  effects = 0;
  /** Calls to clouds, those that only read included. */
  cloudCalls = 0;
  /** Falls asleep just before its n-th effect (from 1), when that has passed every check already. */
  sleepsAtEffect: number | undefined;
  dead = false;
  #paused: PromiseWithResolvers<void> | undefined;
  readonly #death: Death | undefined;

  constructor(death: Death | undefined) {
    this.#death = death;
  }

  /** Whether somebody who asks it gets an answer. */
  get awake(): boolean {
    return !this.dead && this.#paused === undefined;
  }

  transport(inner: Transport): Transport {
    return {
      request: (request) =>
        this.#through(request.method !== "GET" && !isLeaseOrEvent(request), request.signal, () =>
          inner.request(request),
        ),
      watch: (request) => this.#through(false, request.signal, () => inner.watch(request)),
      close: () => inner.close(),
    };
  }

  http(inner: Http): Http {
    return (request) => {
      this.cloudCalls++;
      return this.#through(request.method !== "GET", request.signal, () => inner(request));
    };
  }

  /** An effect on a machine, or with `isEffect` false a look at one. */
  machine<T>(isEffect: boolean, call: () => Promise<T>): Promise<T> {
    return this.#through(isEffect, undefined, call);
  }

  kill(): void {
    this.dead = true;
  }

  pause(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  async #through<T>(isEffect: boolean, signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    if (isEffect && !this.dead && ++this.effects === this.sleepsAtEffect) this.pause();
    if (this.#paused !== undefined) {
      await this.#paused.promise;
      // What was given up meanwhile is not sent any more, as HTTP clients do.
      signal?.throwIfAborted();
    }
    if (this.dead) return await never();
    const last = isEffect && this.effects === this.#death?.atEffect ? this.#death.when : undefined;
    if (last === "before") {
      this.kill();
      return await never();
    }
    const answer = await call();
    await this.#paused?.promise;
    if (last === "after") this.kill();
    return this.dead ? await never() : answer;
  }
}

function isLeaseOrEvent({ path }: ApiRequest): boolean {
  return /\/(leases|events)(\/|$)/.test(path);
}

/** Fails every request of a transport while `down` says so, as a server that is restarted does. */
export function interruptible(inner: Transport, down: () => boolean): Transport {
  const refuse = (): never => {
    throw new Fault("Unavailable", "kubernetes API", "connection refused");
  };
  return {
    request: async (request) => (down() ? refuse() : await inner.request(request)),
    watch: async (request) => (down() ? refuse() : await inner.watch(request)),
    close: () => inner.close(),
  };
}

/** To be called again and again: once the process has died, another takes its place, one alone. */
export function successor(of: Pick<Mortal, "dead">, start: () => Promise<unknown>): () => Promise<void> {
  let isThere = false;
  return async () => {
    if (!of.dead || isThere) return;
    isThere = true;
    await start();
  };
}
