/** Letters of all texts together. */
const MOST_CHARS = 16 * 1024 * 1024;

/**
 * The JSON of objects that were in long lists a short time ago. What is stored is replaced and never changed, so another list of the same objects
 * (each replica of an operator makes one when it starts) has the same texts. Those that were asked for least recently go first.
 */
export class ItemTexts {
  readonly #mostChars: number;
  readonly #texts = new Map<object, string>();
  #chars = 0;

  constructor(mostChars = MOST_CHARS) {
    this.#mostChars = mostChars;
  }

  /** Letters that are held. */
  get chars(): number {
    return this.#chars;
  }

  of(item: unknown): string {
    if (typeof item !== "object" || item === null) return JSON.stringify(item);
    const known = this.#texts.get(item);
    const text = known ?? JSON.stringify(item);
    if (known !== undefined) this.#texts.delete(item);
    else this.#chars += text.length;
    this.#texts.set(item, text);
    for (const [oldest, { length }] of this.#texts) {
      if (this.#chars <= this.#mostChars) break;
      this.#texts.delete(oldest);
      this.#chars -= length;
    }
    return text;
  }
}
