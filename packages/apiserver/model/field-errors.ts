import type { FieldError } from "./served.ts";

/** What one refusal holds at most. Paths may be long and stand in each error, so their number alone bounds nothing. */
export const MAX_ERROR_CHARS = 256 * 1024;

/** Field errors in order, equal ones once, until they hold `MAX_ERROR_CHARS`; one is always kept. */
export class FieldErrors implements Iterable<FieldError> {
  readonly #list: FieldError[] = [];
  #known: Set<string> | undefined;
  #left = MAX_ERROR_CHARS;

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  /** No more are taken. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  add(error: FieldError): void {
    if (this.#left <= 0) return;
    const size = error.field.length + error.message.length;
    // Most values have no errors, and most refusals have one.
    if (this.#list.length > 0) {
      this.#known ??= new Set(this.#list.map(keyOf));
      const key = keyOf(error);
      if (this.#known.has(key)) return;
      this.#known.add(key);
    }
    this.#left -= size;
    this.#list.push(error);
  }

  [Symbol.iterator](): Iterator<FieldError> {
    return this.#list.values();
  }
}

function keyOf({ field, message }: FieldError): string {
  return `${field}\n${message}`;
}

/** The first of `errors`, as many as `MAX_ERROR_CHARS` hold; at least one. */
export function reportedErrors(errors: readonly FieldError[]): readonly FieldError[] {
  let left = MAX_ERROR_CHARS;
  for (const [i, { field, message }] of errors.entries()) {
    if (left <= 0) return errors.slice(0, i);
    left -= field.length + message.length;
  }
  return errors;
}
