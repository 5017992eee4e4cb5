/** Who makes room when there is none. Pure: it knows each record's size and rank and decides which leave; it changes nothing else. */

/** How much there may be. `bytes` are those that a record takes on the disk. */
export interface Bounds {
  /** In all. */
  hosts: number;
  bytes: number;
  /** Of one source, those that may never leave not counted. */
  hostsPerSource: number;
  bytesPerSource: number;
}

/**
 * What a record is worth. `seen`: it has reported nothing. `registered`: its agent has reported. `kept`: it is trusted, has an order or a boot of
 * its own; such a record never leaves.
 */
export type Rank = "seen" | "registered" | "kept";

/** A record as far as room is concerned. */
export interface Place {
  /** Where the machine is: `link`, or `relay:GIADDR/CIRCUIT`. */
  source: string;
  rank: Rank;
  bytes: number;
}

/** What is to become free; none where it is zero or less. */
interface Lack {
  hosts: number;
  bytes: number;
}

/** Who may be chosen to leave. */
interface Candidates {
  /** Of the record that the room is for. */
  rank: Rank;
  /** The record itself, and those that were chosen before. */
  isOut(name: string): boolean;
  isKept(name: string): boolean;
}

type Leaving = Exclude<Rank, "kept">;

/** In this order they leave. */
const ORDER: readonly Leaving[] = ["seen", "registered"];

/** Names that may leave, by rank; the one that was silent longest stands first. */
class Queue {
  readonly #names: Readonly<Record<Leaving, Set<string>>> = { seen: new Set(), registered: new Set() };
  bytes = 0;

  get size(): number {
    return this.#names.seen.size + this.#names.registered.size;
  }

  add(name: string, { rank, bytes }: Place): void {
    if (rank === "kept") return;
    this.#names[rank].add(name);
    this.bytes += bytes;
  }

  remove(name: string, { rank, bytes }: Place): void {
    if (rank === "kept") return;
    this.#names[rank].delete(name);
    this.bytes -= bytes;
  }

  /** Those that may leave for a record of this rank: none is worth more than the one it makes room for. */
  *leaving(rank: Rank): Generator<string> {
    for (const each of ORDER) {
      yield* this.#names[each];
      if (each === rank) return;
    }
  }
}

/**
 * All records by what they take. A source that is full makes room in itself; where all is full, any source does. First leave those that were
 * merely seen, then those that registered and are not trusted; among equals the one that was silent longest. A record makes no room for one that is worth less.
 */
export class Occupancy {
  readonly #bounds: Bounds;
  readonly #places = new Map<string, Place>();
  readonly #all = new Queue();
  readonly #sources = new Map<string, Queue>();
  #bytes = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#places.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What may leave of one source. */
  of(source: string): { hosts: number; bytes: number } {
    const queue = this.#sources.get(source);
    return { hosts: queue?.size ?? 0, bytes: queue?.bytes ?? 0 };
  }

  /** Notes a record, in the place of what was known of it, as the one that spoke last. */
  put(name: string, place: Place): void {
    this.remove(name);
    this.#places.set(name, place);
    this.#bytes += place.bytes;
    this.#all.add(name, place);
    let queue = this.#sources.get(place.source);
    if (queue === undefined) {
      queue = new Queue();
      this.#sources.set(place.source, queue);
    }
    queue.add(name, place);
  }

  remove(name: string): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    this.#places.delete(name);
    this.#bytes -= place.bytes;
    this.#all.remove(name, place);
    // A source of which only kept records are left has no queue.
    const queue = this.#sources.get(place.source);
    queue?.remove(name, place);
    if (queue?.size === 0) this.#sources.delete(place.source);
  }

  /**
   * Who leaves so that `name` may be `place`, in order; undefined: there is no room for it. `isKept` says of each that would leave whether it
   * has become worth keeping meanwhile.
   */
  roomFor(name: string, place: Place, isKept: (name: string) => boolean): string[] | undefined {
    const before = this.#places.get(name);
    const leaving = new Set<string>();
    const candidates = { rank: place.rank, isOut: (each: string) => each === name || leaving.has(each), isKept };
    if (place.rank !== "kept") {
      const own = this.#choose(this.#sources.get(place.source), this.#lackOfSource(place, before), candidates);
      if (own === undefined) return undefined;
      for (const each of own) leaving.add(each);
    }
    let gone = 0;
    for (const each of leaving) gone += this.#places.get(each)!.bytes;
    const { hosts, bytes } = this.#bounds;
    const lack = {
      hosts: this.size - leaving.size + (before === undefined ? 1 : 0) - hosts,
      bytes: this.#bytes - gone - (before?.bytes ?? 0) + place.bytes - bytes,
    };
    const others = this.#choose(this.#all, lack, candidates);
    return others && [...leaving, ...others];
  }

  /** By how much the source of a record that may leave is over its bounds with it; zero and less: there is room. */
  #lackOfSource(place: Place, before: Place | undefined): Lack {
    const { hostsPerSource, bytesPerSource } = this.#bounds;
    const own = this.of(place.source);
    const counted = before !== undefined && before.rank !== "kept" && before.source === place.source;
    return {
      hosts: own.hosts + (counted ? 0 : 1) - hostsPerSource,
      bytes: own.bytes - (counted ? before.bytes : 0) + place.bytes - bytesPerSource,
    };
  }

  /** The first of a queue that cover what is lacking; undefined: all of them do not. */
  #choose(queue: Queue | undefined, lack: Lack, { rank, isOut, isKept }: Candidates): string[] | undefined {
    let { hosts, bytes } = lack;
    const chosen: string[] = [];
    const isCovered = (): boolean => hosts <= 0 && bytes <= 0;
    if (isCovered()) return chosen;
    for (const each of queue?.leaving(rank) ?? []) {
      if (isCovered()) break;
      if (isOut(each)) continue;
      const its = this.#places.get(each)!;
      if (isKept(each)) {
        this.put(each, { ...its, rank: "kept" });
        continue;
      }
      chosen.push(each);
      hosts--;
      bytes -= its.bytes;
    }
    return isCovered() ? chosen : undefined;
  }
}
