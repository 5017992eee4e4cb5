/**
 * The largest flow through a network whose edges carry one unit each, but for those that are given more (Edmonds and Karp: shortest ways
 * first). Of ways that are equally short the one whose edges were added first is taken, so the same network gives the same flow.
 */
export class FlowNetwork {
  readonly #to: number[] = [];
  readonly #left: number[] = [];
  readonly #edges: number[][] = [];

  /** A new node's number. */
  node(): number {
    return this.#edges.push([]) - 1;
  }

  /** Adds an edge. Returns its number, for `flows`. */
  edge(from: number, to: number, capacity = 1): number {
    const at = this.#to.length;
    this.#to.push(to, from);
    this.#left.push(capacity, 0);
    this.#edges[from]!.push(at);
    this.#edges[to]!.push(at + 1);
    return at;
  }

  /** Fills the network. Returns the units that flow from `source` to `sink`. */
  fill(source: number, sink: number): number {
    for (let units = 0; ; units++) {
      const way = this.#shortest(source, sink);
      if (way === undefined) return units;
      for (const edge of way) {
        this.#left[edge]!--;
        this.#left[edge ^ 1]!++;
      }
    }
  }

  /** Whether something flows through the edge. */
  flows(edge: number): boolean {
    return this.#left[edge ^ 1]! > 0;
  }

  /** The edges of a way with room for one more unit; undefined: there is none. */
  #shortest(source: number, sink: number): number[] | undefined {
    const by = new Array<number>(this.#edges.length).fill(-1);
    const queue = [source];
    for (let at = 0; at < queue.length; at++)
      for (const edge of this.#edges[queue[at]!]!) {
        const to = this.#to[edge]!;
        if (this.#left[edge]! === 0 || by[to] !== -1 || to === source) continue;
        by[to] = edge;
        if (to === sink) return this.#back(by, sink, source);
        queue.push(to);
      }
    return undefined;
  }

  #back(by: readonly number[], sink: number, source: number): number[] {
    const way: number[] = [];
    for (let at = sink; at !== source; at = this.#to[way.at(-1)! ^ 1]!) way.push(by[at]!);
    return way;
  }
}
