/** One step of a JSONPath. */
export type Step =
  | { is: "field"; name: string }
  | { is: "deep"; name: string }
  | { is: "all" }
  | { is: "index"; at: readonly number[] }
  | { is: "slice"; from: number; to: number | undefined; step: number }
  | Filter;

type Filter = { is: "filter"; left: readonly Step[] } & (
  | { operator: "exists" }
  | { operator: "==" | "!=" | "<" | "<=" | ">" | ">="; right: { path: readonly Step[] } | { value: unknown } }
);

const NAME = /^(?:[^.[\]\\{}]|\\.)+/;
const QUOTED = /^\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]/;
const SLICE = /^\[\s*(?:(-?\d+|-)\s*)?:\s*(?:(-?\d+|-)\s*)?(?::\s*(?:(\d+)\s*)?)?\]/;
const INDEXES = /^\[\s*(-?\d+(?:\s*,\s*-?\d+)*)\s*\]/;
const FILTER = /^\[\?\(((?:'[^']*'|"[^"]*"|[^'")])*)\)\]/;
const COMPARISON = /^((?:'[^']*'|"[^"]*"|[^'"=!<>])*)(==|!=|<=|>=|<|>)(.*)$/s;

/** Reads a path, with or without braces, `$` or `@` before it. Undefined: it is none. */
export function parseJsonPath(text: string): Step[] | undefined {
  const bare = text.startsWith("{") && text.endsWith("}") ? text.slice(1, -1) : text;
  let rest = bare.replace(/^[$@]/, "");
  if (rest !== "" && !/^[.[]/.test(rest)) rest = `.${rest}`;
  const steps: Step[] = [];
  while (rest !== "") {
    const next = readStep(rest);
    if (next === undefined) return undefined;
    if (next.step !== undefined) steps.push(next.step);
    rest = rest.slice(next.length);
  }
  return steps;
}

interface Read {
  /** Undefined: the text says nothing (`.` alone is the object itself). */
  step?: Step;
  length: number;
}

function readStep(rest: string): Read | undefined {
  if (rest === ".") return { length: 1 };
  const dots = rest.startsWith("..") ? 2 : rest.startsWith(".") ? 1 : 0;
  if (dots === 0 || rest[dots] === "[") return readBracket(rest, dots);
  const name = NAME.exec(rest.slice(dots))?.[0];
  if (name === undefined) return undefined;
  const length = dots + name.length;
  if (name === "*" && dots === 1) return { step: { is: "all" }, length };
  return { step: { is: dots === 2 ? "deep" : "field", name: unescaped(name) }, length };
}

function readBracket(text: string, skipped: number): Read | undefined {
  const rest = text.slice(skipped);
  const all = /^\[\s*\*\s*\]/.exec(rest);
  if (all !== null) return { step: { is: "all" }, length: skipped + all[0].length };
  const quoted = QUOTED.exec(rest);
  if (quoted !== null) {
    const name = unescaped(quoted[1] ?? quoted[2] ?? "");
    return { step: { is: "field", name }, length: skipped + quoted[0].length };
  }
  const indexes = INDEXES.exec(rest);
  if (indexes !== null) {
    return { step: { is: "index", at: indexes[1]!.split(",").map(Number) }, length: skipped + indexes[0].length };
  }
  const slice = SLICE.exec(rest);
  if (slice !== null) {
    const [whole, from, to, step] = slice;
    const by = step === undefined || step === "" ? 1 : Number(step);
    if (by === 0) return undefined;
    const read: Step = {
      is: "slice",
      from: Number(from ?? 0),
      to: to === undefined ? undefined : Number(to),
      step: by,
    };
    return { step: read, length: skipped + whole.length };
  }
  const filter = FILTER.exec(rest);
  const step = filter === null ? undefined : readFilter(filter[1]!.trim());
  return step === undefined ? undefined : { step, length: skipped + filter![0].length };
}

function readFilter(condition: string): Filter | undefined {
  const [, leftText, operator, rightText] = COMPARISON.exec(condition) ?? [];
  const left = parseJsonPath((leftText ?? condition).trim());
  if (left === undefined) return undefined;
  if (operator === undefined || rightText === undefined) return { is: "filter", left, operator: "exists" };
  const right = readOperand(rightText.trim());
  return right && { is: "filter", left, operator: operator as "==", right };
}

function readOperand(text: string): { path: Step[] } | { value: unknown } | undefined {
  const quoted = /^(?:'(.*)'|"(.*)")$/s.exec(text);
  if (quoted !== null) return { value: unescaped(quoted[1] ?? quoted[2] ?? "") };
  if (text === "true" || text === "false") return { value: text === "true" };
  if (/^-?\d+(\.\d+)?$/.test(text)) return { value: Number(text) };
  if (!/^[@$]/.test(text)) return undefined;
  const path = parseJsonPath(text);
  return path && { path };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, "$1");
}
