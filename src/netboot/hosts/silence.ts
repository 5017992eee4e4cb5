import type { Clock } from "@slipway/base";

/** For how long the agent of each host has been silent, by a clock that can't be set. */
export class Silence {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #spokeAt = new Map<string, number>();
  readonly #beganAt: number;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#beganAt = clock.monotonic();
  }

  /** Notes that the host's agent made a request. */
  ended(name: string): void {
    this.#spokeAt.set(name, this.#clock.monotonic());
  }

  /** Of agents whose last request came before the start, the time since the start. */
  ms(name: string): number {
    return this.#clock.monotonic() - (this.#spokeAt.get(name) ?? this.#beganAt);
  }

  forget(name: string): void {
    this.#spokeAt.delete(name);
  }
}
