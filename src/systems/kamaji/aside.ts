import { type Clock, deadline, Fault } from "@slipway/base";

/** So long a worker waits for it. */
const WAIT_MS = 1_000;
/** So long it may take. */
const MOST_MS = 120_000;

interface Work {
  key: string;
  abort: AbortController;
  /** A worker waits for it; else its end is reported. */
  isAwaited: boolean;
  /** Never rejects. */
  done: Promise<void>;
  result?: { value: unknown } | { error: unknown };
}

/** Work at tenants' own APIs, beside the controller's workers: one whose API hangs, or whose webhooks do, holds up nobody else (B24). */
export class Aside {
  readonly #underway = new Map<string, Work>();
  readonly #listeners = new Set<(id: string) => void>();

  /**
   * One piece of work at a time for each tenant; `key` says which. Undefined: it takes longer, and `onDone` reports its end; the next call
   * with the same key gets what came of it. Rejects with what the work rejects with, `Timeout` after two minutes.
   */
  async run<T>(
    id: string,
    key: string,
    work: (signal: AbortSignal) => Promise<T>,
    { clock, signal }: { clock: Clock; signal: AbortSignal },
  ): Promise<{ value: T } | undefined> {
    let held = this.#underway.get(id);
    if (held !== undefined && held.key !== key) {
      // What it still asks for must not come after what is wanted now.
      if (held.result === undefined) return undefined;
      this.#underway.delete(id);
      held = undefined;
    }
    if (held === undefined) {
      held = this.#begin(id, key, work, clock);
      await firstOf(held.done, { clock, signal }).finally(() => {
        held!.isAwaited = false;
      });
    }
    const { result } = held;
    if (result === undefined) return undefined;
    this.#underway.delete(id);
    if ("error" in result) throw result.error;
    return result as { value: T };
  }

  /** Calls back with the id of a tenant whose work took longer, when it ends. Returns what ends that. */
  onDone(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  forget(id: string): void {
    this.#underway.get(id)?.abort.abort();
    this.#underway.delete(id);
  }

  /** Ends all that is under way. */
  stop(): void {
    for (const id of [...this.#underway.keys()]) this.forget(id);
  }

  #begin<T>(id: string, key: string, work: (signal: AbortSignal) => Promise<T>, clock: Clock): Work {
    const abort = new AbortController();
    const limit = deadline(clock, MOST_MS, abort.signal);
    const begun: Work = { key, abort, isAwaited: true, done: Promise.resolve() };
    begun.done = ended(work, limit.signal).then((result) => {
      limit.done();
      begun.result = result;
      if (!begun.isAwaited) for (const listener of this.#listeners) listener(id);
    });
    this.#underway.set(id, begun);
    return begun;
  }
}

/** Also where the work does not heed the signal. */
async function ended<T>(
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<{ value: T } | { error: unknown }> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void =>
    reject(new Fault("Timeout", "the tenant's API", `it has not answered within ${MOST_MS / 1000} s`));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return { value: await Promise.race([work(signal), aborted]) };
  } catch (error) {
    return { error };
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function firstOf(done: Promise<void>, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<void> {
  const limit = deadline(clock, WAIT_MS, signal);
  const { promise: over, resolve } = Promise.withResolvers<void>();
  limit.signal.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([done, over]);
  limit.done();
  signal.throwIfAborted();
}
