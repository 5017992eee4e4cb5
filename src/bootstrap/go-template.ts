/**
 * The part of Go's text/template that bootstrap data of Cluster API's Packet provider are written in: `{{ .name }}`, quoted text, `if`, `else` and
 * `end`, comments, trim markers. What is not of this template stays as it is: cloud-init's `{{ v1.instance_id }}`, `{{.Names}}` of a shell script.
 * A name that looks like one of ours and is none is an error, never an empty text. Pure.
 */
import { Fault } from "@slipway/base";

export interface TemplateNames {
  /** Names and their values. */
  values: Readonly<Record<string, string>>;
  /** Names of the original that are not given, and why. */
  refused?: Readonly<Record<string, string>>;
}

type Action =
  | { is: "text"; value: string }
  | { is: "if"; test: Test }
  | { is: "else"; test: Test | undefined }
  | { is: "end" }
  | { is: "comment" };

interface Test {
  negated: boolean;
  value: string;
}

const ACTION = /\{\{(- )?((?:`[^`]*`|"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?\*\/|[^`"}]|\}(?!\}))*?)( -)?\}\}/g;
const FIELD = /^\.([a-z][A-Za-z0-9_]*)$/;
/** Words of the language that are not taken. */
const FOREIGN = /^(range|with|template|define|block|break|continue)\b/;
const MAX_BYTES = 1024 * 1024;

/**
 * The text with all actions carried out. `on`: what the text is, for the fault. Throws `Fault` (`Invalid`) that names the line of an unknown name,
 * of what is not taken, or of an `if` without an end. The fault holds no text of the template beside the action itself.
 */
export function renderGoTemplate(text: string, names: TemplateNames, on: string): string {
  if (Buffer.byteLength(text) > MAX_BYTES) throw new Fault("Invalid", on, "longer than 1 MiB");
  const out = new Output();
  let from = 0;
  for (const match of text.matchAll(ACTION)) {
    const [whole, trimBefore, body = "", trimAfter] = match;
    const line = (): number => text.slice(0, match.index).split("\n").length;
    const refuse = (why: string, remedy?: string): never => {
      throw new Fault("Invalid", on, `line ${line()}: ${why}`, { ...(remedy !== undefined && { remedy }) });
    };
    const action = actionOf(body.trim(), names, refuse);
    if (action === undefined) continue;
    const before = text.slice(from, match.index);
    out.add(trimBefore === undefined ? before : before.trimEnd());
    from = match.index + whole.length;
    if (trimAfter !== undefined) from = afterSpace(text, from);
    out.take(action, line, refuse);
  }
  out.add(text.slice(from));
  const unended = out.open.at(-1);
  if (unended !== undefined) throw new Fault("Invalid", on, `line ${unended.line}: the if has no end`);
  return out.text;
}

function afterSpace(text: string, from: number): number {
  const space = /\s*/y;
  space.lastIndex = from;
  return from + (space.exec(text)?.[0].length ?? 0);
}

/** An if that has not ended. `isTaken`: its text counts now; `wasTaken`: one of its branches did. */
interface Branch {
  line: number;
  isTaken: boolean;
  wasTaken: boolean;
  hasElse: boolean;
}

/** Text of branches that are taken. */
class Output {
  readonly open: Branch[] = [];
  #parts: string[] = [];

  add(text: string): void {
    if (this.open.every(({ isTaken }) => isTaken)) this.#parts.push(text);
  }

  take(action: Action, line: () => number, refuse: Refuse): void {
    if (action.is === "text") this.add(action.value);
    else if (action.is === "else") this.#else(this.open.at(-1) ?? refuse("else without if"), action.test, refuse);
    else if (action.is === "if") {
      const isTaken = holds(action.test);
      this.open.push({ line: line(), isTaken, wasTaken: isTaken, hasElse: false });
    } else if (action.is === "end" && this.open.pop() === undefined) refuse("end without if");
  }

  #else(branch: Branch, test: Test | undefined, refuse: Refuse): void {
    if (branch.hasElse) refuse("a second else");
    branch.hasElse = test === undefined;
    branch.isTaken = !branch.wasTaken && (test === undefined || holds(test));
    branch.wasTaken ||= branch.isTaken;
  }

  get text(): string {
    return this.#parts.join("");
  }
}

type Refuse = (why: string, remedy?: string) => never;

/** Undefined: it is not of this template. */
function actionOf(body: string, names: TemplateNames, refuse: Refuse): Action | undefined {
  if (body.startsWith("/*") && body.endsWith("*/")) return { is: "comment" };
  if (body === "end") return { is: "end" };
  if (body === "else") return { is: "else", test: undefined };
  const [, word, rest] = /^(if|else if)\s+([\s\S]+)$/.exec(body) ?? [];
  if (word !== undefined) {
    const test = testOf(rest!.trim(), names, refuse);
    return word === "if" ? { is: "if", test } : { is: "else", test };
  }
  if (FOREIGN.test(body)) refuse(`${body.split(/\s/)[0]} is not taken in bootstrap data`, "write it out");
  const value = textOf(body, names, refuse);
  return value === undefined ? undefined : { is: "text", value };
}

function testOf(text: string, names: TemplateNames, refuse: Refuse): Test {
  const negated = text.startsWith("not ");
  const value = textOf(negated ? text.slice(4).trim() : text, names, refuse);
  if (value === undefined) refuse("an if takes a name such as .kubernetesVersion, or not and a name");
  return { negated, value: value! };
}

function holds({ negated, value }: Test): boolean {
  return (value !== "") !== negated;
}

function textOf(text: string, { values, refused = {} }: TemplateNames, refuse: Refuse): string | undefined {
  if (/^`[^`]*`$/.test(text)) return text.slice(1, -1);
  if (/^"(?:[^"\\\n]|\\.)*"$/.test(text)) return unquoted(text, refuse);
  const name = FIELD.exec(text)?.[1];
  if (name === undefined) return undefined;
  if (Object.hasOwn(values, name)) return values[name]!;
  if (Object.hasOwn(refused, name)) refuse(`.${name} is not given: ${refused[name]}`);
  const known = Object.keys(values).map((one) => `.${one}`);
  return refuse(
    `there is no name .${name}, but ${known.join(", ")}`,
    `correct it, or write {{ \`{{ .${name} }}\` }} where the machine is to get it as it stands`,
  );
}

function unquoted(text: string, refuse: Refuse): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    return refuse(`${text.slice(0, 40)} is not a quoted text that is taken: write it in back quotes`);
  }
}
