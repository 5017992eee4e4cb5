/** Reads the part of Go's text/template that network data of ViNO are written in: pipelines, variables, if, range, with, comments, trim markers. Pure. */
import { Fault } from "@slipway/base";

export type Operand =
  | { is: "value"; value: string | number | boolean | null }
  | { is: "path"; from: "." | "$" | string; fields: readonly string[] }
  | { is: "call"; name: string }
  | { is: "group"; pipeline: Pipeline; fields: readonly string[] };

/** Commands, each of which takes the one before as its last argument. */
export type Pipeline = readonly (readonly Operand[])[];

export type Node =
  | { is: "text"; text: string }
  | { is: "print"; pipeline: Pipeline; line: number }
  | { is: "set"; name: string; pipeline: Pipeline; isNew: boolean; line: number }
  | { is: "if" | "with"; pipeline: Pipeline; body: Node[]; otherwise: Node[]; line: number }
  | { is: "range"; key?: string; value?: string; pipeline: Pipeline; body: Node[]; otherwise: Node[]; line: number };

type Branch = Extract<Node, { body: Node[] }>;

const ACTION = /\{\{(- )?\s*(\/\*[\s\S]*?\*\/|(?:`[^`]*`|"(?:[^"\\\n]|\\.)*"|[^`"}]|\}(?!\}))*?)\s*( -)?\}\}/g;
const WORD =
  /\s+|(`[^`]*`|"(?:[^"\\\n]|\\.)*")|(-?\d+(?:\.\d+)?)|(\$[A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)|(\.(?:[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)?)|([A-Za-z_][A-Za-z0-9_]*)|(:=|=|\||\(|\)|,)/y;
const LONGEST = 256 * 1024;
const DEEPEST = 50;

/** The template's parts. `on`: what it is, for the fault. Throws a `Fault` (`Invalid`) with the line of what is not taken. */
export function parseTemplate(text: string, on: string): Node[] {
  if (Buffer.byteLength(text) > LONGEST) throw new Fault("Invalid", on, "longer than 256 KiB");
  const root: Node[] = [];
  const open: { branch: Branch; into: Node[] }[] = [];
  const into = (): Node[] => open.at(-1)?.into ?? root;
  let from = 0;
  let line = 1;
  const add = (piece: string): void => void (piece !== "" && into().push({ is: "text", text: piece }));
  let trims = false;
  for (const match of text.matchAll(ACTION)) {
    const [whole, trimBefore, body = "", trimAfter] = match;
    const before = text.slice(from, match.index);
    line += before.split("\n").length - 1;
    const kept = trims ? before.trimStart() : before;
    add(trimBefore === undefined ? kept : kept.trimEnd());
    trims = trimAfter !== undefined;
    from = match.index + whole.length;
    new Reader(body.trim(), line, on).action(into(), open);
    if (open.length > DEEPEST) throw new Fault("Invalid", on, `line ${line}: nested deeper than ${DEEPEST}`);
    line += whole.split("\n").length - 1;
  }
  add(trims ? text.slice(from).trimStart() : text.slice(from));
  const unended = open.at(-1)?.branch;
  if (unended !== undefined) throw new Fault("Invalid", on, `line ${unended.line}: the ${unended.is} has no end`);
  return root;
}

/** Reads one action. */
class Reader {
  readonly #words: string[] = [];
  readonly #line: number;
  readonly #on: string;
  #at = 0;

  constructor(body: string, line: number, on: string) {
    this.#line = line;
    this.#on = on;
    if (body.startsWith("/*")) return;
    for (let i = 0; i < body.length; i = WORD.lastIndex) {
      WORD.lastIndex = i;
      const found = WORD.exec(body);
      if (found === null) this.#refuse(`${JSON.stringify(body.slice(i, i + 20))} is not taken`);
      else if (found[0].trim() !== "") this.#words.push(found[0]);
    }
  }

  action(into: Node[], open: { branch: Branch; into: Node[] }[]): void {
    const [first] = this.#words;
    const line = this.#line;
    if (first === undefined) return;
    if (first === "end") {
      if (open.pop() === undefined) this.#refuse("end without a beginning");
      this.#end(1);
    } else if (first === "else") this.#else(open);
    else if (first === "if" || first === "with") {
      this.#at = 1;
      this.#begin({ is: first, pipeline: this.#whole(), body: [], otherwise: [], line }, into, open);
    } else if (first === "range") this.#range(into, open);
    else if (/^(template|define|block|break|continue)$/.test(first)) this.#refuse(`${first} is not taken`);
    else this.#value(into);
  }

  #value(into: Node[]): void {
    const [first = "", second] = this.#words;
    const line = this.#line;
    if (first.startsWith("$") && (second === ":=" || second === "=")) {
      this.#at = 2;
      into.push({ is: "set", name: first, pipeline: this.#whole(), isNew: second === ":=", line });
    } else into.push({ is: "print", pipeline: this.#whole(), line });
  }

  #begin(branch: Branch, into: Node[], open: { branch: Branch; into: Node[] }[]): void {
    into.push(branch);
    open.push({ branch, into: branch.body });
  }

  #else(open: { branch: Branch; into: Node[] }[]): void {
    const last = open.at(-1);
    if (last === undefined || last.into === last.branch.otherwise) this.#refuse("else without a beginning");
    const { branch } = last!;
    if (this.#words[1] === "if") {
      this.#at = 2;
      const inner: Branch = { is: "if", pipeline: this.#whole(), body: [], otherwise: [], line: this.#line };
      branch.otherwise.push(inner);
      // Its end is the end of both.
      last!.branch = inner;
      last!.into = inner.body;
    } else {
      this.#end(1);
      last!.into = branch.otherwise;
    }
  }

  #range(into: Node[], open: { branch: Branch; into: Node[] }[]): void {
    const [, a, b, c, d] = this.#words;
    const line = this.#line;
    const both = b === "," && d === ":=";
    const names = both ? { key: a!, value: c! } : b === ":=" ? { value: a! } : {};
    this.#at = both ? 5 : b === ":=" ? 3 : 1;
    this.#begin({ is: "range", ...names, pipeline: this.#whole(), body: [], otherwise: [], line }, into, open);
  }

  #whole(): Pipeline {
    const pipeline = this.#pipeline(0);
    this.#end(this.#at);
    return pipeline;
  }

  #pipeline(depth: number): Pipeline {
    if (depth > DEEPEST) this.#refuse(`nested deeper than ${DEEPEST}`);
    const commands: Operand[][] = [[]];
    for (let word = this.#words[this.#at]; word !== undefined && word !== ")"; word = this.#words[this.#at]) {
      this.#at++;
      if (word === "|") commands.push([]);
      else commands.at(-1)!.push(word === "(" ? this.#group(depth) : this.#operand(word));
    }
    if (commands.some((command) => command.length === 0)) this.#refuse("a value is missing");
    return commands;
  }

  #group(depth: number): Operand {
    const pipeline = this.#pipeline(depth + 1);
    if (this.#words[this.#at++] !== ")") this.#refuse("a ) is missing");
    const next = this.#words[this.#at];
    const fields = next !== undefined && /^\.[A-Za-z_]/.test(next) ? next.slice(1).split(".") : [];
    if (fields.length > 0) this.#at++;
    return { is: "group", pipeline, fields };
  }

  #operand(word: string): Operand {
    if (word.startsWith("`")) return { is: "value", value: word.slice(1, -1) };
    if (word.startsWith('"')) return { is: "value", value: this.#unquoted(word) };
    if (/^-?\d/.test(word)) return { is: "value", value: Number(word) };
    if (word === "true" || word === "false") return { is: "value", value: word === "true" };
    if (word === "nil") return { is: "value", value: null };
    if (word.startsWith("$")) {
      const [from = "$", ...fields] = word.split(".");
      return { is: "path", from, fields };
    }
    if (word.startsWith(".")) return { is: "path", from: ".", fields: word.split(".").filter((field) => field !== "") };
    if (/^[A-Za-z_]/.test(word)) return { is: "call", name: word };
    return this.#refuse(`${JSON.stringify(word)} is not taken here`);
  }

  #unquoted(word: string): string {
    try {
      return JSON.parse(word) as string;
    } catch {
      return this.#refuse(`${word.slice(0, 40)} is not a quoted text that is taken: write it in back quotes`);
    }
  }

  #end(at: number): void {
    if (this.#words[at] !== undefined) this.#refuse(`${JSON.stringify(this.#words[at])} is not taken here`);
  }

  #refuse(why: string): never {
    throw new Fault("Invalid", this.#on, `line ${this.#line}: ${why}`);
  }
}
