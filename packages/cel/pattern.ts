import { RE2JS, RE2JSSyntaxException } from "re2js";

/**
 * A pattern in RE2's syntax, that of Go and so of schemas and CEL. The time of a match is in proportion to the text, whatever the
 * pattern, where JavaScript's own expressions may try for hours.
 */
export class Pattern {
  readonly #compiled: RE2JS;

  /** Throws `SyntaxError` with Go's words for what is no pattern. */
  constructor(source: string) {
    this.#compiled = compiled.get(source) ?? compile(source);
  }

  /** Whether some part of the text matches. */
  test(text: string): boolean {
    return this.#compiled.matcher(text).find();
  }

  /** The first part of a text that matches; undefined when none does. */
  find(text: string): string | undefined {
    return this.all(text, 1)[0];
  }

  /** The parts of a text that match, up to a number of them; an empty one does not follow another at once. */
  all(text: string, limit = Infinity): string[] {
    const parts: string[] = [];
    const matcher = this.#compiled.matcher(text);
    let last = -1;
    while (parts.length < limit && matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()];
      if (end > start || start !== last) parts.push(text.slice(start, end));
      last = end;
    }
    return parts;
  }
}

/** Definitions say the same few patterns in many places. */
const compiled = new Map<string, RE2JS>();
/** Patterns may come from objects. */
const MOST_KEPT = 500;
const LONGEST_KEPT = 1_000;

function compile(source: string): RE2JS {
  try {
    const made = RE2JS.compile(source);
    if (source.length > LONGEST_KEPT) return made;
    if (compiled.size >= MOST_KEPT) compiled.clear();
    compiled.set(source, made);
    return made;
  } catch (cause) {
    if (!(cause instanceof RE2JSSyntaxException)) throw cause;
    throw new SyntaxError(inGo(cause, source), { cause });
  }
}

/** The library's words are Go's, but for the part of the pattern where it names none. */
function inGo(refusal: RE2JSSyntaxException, source: string): string {
  const what = refusal.getDescription();
  const where = refusal.getPattern() ?? (what.startsWith("trailing backslash") ? "" : source);
  return `${what}: \`${where}\``;
}
