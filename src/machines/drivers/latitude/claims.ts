import { type Clock, isFault } from "@slipway/base";
import type { LatitudeClient } from "./client.ts";
import { type Mark, readMark } from "./mark.ts";
import { timeOf } from "./observe.ts";
import type { WireServer } from "./wire.ts";

/** A mark without a server is kept this long: the order that it was made for may still be under way. */
export const ORPHAN_AGE_MS = 60 * 60_000;
/** … and must be seen without one for this long. */
export const ORPHAN_SEEN_MS = 10 * 60_000;
/** Orphans removed with one listing, so that a listing stays a listing. */
const SWEEP_AT_ONCE = 5;
/** How many servers are asked about at the same time. */
const AT_ONCE = 8;
/** The provider's times are whole seconds. */
const CLOCK_GRAIN_MS = 1_000;

/**
 * Which server carries which claim: a server belongs to a claim when its deploy configuration names the claim's user data object. Where the provider
 * shows no user data at all, hostname and order of creation decide (the mark's hostname, and not older than the mark); a hostname of Slipway's making is random enough
 * for that. A server that names other user data has no claim. What was found once is remembered: a server keeps its claim, so a
 * process asks about each server once.
 */
export class Claims {
  readonly #client: LatitudeClient;
  readonly #clock: Clock;
  readonly #known = new Map<string, Mark>();
  /** Servers that were asked about and carry no mark. */
  readonly #foreign = new Set<string>();
  /** By id: since when (monotonic) a mark was seen without a server. */
  readonly #orphans = new Map<string, number>();
  /** By claim: marks made for an order that has not been answered with a server yet. */
  readonly #unused = new Map<string, Mark>();
  /** The scan that later callers may join: it has not asked anything yet. */
  #next: Promise<readonly Mark[]> | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(client: LatitudeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** A mark for which a server is being ordered; the next try of the same claim finds it. */
  keep(mark: Mark): void {
    this.#unused.set(mark.claim, mark);
  }

  unused(claim: string, hostname: string): Mark | undefined {
    const mark = this.#unused.get(claim);
    return mark?.hostname === hostname ? mark : undefined;
  }

  /** The server that carries the mark. */
  bind(server: string, mark: Mark): void {
    this.#known.set(server, mark);
    if (this.#unused.get(mark.claim)?.id === mark.id) this.#unused.delete(mark.claim);
  }

  /** The mark of a server as it was learned before. */
  known(server: string): Mark | undefined {
    return this.#known.get(server);
  }

  /** All marks of the project. Calls of the same moment share one scan, and each gets one that began after it called. */
  marks(project: string): Promise<readonly Mark[]> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      const scan = this.#scan(project);
      this.#running = scan.catch(() => {});
      return scan;
    });
    return this.#next;
  }

  /** The mark of a server, asked of the provider unless it is known. `marks`: all of them, scanned after the server was seen. */
  async markOf(server: WireServer, marks: readonly Mark[], signal?: AbortSignal): Promise<Mark | undefined> {
    const known = this.#known.get(server.id);
    if (known !== undefined || marks.length === 0 || this.#foreign.has(server.id)) return known;
    const { hostname, created_at } = server.attributes ?? {};
    const createdAt = timeOf(created_at) ?? this.#clock.now();
    const named = await this.#userDataOf(server.id, signal);
    const namesakes = marks.filter((mark) => mark.hostname === hostname);
    const mark =
      named === undefined
        ? namesakes.find((one) => createdAt + CLOCK_GRAIN_MS >= one.createdAt)
        : marks.find((one) => one.id === named);
    if (mark !== undefined) this.bind(server.id, mark);
    // With a namesake, the provider may not show yet what the server was ordered with.
    else if (named !== undefined || namesakes.length === 0) this.#foreign.add(server.id);
    return mark;
  }

  /** Finds the marks of many servers, a few at a time. */
  async learn(servers: readonly WireServer[], marks: readonly Mark[], signal?: AbortSignal): Promise<void> {
    const unknown = servers.filter((server) => !this.#known.has(server.id));
    for (let at = 0; at < unknown.length; at += AT_ONCE) {
      await Promise.all(unknown.slice(at, at + AT_ONCE).map((server) => this.markOf(server, marks, signal)));
    }
  }

  /** Forgets servers that are gone, and removes marks whose server never came or went without them. */
  async sweep(servers: readonly WireServer[], marks: readonly Mark[], signal?: AbortSignal): Promise<void> {
    const present = new Set(servers.map((server) => server.id));
    for (const id of this.#known.keys()) if (!present.has(id)) this.#known.delete(id);
    for (const id of this.#foreign) if (!present.has(id)) this.#foreign.delete(id);

    const hostnames = new Set(servers.map((server) => server.attributes?.hostname));
    const inUse = new Set([...this.#known.values(), ...this.#unused.values()].map((mark) => mark.id));
    const [now, at] = [this.#clock.now(), this.#clock.monotonic()];
    const orphans = marks.filter((mark) => !hostnames.has(mark.hostname) && !inUse.has(mark.id));
    const since = orphans.map(({ id }) => [id, this.#orphans.get(id) ?? at] as const);
    this.#orphans.clear();
    for (const [id, seenAt] of since) this.#orphans.set(id, seenAt);
    // Seen twice: a list that missed a server for a moment must not cost it its mark.
    const ripe = ({ id, updatedAt }: Mark) =>
      updatedAt <= now - ORPHAN_AGE_MS && this.#orphans.get(id)! <= at - ORPHAN_SEEN_MS;
    for (const { id } of orphans.filter(ripe).slice(0, SWEEP_AT_ONCE)) await this.drop(id, signal);
  }

  /** Deletes a mark; one that is gone is fine. */
  async drop(id: string, signal?: AbortSignal): Promise<void> {
    for (const [claim, mark] of this.#unused) if (mark.id === id) this.#unused.delete(claim);
    try {
      await this.#client.deleteUserData(id, signal);
    } catch (error) {
      if (!isFault(error, "NotFound")) throw error;
    }
  }

  async #userDataOf(server: string, signal?: AbortSignal): Promise<string | undefined> {
    try {
      return (await this.#client.deployConfig(server, signal)).user_data || undefined;
    } catch (error) {
      if (isFault(error, "NotFound")) return undefined;
      throw error;
    }
  }

  async #scan(project: string): Promise<readonly Mark[]> {
    // Shared by several callers, so no single caller's signal may end it; each call in it has its own timeout.
    const all = await this.#client.userData(project);
    return all.flatMap(({ id, attributes }) => {
      const read = readMark(attributes?.description ?? "");
      if (read === undefined) return [];
      const createdAt = timeOf(attributes?.created_at) ?? 0;
      return [{ id, ...read, createdAt, updatedAt: timeOf(attributes?.updated_at) ?? createdAt }];
    });
  }
}
