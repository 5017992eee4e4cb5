import { createHash, timingSafeEqual } from "node:crypto";
import { type Clock, Fault, type Random, type Timer } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { Followers, type FollowersOf } from "./followers.ts";
import type { Who } from "./who.ts";

export interface SessionLimits {
  /** Without a request or an open event stream for so long, a session ends. */
  idleMs: number;
  /** No session lasts longer. */
  longestMs: number;
  /** At one time, of all users. */
  most: number;
  /** Of one user; a further one ends the oldest. */
  mostOfUser: number;
}

export const SESSION_LIMITS: SessionLimits = {
  idleMs: 30 * 60_000,
  longestMs: 12 * 3_600_000,
  most: 500,
  mostOfUser: 10,
};

/** A user who signed in, with a way to the API and watches that nobody else gets. */
export interface Session extends Who {
  /** What a request that changes something must bring as a header. */
  readonly csrf: string;
  readonly transport: Transport;
  readonly followers: Followers;
  /** Aborted when the session ends. */
  readonly ended: AbortSignal;
  /** Open event streams. They count as use. */
  streams: number;
  /** Requests that are on their way to the API. */
  inFlight: number;
}

interface Kept extends Session {
  key: string;
  ending: AbortController;
  beganAt: number;
  usedAt: number;
  lastAt: number;
  timer: Timer | undefined;
}

export interface SessionPorts {
  clock: Clock;
  random: Random;
  /** What follows the kinds of a session. */
  followersOf(session: Pick<Session, "transport" | "ended"> & { refused(): void }): FollowersOf;
}

/** The sessions of a console, in memory: an end of the process ends them. Ids are kept as digests, so a look at the memory's map gives none away. */
export class Sessions {
  readonly #ports: SessionPorts;
  readonly #limits: SessionLimits;
  readonly #kept = new Map<string, Kept>();

  constructor(ports: SessionPorts, limits: SessionLimits = SESSION_LIMITS) {
    this.#ports = ports;
    this.#limits = limits;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Kinds that they follow. */
  get follows(): number {
    return [...this.#kept.values()].reduce((sum, { followers }) => sum + followers.size, 0);
  }

  /** Begins a session under a new id. Throws `Throttled` when there are too many. */
  begin(who: Who, transport: Transport, endsAt?: number): { id: string; session: Session } {
    const { clock, random } = this.#ports;
    const own = [...this.#kept.values()].filter(({ user }) => user === who.user);
    if (own.length >= this.#limits.mostOfUser) this.#end(own[0]!);
    if (this.#kept.size >= this.#limits.most)
      throw new Fault("Throttled", "console", `${this.#limits.most} sessions are open`, { remedy: "try again later" });
    const id = secret(random);
    const ending = new AbortController();
    const now = clock.monotonic();
    const left = endsAt === undefined ? this.#limits.longestMs : Math.min(this.#limits.longestMs, endsAt - clock.now());
    const refused = (): void => this.#end(session);
    const followers = new Followers(this.#ports.followersOf({ transport, ended: ending.signal, refused }));
    const session: Kept = {
      ...{ ...who, transport, followers, ending, ended: ending.signal, csrf: secret(random), key: digest(id) },
      ...{ streams: 0, inFlight: 0, beganAt: now, usedAt: now, lastAt: now + left, timer: undefined },
    };
    this.#kept.set(session.key, session);
    this.#look(session);
    return { id, session };
  }

  /** The session of a cookie; this is a use of it. Undefined: there is none any more. */
  find(id: string | undefined): Session | undefined {
    const session = id === undefined ? undefined : this.#kept.get(digest(id));
    if (session === undefined) return undefined;
    if (this.#left(session) <= 0) return void this.#end(session);
    session.usedAt = this.#ports.clock.monotonic();
    return session;
  }

  /** Ends it: its watches and streams are closed, and its cookie is worth nothing. */
  end(session: Session): void {
    const kept = [...this.#kept.values()].find((one) => one === session);
    if (kept !== undefined) this.#end(kept);
  }

  close(): void {
    for (const session of [...this.#kept.values()]) this.#end(session);
  }

  #left(session: Kept): number {
    const now = this.#ports.clock.monotonic();
    if (session.streams > 0) session.usedAt = now;
    return Math.min(session.usedAt + this.#limits.idleMs, session.lastAt) - now;
  }

  /** One timer a session, which looks again where the session was used meanwhile. */
  #look(session: Kept): void {
    const left = this.#left(session);
    if (left <= 0) this.#end(session);
    else session.timer = this.#ports.clock.after(left, () => this.#look(session));
  }

  #end(session: Kept): void {
    if (!this.#kept.delete(session.key)) return;
    session.timer?.cancel();
    session.ending.abort(new DOMException("the session is over", "AbortError"));
    session.followers.close();
    session.transport.close().catch(() => {});
  }
}

/** Whether a request brings the session's own token. The time that it takes reveals nothing. */
export function isCsrfOf({ csrf }: Session, given: unknown): boolean {
  return typeof given === "string" && timingSafeEqual(Buffer.from(digest(given)), Buffer.from(digest(csrf)));
}

const SECRET_BYTES = 32;

/** A value that nobody can guess. */
export function secret(random: Random): string {
  return Buffer.from(random.bytes(SECRET_BYTES)).toString("base64url");
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
