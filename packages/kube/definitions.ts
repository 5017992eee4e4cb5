import type { Clock } from "@slipway/base";
import { CustomResourceDefinition } from "./core.ts";
import { kindName } from "./missing-kinds.ts";
import { metadataOf, type Resource } from "./object.ts";
import { type ReflectorPorts, reflect } from "./reflector.ts";
import { Store } from "./store.ts";
import type { KnownDefinitions } from "./watch-pauses.ts";

/** What is followed of definitions: that they are there, and that they changed. */
const METADATA = metadataOf(CustomResourceDefinition);
/** An account without the right to read definitions is refused each time. */
const BACK_OFF = { baseMs: 800, maxMs: 10 * 60_000, jitter: 0.5 };

/**
 * The definitions of kinds, followed by one watch from the moment when a kind is found missing: such a kind is asked for again when its definition
 * comes or changes, and else seldom. Without the right to read definitions nothing is followed.
 */
export class Definitions implements KnownDefinitions {
  readonly #clock: Clock;
  readonly #store = new Store();
  readonly #waiting = new Map<string, Set<() => void>>();
  #following: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#store.listen(({ object }) => {
      for (const wake of this.#waiting.get(object.metadata.name) ?? []) wake();
    });
  }

  get isFollowed(): boolean {
    return this.#store.synced;
  }

  /** Follows them until `signal` is aborted, and resolves then. Called again, it resolves with the first call. */
  follow(ports: ReflectorPorts, signal: AbortSignal): Promise<void> {
    this.#following ??= reflect({ resource: METADATA }, this.#store, { ...ports, backOff: BACK_OFF }, signal);
    return this.#following;
  }

  versionOf(resource: Resource): string | undefined {
    return this.#store.get(kindName(resource))?.metadata.resourceVersion;
  }

  async changed(resource: Resource, ms: number, signal: AbortSignal): Promise<void> {
    const name = kindName(resource);
    const ended = new AbortController();
    const end = (): void => ended.abort();
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(end));
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    await this.#clock.sleep(ms, ended.signal).catch(() => {});
    signal.removeEventListener("abort", end);
    waiting.delete(end);
  }
}
