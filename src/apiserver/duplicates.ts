interface Frame {
  /** Keys met so far; undefined in a list. */
  keys: Set<string> | undefined;
  name: string;
  index: number;
}

/**
 * Paths (`spec.list[0].name`) of the fields that a JSON text states twice, each once. `JSON.parse` lets the last one win in silence;
 * strict field validation does not. The text must be valid JSON. Linear, and without recursion.
 */
export function duplicateFields(json: string): string[] {
  const found = new Set<string>();
  eachKey(json, (again, path) => {
    if (again) found.add(path());
  });
  return [...found];
}

/**
 * What strict decoding of a built-in kind minds, in the order of the text: the fields that stand twice, and those at `unknown` paths. Other
 * kinds' unknown fields are only found once the text is read.
 */
export function strangeFields(json: string, unknown: readonly string[]): string[] {
  const strange = new Set(unknown);
  const found = new Set<string>();
  eachKey(json, (again, path) => {
    if (again && !strange.has(path())) found.add(`duplicate field ${JSON.stringify(path())}`);
    if (strange.has(path())) found.add(`unknown field ${JSON.stringify(path())}`);
  });
  return [...found];
}

/** Tells each key of each object, and whether the object had it before. */
function eachKey(json: string, visit: (again: boolean, path: () => string) => void): void {
  const stack: Frame[] = [];
  const path = (): string => pathOf(stack);
  let keyNext = false;
  for (let at = 0; at < json.length; at++) {
    const frame = stack.at(-1);
    switch (json[at]) {
      case "{":
      case "[":
        keyNext = json[at] === "{";
        stack.push({ keys: keyNext ? new Set() : undefined, name: "", index: 0 });
        break;
      case "}":
      case "]":
        stack.pop();
        keyNext = false;
        break;
      case ",":
        keyNext = frame?.keys !== undefined;
        if (frame !== undefined) frame.index++;
        break;
      case '"': {
        const end = endOfText(json, at);
        if (keyNext && frame?.keys !== undefined) {
          frame.name = JSON.parse(json.slice(at, end + 1)) as string;
          visit(frame.keys.has(frame.name), path);
          frame.keys.add(frame.name);
          keyNext = false;
        }
        at = end;
      }
    }
  }
}

/** Where the quote at `at` is closed. */
function endOfText(json: string, at: number): number {
  for (let end = json.indexOf('"', at + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json[end - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return end;
  }
  return json.length;
}

function pathOf(stack: readonly Frame[]): string {
  return stack
    .map(({ keys, name, index }, i) => (keys === undefined ? `[${index}]` : i === 0 ? name : `.${name}`))
    .join("");
}
