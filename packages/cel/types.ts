/** A type that an expression may have. Types of a schema's objects know their fields by `declared`. */
export type Type =
  | { readonly kind: "simple"; readonly name: string }
  | { readonly kind: "list"; readonly of: readonly [Type] }
  | { readonly kind: "map"; readonly of: readonly [Type, Type] }
  /** A type with a name of its own; only `optional_type` has a parameter. `object`: without parameters by nature. */
  | {
      readonly kind: "opaque" | "object";
      readonly name: string;
      readonly of: readonly Type[];
      readonly declared?: Declared;
    }
  | { readonly kind: "type"; readonly of: readonly Type[] }
  | { readonly kind: "param"; readonly name: string };

const simple = (name: string): Type => ({ kind: "simple", name });
export const DYN = simple("dyn");
export const ERROR = simple("!error!");
export const NULL = simple("null");
export const BOOL = simple("bool");
export const INT = simple("int");
export const UINT = simple("uint");
export const DOUBLE = simple("double");
export const STRING = simple("string");
export const BYTES = simple("bytes");
export const TIMESTAMP = simple("timestamp");
export const DURATION = simple("duration");
const SIMPLE = new Map(
  [DYN, NULL, BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION].map((type) => [typeName(type), type]),
);

/** The type of lists of `item`. */
export const listOf = (item: Type): Type => ({ kind: "list", of: [item] });
/** The type of maps from `key` to `value`. */
export const mapOf = (key: Type, value: Type): Type => ({ kind: "map", of: [key, value] });
/** The type of optional values of `type`. */
export const optionalOf = (type: Type): Type => ({ kind: "opaque", name: "optional_type", of: [type] });
/** The type of a type that stands as a value. */
export const typeOfType = (type: Type): Type => ({ kind: "type", of: [type] });

/** A type as messages name it. */
export function typeName(type: Type): string {
  switch (type.kind) {
    case "simple":
    case "param":
    case "object":
      return type.name;
    case "opaque":
      return type.of.length === 0 ? type.name : `${type.name}(${type.of.map(typeName).join(", ")})`;
    default:
      return type.of.length === 0 ? type.kind : `${type.kind}(${type.of.map(typeName).join(", ")})`;
  }
}

/** Reads a type: `list(T)`, `optional_type(string)`, `net.IP`; a single capital letter is a parameter. `named`: further types. */
export function typeFrom(text: string, named: ReadonlyMap<string, Type>): Type {
  const parts = /^([\w.]+)(?:\((.*)\))?$/s.exec(text.trim());
  if (parts === null) throw new SyntaxError(`not a type: ${text}`);
  const [, name = "", inner] = parts;
  const of = inner === undefined || inner === "" ? [] : splitTypes(inner).map((part) => typeFrom(part, named));
  if (/^[A-Z]$/.test(name)) return { kind: "param", name };
  switch (name) {
    case "list":
      return listOf(of[0]!);
    case "map":
      return mapOf(of[0]!, of[1]!);
    case "type":
      return { kind: "type", of };
    case "optional_type":
      return optionalOf(of[0]!);
  }
  const known = SIMPLE.get(name) ?? named.get(name);
  if (known === undefined) throw new SyntaxError(`no such type: ${name}`);
  return known;
}

/** Splits a list of types at the commas that stand in none of them. */
export function splitTypes(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const char of text) {
    if (char === "," && depth === 0) {
      parts.push(part);
      part = "";
      continue;
    }
    depth += char === "(" ? 1 : char === ")" ? -1 : 0;
    part += char;
  }
  return part.trim() === "" ? parts : [...parts, part];
}

/** Whether two types are the same in all their parts. No type is the same as DYN but DYN. */
export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  if ("name" in a && "name" in b && a.name !== b.name) return false;
  if (a.kind === "simple" || a.kind === "param") return true;
  const [x, y] = [a.of, (b as { of: readonly Type[] }).of];
  return x.length === y.length && x.every((type, i) => sameType(type, y[i]!));
}

const isOpen = (type: Type): boolean => type === DYN || type === ERROR;

/** The types that stand for type parameters, found as expressions are checked. */
export class Substitutions {
  readonly #found = new Map<string, Type>();
  /** What stood for the parameters that were set, the latest last. */
  readonly #before: [parameter: string, type: Type | undefined][] = [];

