import { type Clock, type Fault, isFault, type Log, type Random } from "@slipway/base";
import { type BackOff, backOffMs } from "./back-off.ts";
import type { Resource } from "./object.ts";

const BACK_OFF: BackOff = { baseMs: 800, maxMs: 30_000, jitter: 0.5 };
/** While its definition is followed, a missing kind is asked for just in case: what serves it may have no definition. */
const MISSING: BackOff = { ...BACK_OFF, maxMs: 10 * 60_000 };

/** What is known of kinds' definitions. */
export interface KnownDefinitions {
  /** Whether changes of definitions are seen. */
  readonly isFollowed: boolean;
  /** The version of the definition as it was seen last; undefined: there is none, or none was seen. */
  versionOf(resource: Resource): string | undefined;
  /** Resolves when the kind's definition comes or changes, after so many milliseconds, or when `signal` is aborted. */
  changed(resource: Resource, ms: number, signal: AbortSignal): Promise<void>;
}

export interface WatchPausesPorts {
  clock: Clock;
  random: Random;
  log: Log;
  /** Between two attempts that failed; up to 30 s unless said. */
  backOff?: BackOff;
  /** Says when a kind that is missing is worth another question. Unset: it is asked for as after any failure. */
  definitions?: KnownDefinitions;
}

/**
 * How long a reflector waits after a watch that failed: longer with each failure in a row. A kind that the API does not serve is waited for until its
 * definition changes, where definitions are followed.
 */
export class WatchPauses {
  readonly #resource: Resource;
  readonly #ports: WatchPausesPorts;
  #failures = 0;
  /** The version of the kind's definition that was known before the last attempt. */
  #definition: string | undefined;

  constructor(resource: Resource, ports: WatchPausesPorts) {
    this.#resource = resource;
    this.#ports = ports;
    this.#definition = ports.definitions?.versionOf(resource);
  }

  /** A row of failures has ended. */
  end(): void {
    this.#failures = 0;
  }

  /** Resolves when it is time for the next attempt, or `signal` is aborted. */
  async pass(trouble: Fault, signal: AbortSignal): Promise<void> {
    const { clock, random, log, backOff = BACK_OFF, definitions } = this.#ports;
    const isAwaited = isFault(trouble, "NotFound") && definitions?.isFollowed === true;
    const backOffOf = isAwaited ? MISSING : backOff;
    const waitMs = Math.max(trouble.retryAfterMs ?? 0, backOffMs(backOffOf, this.#failures++, random));
    log.debug({ resource: this.#resource.plural, code: trouble.code, waitMs }, "watch ended, trying again");
    if (!isAwaited) await clock.sleep(waitMs, signal).catch(() => {});
    else await this.#definitionOr(definitions, waitMs, signal);
  }

  /** A definition that came while the last attempt was on its way is worth another at once. After each change attempts begin in a short time again. */
  async #definitionOr(definitions: KnownDefinitions, ms: number, signal: AbortSignal) {
    if (definitions.versionOf(this.#resource) === this.#definition)
      await definitions.changed(this.#resource, ms, signal);
    const version = definitions.versionOf(this.#resource);
    if (version !== this.#definition) this.#failures = 0;
    this.#definition = version;
  }
}
