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

/** Definitions of kinds as whoever misses a kind sees them. */
export interface DefinitionWatch extends KnownDefinitions {
  /** Has them followed from now on, where the account may read them. Resolves when that has ended. Called again, it changes nothing. */
  follow(): Promise<void>;
  /** Calls back with the name of each definition that comes, changes or is deleted, while they are followed. */
  listen(listener: (name: string) => void): void;
}

/**
 * The definitions of kinds, followed by one watch from the moment when a kind is found missing: such a kind is asked for again when its definition
 * comes or changes, and else seldom. Without the right to read definitions nothing is followed.
 */
export class Definitions implements DefinitionWatch {
  readonly #ports: ReflectorPorts;
  readonly #signal: AbortSignal;
  readonly #store = new Store();
  readonly #waiting = new Map<string, Set<() => void>>();
  #following: Promise<void> | undefined;

  /** They are followed until `signal` is aborted. */
  constructor(ports: ReflectorPorts, signal: AbortSignal) {
    this.#ports = ports;
    this.#signal = signal;
    this.listen((name) => {
      for (const wake of this.#waiting.get(name) ?? []) wake();
    });
  }

  listen(listener: (name: string) => void): void {
    this.#store.listen(({ object }) => listener(object.metadata.name));
  }

  get isFollowed(): boolean {
    return this.#store.synced;
  }

  follow(): Promise<void> {
    const ports = { ...this.#ports, backOff: BACK_OFF };
    this.#following ??= reflect({ resource: METADATA }, this.#store, ports, this.#signal);
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
    await this.#ports.clock.sleep(ms, ended.signal).catch(() => {});
    signal.removeEventListener("abort", end);
    waiting.delete(end);
  }
}