  /** Whether a value of one type can stand where the other is asked for; what is learnt of parameters is kept if so. */
  assignable(from: readonly Type[], to: readonly Type[]): boolean {
    const mark = this.#before.length;
    if (this.#all(from, to)) return true;
    for (const [parameter, type] of this.#before.splice(mark).reverse())
      if (type === undefined) this.#found.delete(parameter);
      else this.#found.set(parameter, type);
    return false;
  }

  #set(parameter: string, type: Type): void {
    this.#before.push([parameter, this.#found.get(parameter)]);
    this.#found.set(parameter, type);
  }

  /** The type with what is known of its parameters; `close`: those of which nothing is known are dynamic. */
  resolve(type: Type, close = false): Type {
    switch (type.kind) {
      case "simple":
        return type;
      case "param": {
        const found = this.#found.get(type.name);
        return found !== undefined ? this.resolve(found, close) : close ? DYN : type;
      }
      default:
        if (type.of.length === 0) return type;
        return { ...type, of: type.of.map((inner) => this.resolve(inner, close)) } as Type;
    }
  }

  #all(from: readonly Type[], to: readonly Type[]): boolean {
    return from.length === to.length && from.every((type, i) => this.#one(type, to[i]!));
  }

  #one(from: Type, to: Type): boolean {
    if (to.kind === "param") {
      const [valid, known] = this.#stands(from, to);
      if (valid) return true;
      if (known) return false;
    }
    if (from.kind === "param") return this.#stands(to, from)[0];
    if (isOpen(from) || isOpen(to)) return true;
    if (from === NULL) return isNullable(to);
    if (to === NULL) return isNullable(from);
    return this.#alike(from, to);
  }

  /** Types without parameters at their top. */
  #alike(from: Exclude<Type, { kind: "param" }>, to: Type): boolean {
    if (from.kind !== to.kind) return false;
    if (from.kind === "type") return true;
    if (from.kind === "simple" || from.kind === "object") return sameType(from, to);
    if (from.kind === "opaque" && to.kind === "opaque" && from.name !== to.name) return false;
    return this.#all(from.of, (to as typeof from).of);
  }

  /** Whether `type` can stand for a parameter, and whether the parameter is known already. */
  #stands(type: Type, parameter: Type & { kind: "param" }): [valid: boolean, known: boolean] {
    if (sameType(type, parameter)) return [true, true];
    const found = this.#found.get(parameter.name);
    if (found === undefined) {
      if (this.#occurs(parameter, type)) return [false, false];
      this.#set(parameter.name, type);
      return [true, false];
    }
    if (sameType(type, found)) return [true, true];
    if (!this.#one(type, found)) return [false, true];
    const general = moreGeneral(type, found);
    if (!this.#occurs(parameter, general)) this.#set(parameter.name, general);
    return [true, true];
  }

  #occurs(parameter: Type & { kind: "param" }, within: Type): boolean {
    if (sameType(parameter, within)) return true;
    if (within.kind === "param") {
      const found = this.#found.get(within.name);
      return found !== undefined && this.#occurs(parameter, found);
    }
    return within.kind !== "simple" && within.of.some((inner) => this.#occurs(parameter, inner));
  }
}

function isNullable(type: Type): boolean {
  return type === NULL || type.kind === "opaque" || type.kind === "object" || type === TIMESTAMP || type === DURATION;
}

/** Of two types that fit each other, the one that says less. */
export function moreGeneral(a: Type, b: Type): Type {
  return saysNoMore(a, b) ? a : b;
}

function saysNoMore(a: Type, b: Type): boolean {
  if (a === DYN || a.kind === "param") return true;
  if (b === DYN || b.kind === "param" || a.kind !== b.kind) return false;
  if (a.kind === "simple" || a.kind === "object") return sameType(a, b);
  if (a.kind === "type") return true;
  const other = (b as typeof a).of;
  if (a.kind === "opaque" && a.name !== (b as { name: string }).name) return false;
  return a.of.length === other.length && a.of.every((type, i) => saysNoMore(type, other[i]!));
}

/** What an optional type holds; undefined for others. */
export function heldBy(type: Type): Type | undefined {
  return type.kind === "opaque" && type.name === "optional_type" ? type.of[0] : undefined;
}

/** What a schema says to expressions: the type of its values, and how large they can be. */
export interface Declared {
  readonly type: Type;
  /** The most elements of a list or map, characters of a text; 0 for others. */
  readonly max: number;
  /** Bytes of the shortest JSON that the schema allows. */
  readonly smallest: number;
  readonly item?: Declared;
  readonly key?: Declared;
  readonly fields?: ReadonlyMap<string, Declared>;
}
