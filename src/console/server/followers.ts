import { type Clock, Fault, type Timer } from "@slipway/base";
import { Follower, type FollowerListener, type FollowerPorts } from "./follower.ts";
import type { KindName } from "./kind-name.ts";

export interface FollowersOf extends Omit<FollowerPorts, "clock"> {
  clock: Clock;
  /** Kinds that a session follows at one time, at most. */
  mostKinds: number;
}

/** A page that is loaded anew finds its watches as they were. */
const LINGER_MS = 15_000;

interface Kept {
  follower: Follower;
  ending: AbortController;
  uses: number;
  timer: Timer | undefined;
}

/** The kinds that one session follows: one watch each, however many pages look, which ends some time after the last has gone. */
export class Followers {
  readonly #of: FollowersOf;
  readonly #kept = new Map<string, Kept>();

  constructor(of: FollowersOf) {
    this.#of = of;
  }

  /** Kinds that are followed now. */
  get size(): number {
    return this.#kept.size;
  }

  /** Objects that are held. */
  get objects(): number {
    return [...this.#kept.values()].reduce((sum, { follower }) => sum + follower.size, 0);
  }

  /** Informs the listener of a kind until the answer is called. Throws `Throttled` beyond the most. */
  listen(kind: KindName, namespace: string | undefined, listener: FollowerListener): () => void {
    const key = `${kind.text} ${namespace ?? ""}`;
    const kept = this.#kept.get(key) ?? this.#begin(key, kind, namespace);
    kept.timer?.cancel();
    kept.uses++;
    const stop = kept.follower.listen(listener);
    return () => {
      stop();
      if (--kept.uses === 0) kept.timer = this.#of.clock.after(LINGER_MS, () => this.#end(key, kept));
    };
  }

  close(): void {
    for (const [key, kept] of [...this.#kept]) this.#end(key, kept);
  }

  #begin(key: string, kind: KindName, namespace: string | undefined): Kept {
    // What only lingers makes room.
    for (const [other, kept] of [...this.#kept])
      if (this.#kept.size >= this.#of.mostKinds && kept.uses === 0) this.#end(other, kept);
    if (this.#kept.size >= this.#of.mostKinds)
      throw new Fault("Throttled", "console", `more than ${this.#of.mostKinds} kinds at once in a session`, {
        remedy: "close other pages of the console",
      });
    const ending = new AbortController();
    const follower = new Follower(kind, namespace, this.#of);
    const kept: Kept = { follower, ending, uses: 0, timer: undefined };
    this.#kept.set(key, kept);
    void follower.run(ending.signal);
    return kept;
  }

  #end(key: string, kept: Kept): void {
    kept.timer?.cancel();
    if (this.#kept.get(key) === kept) this.#kept.delete(key);
    kept.ending.abort(new DOMException("nobody looks any more", "AbortError"));
  }
}
