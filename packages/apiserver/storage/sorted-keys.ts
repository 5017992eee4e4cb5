/** So many keys stand in one piece: adding one moves half as many on average, however many there are. */
const MOST_IN_PIECE = 512;

/** Distinct texts in their order. Adding and deleting take time by the logarithm of their number. */
export class SortedKeys {
  /** None is empty; every key of a piece comes before those of the next. */
  readonly #pieces: string[][] = [];
  #size = 0;
  /** Counts changes: who goes through the keys finds the place again after one. */
  #changes = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a key that is not there. */
  add(key: string): void {
    this.#size++;
    this.#changes++;
    const last = this.#pieces.length - 1;
    if (last < 0) return void this.#pieces.push([key]);
    const at = Math.min(this.#pieceOf(key), last);
    const piece = this.#pieces[at]!;
    const end = piece.length - 1;
    if (piece[end]! < key) piece.push(key);
    else piece.splice(lowerBound(piece, key), 0, key);
    // Names that only grow leave full pieces behind, others halves.
    if (piece.length > MOST_IN_PIECE)
      this.#pieces.splice(at + 1, 0, piece.splice(at === last && piece.at(-1) === key ? -1 : MOST_IN_PIECE / 2));
  }

  /** Deletes a key that is there. */
  delete(key: string): void {
    const at = this.#pieceOf(key);
    const piece = this.#pieces[at];
    const place = piece === undefined ? 0 : lowerBound(piece, key);
    if (piece?.[place] !== key) throw new RangeError(`no key ${key}`);
    this.#size--;
    this.#changes++;
    piece.splice(place, 1);
    if (piece.length === 0) this.#pieces.splice(at, 1);
  }

  /** The keys at and after `first`. What changes meanwhile is seen where it lies ahead. */
  *from(first: string): Generator<string> {
    let at = this.#pieceOf(first);
    let place = at < this.#pieces.length ? lowerBound(this.#pieces[at]!, first) : 0;
    for (;;) {
      const key = this.#pieces[at]?.[place];
      if (key === undefined) return;
      const changes = this.#changes;
      yield key;
      if (changes !== this.#changes) {
        at = this.#pieceOf(key);
        place = at < this.#pieces.length ? lowerBound(this.#pieces[at]!, key) : 0;
        if (this.#pieces[at]?.[place] !== key) continue;
      }
      place++;
      if (place === this.#pieces[at]!.length) {
        at++;
        place = 0;
      }
    }
  }

  /** How many keys come before `key`. Takes time by the number of pieces. */
  before(key: string): number {
    const at = this.#pieceOf(key);
    let count = at < this.#pieces.length ? lowerBound(this.#pieces[at]!, key) : 0;
    for (let i = 0; i < at; i++) count += this.#pieces[i]!.length;
    return count;
  }

  /** The first piece whose last key is not before `key`: where that is, or would be. */
  #pieceOf(key: string): number {
    let low = 0;
    let high = this.#pieces.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#pieces[middle]!.at(-1)! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
