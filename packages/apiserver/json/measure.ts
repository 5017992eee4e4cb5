/** What a JSON text holds. For a text that is no JSON, the numbers mean nothing, but are had all the same. */
export interface JsonMeasure {
  /** Members of objects and items of lists, on all levels. */
  values: number;
  /** Members of objects alone; those that stand twice count twice. */
  keys: number;
  /** Levels of objects and lists. */
  depth: number;
}

/** Counts by one scan of the brackets, colons and commas outside texts: a fraction of what reading the text costs. */
export function measureJson(text: string): JsonMeasure {
  const measure = { values: 0, keys: 0, depth: 0 };
  let level = 0;
  /** The last thing was an opening bracket: whatever follows, but its closer, is a value. */
  let isOpen = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    switch (char) {
      case SPACE:
      case LINE_END:
      case RETURN:
      case TAB:
        continue;
      case OBJECT_END:
      case LIST_END:
        level--;
        isOpen = false;
        continue;
    }
    if (isOpen) measure.values++;
    isOpen = char === OBJECT || char === LIST;
    if (isOpen) {
      if (++level > measure.depth) measure.depth = level;
    } else if (char === COMMA) measure.values++;
    else if (char === COLON) measure.keys++;
    else if (char === QUOTE) at = endOfText(text, at);
  }
  return measure;
}

const [SPACE, LINE_END, RETURN, TAB, OBJECT, OBJECT_END, LIST, LIST_END, COMMA, COLON, QUOTE] = [
  ...' \n\r\t{}[],:"',
].map((char) => char.charCodeAt(0));

/** Where the quote at `at` is closed. */
export function endOfText(json: string, at: number): number {
  for (let end = json.indexOf('"', at + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return json.length;
}

const BACKSLASH = 0x5c;
