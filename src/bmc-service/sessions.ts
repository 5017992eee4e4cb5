import type { Clock, Random } from "@slipway/base";
import { type Account, isSame } from "./accounts.ts";

export interface Session {
  id: string;
  token: string;
  account: Account;
  /** Monotonic. */
  usedAt: number;
}

export interface SessionOptions {
  clock: Clock;
  random: Random;
  /** A session that nobody uses for so long ends. */
  timeoutMs: number;
  most: number;
}

/** Sessions in memory. An unused one ends after its time; there are never more than so many. */
export class Sessions {
  readonly #options: SessionOptions;
  readonly #sessions = new Map<string, Session>();
  #count = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  list(): readonly Session[] {
    const now = this.#options.clock.monotonic();
    for (const { id, usedAt } of this.#sessions.values())
      if (now - usedAt >= this.#options.timeoutMs) this.#sessions.delete(id);
    return [...this.#sessions.values()];
  }

  /** Undefined: there are too many. */
  open(account: Account): Session | undefined {
    const { clock, random, most } = this.#options;
    if (this.list().length >= most) return undefined;
    const token = Buffer.from(random.bytes(32)).toString("hex");
    const session = { id: String(++this.#count), token, account, usedAt: clock.monotonic() };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** The session of a token, which counts as used. */
  use(token: string): Session | undefined {
    const session = this.list().find((one) => isSame(one.token, token));
    if (session !== undefined) session.usedAt = this.#options.clock.monotonic();
    return session;
  }

  get(id: string): Session | undefined {
    return this.list().find((one) => one.id === id);
  }

  close(id: string): void {
    this.#sessions.delete(id);
  }

  /** Ends all at once, as a restart does. */
  clear(): void {
    this.#sessions.clear();
  }
}
