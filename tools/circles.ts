/** The circles of a graph of imports: each a set of files of which every one imports every other, by however long a way. */
export function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const search = new Search(graph);
  for (const file of graph.keys()) search.visit(file);
  return search.circles;
}

/** Tarjan's algorithm for strongly connected components. */
class Search {
  readonly circles: string[][] = [];
  readonly #graph: ReadonlyMap<string, readonly string[]>;
  readonly #order = new Map<string, number>();
  /** Files that may still be in a circle with the one that is visited. */
  readonly #open: string[] = [];

  constructor(graph: ReadonlyMap<string, readonly string[]>) {
    this.#graph = graph;
  }

  /** The place in the order of the first open file that this one leads to, or its own. `undefined`: it is no open file. */
  visit(file: string): number | undefined {
    const known = this.#order.get(file);
    if (known !== undefined) return this.#open.includes(file) ? known : undefined;
    const own = this.#order.size;
    this.#order.set(file, own);
    this.#open.push(file);
    let lowest = own;
    for (const target of this.#targetsOf(file)) lowest = Math.min(lowest, this.visit(target) ?? own);
    if (lowest === own) this.#close(file);
    return lowest;
  }

  /** No file that was opened after this one leads to what was opened before it. */
  #close(file: string): void {
    const circle = this.#open.splice(this.#open.indexOf(file));
    if (circle.length > 1 || this.#targetsOf(file).includes(file)) this.circles.push(circle.sort());
  }

  #targetsOf(file: string): readonly string[] {
    return (this.#graph.get(file) ?? []).filter((target) => this.#graph.has(target));
  }
}
