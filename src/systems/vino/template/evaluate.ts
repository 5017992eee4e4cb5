/** Carries out a template on data, as Go does, within bounds. An unknown field of an object of ours is an error; a missing key of a map is empty. Pure. */
import { Fault, isFault } from "@slipway/base";
import { FUNCTIONS } from "./functions.ts";
import { type Node, type Operand, type Pipeline, parseTemplate } from "./parse.ts";
import { type Dict, isEmpty, isObject, printed, type Value } from "./value.ts";

const MOST_STEPS = 100_000;
const LONGEST = 256 * 1024;

/** The text. `on`: what the template is, for the fault. Throws a `Fault` (`Invalid`) with the line of what can't be carried out. */
export function renderTemplate(template: string, data: Value, on: string): string {
  const nodes = parseTemplate(template, on);
  const run = new Run(on);
  run.all(nodes, data, new Map([["$", data]]));
  return run.text;
}

type Scope = Map<string, Value>;

class Run {
  readonly #on: string;
  readonly #parts: string[] = [];
  #length = 0;
  #steps = 0;
  #line = 1;

  constructor(on: string) {
    this.#on = on;
  }

  get text(): string {
    return this.#parts.join("");
  }

  all(nodes: readonly Node[], dot: Value, scope: Scope): void {
    for (const node of nodes) this.#one(node, dot, scope);
  }

  #one(node: Node, dot: Value, scope: Scope): void {
    if (++this.#steps > MOST_STEPS) this.#refuse(`more than ${MOST_STEPS} steps`);
    if (node.is === "text") {
      this.#add(node.text);
      return;
    }
    this.#line = node.line;
    const value = this.#pipeline(node.pipeline, dot, scope);
    if (node.is === "print") this.#add(printed(value));
    else if (node.is === "set") this.#set(node, value, scope);
    else if (isEmpty(value)) this.all(node.otherwise, dot, inner(scope));
    else if (node.is === "range") this.#range(node, value, scope);
    else this.all(node.body, node.is === "with" ? value : dot, inner(scope));
  }

  #set({ name, isNew }: Extract<Node, { is: "set" }>, value: Value, scope: Scope): void {
    if (isNew) scope.set(name, value);
    else if (scope.has(name)) assign(scope, name, value);
    else this.#refuse(`there is no ${name}`);
  }

  #range(node: Extract<Node, { is: "range" }>, value: Value, scope: Scope): void {
    for (const [key, item] of this.#items(value)) {
      const own = inner(scope);
      if (node.key !== undefined) own.set(node.key, key);
      if (node.value !== undefined) own.set(node.value, item);
      this.all(node.body, item, own);
    }
  }

  #items(value: Value): [Value, Value][] {
    if (Array.isArray(value)) return value.map((item, i) => [i, item]);
    // As Go does: in the order of the keys.
    if (isObject(value)) return Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return this.#refuse("range takes a list or a map");
  }

  #pipeline(pipeline: Pipeline, dot: Value, scope: Scope): Value {
    let value: Value;
    for (const [i, command] of pipeline.entries()) value = this.#command(command, dot, scope, i === 0 ? [] : [value]);
    return value;
  }

  #command([first, ...rest]: readonly Operand[], dot: Value, scope: Scope, piped: readonly Value[]): Value {
    const args = [...rest.map((operand) => this.#operand(operand, dot, scope)), ...piped];
    if (first?.is !== "call") {
      if (args.length > 0) this.#refuse("a value takes no arguments");
      return this.#operand(first!, dot, scope);
    }
    return this.#call(first.name, args);
  }

  #call(name: string, args: readonly Value[]): Value {
    if (++this.#steps > MOST_STEPS) this.#refuse(`more than ${MOST_STEPS} steps`);
    const own = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name]! : undefined;
    if (own === undefined)
      return this.#refuse(`there is no function ${name}, but ${Object.keys(FUNCTIONS).join(", ")}`);
    try {
      return own(...args);
    } catch (error) {
      if (isFault(error)) throw error;
      return this.#refuse(`${name}: ${(error as Error).message}`);
    }
  }

  #operand(operand: Operand, dot: Value, scope: Scope): Value {
    if (operand.is === "value") return operand.value;
    if (operand.is === "call") return this.#call(operand.name, []);
    if (operand.is === "group") return this.#fields(this.#pipeline(operand.pipeline, dot, scope), operand.fields);
    if (operand.from === ".") return this.#fields(dot, operand.fields);
    if (!scope.has(operand.from)) this.#refuse(`there is no ${operand.from}`);
    return this.#fields(scope.get(operand.from), operand.fields);
  }

  #fields(value: Value, fields: readonly string[]): Value {
    let at = value;
    for (const field of fields) {
      if (!isObject(at)) return this.#refuse(`there is nothing that has .${field}`);
      if (Object.hasOwn(at, field)) at = at[field];
      else if (isOurs(at))
        return this.#refuse(
          `there is no .${field}, but ${Object.keys(at)
            .map((one) => `.${one}`)
            .join(", ")}`,
        );
      else at = undefined;
    }
    return at;
  }

  #add(text: string): void {
    this.#length += text.length;
    if (this.#length > LONGEST) this.#refuse("the text is longer than 256 KiB");
    this.#parts.push(text);
  }

  #refuse(why: string): never {
    throw new Fault("Invalid", this.#on, `line ${this.#line}: ${why}`);
  }
}

/** Objects of Go's types have names that begin with a capital; maps may have any key. */
const isOurs = (value: Dict): boolean =>
  Object.keys(value).length > 0 && Object.keys(value).every((key) => /^[A-Z]/.test(key));

/** What is declared inside ends there; what is assigned counts outside, too. */
const inner = (scope: Scope): Scope => Object.assign(new Map(scope), { outer: scope });

function assign(scope: Scope & { outer?: Scope }, name: string, value: Value): void {
  for (let at: (Scope & { outer?: Scope }) | undefined = scope; at?.has(name); at = at.outer) at.set(name, value);
}
