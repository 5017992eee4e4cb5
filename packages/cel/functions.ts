import { splitTypes, type Type, typeFrom, typeName } from "./types.ts";
import { CelError, Custom, isList, isMap, Optional, TypeValue, typeOf, type Value } from "./values.ts";

/** One way to call a function. */
export interface Overload {
  /** As cel-go calls it; costs go by it. */
  readonly id: string;
  readonly member: boolean;
  /** With the target first, for members. */
  readonly params: readonly Type[];
  readonly result: Type;
  readonly run: (...args: never[]) => Value;
}

/** The functions that expressions can call, each with its overloads, and the constants and types they can name. */
export class Functions {
  readonly #overloads = new Map<string, Overload[]>();
  readonly #types = new Map<string, Type>();

  /** A type that signatures and expressions may name. */
  type(type: Type): this {
    return this.named(typeName(type), type);
  }

  named(name: string, type: Type): this {
    this.#types.set(name, type);
    return this;
  }

  /**
   * Declares a way to call `name`: `string.(int, int) -> string` for members, `(string) -> bool` for others. `run` gets values of
   * the types it says.
   */
  add(name: string, id: string, signature: string, run: (...args: never[]) => Value): this {
    const [, target, params = "", result = ""] = /^(?:(.*)\.)?\((.*)\) -> (.+)$/s.exec(signature) ?? [];
    const types = [...(target === undefined ? [] : [target]), ...splitTypes(params)];
    const overload: Overload = {
      id,
      member: target !== undefined,
      params: types.map((text) => typeFrom(text, this.#types)),
      result: typeFrom(result, this.#types),
      run,
    };
    const known = this.#overloads.get(name);
    if (known === undefined) this.#overloads.set(name, [overload]);
    else known.push(overload);
    return this;
  }

  overloads(name: string): readonly Overload[] | undefined {
    return this.#overloads.get(name);
  }

  namedType(name: string): Type | undefined {
    return this.#types.get(name);
  }
}

/** The overload that takes these values; of an index, what is indexed counts. Throws `CelError` if there is none. */
export function overloadFor(name: string, overloads: readonly Overload[], args: readonly Value[]): Overload {
  const counted = name === "_[_]" || name === "_[?_]" ? args.slice(0, 1) : args;
  for (const overload of overloads)
    if (overload.params.length === args.length && counted.every((arg, i) => accepts(overload.params[i]!, arg)))
      return overload;
  throw new CelError("no such overload");
}

function accepts(type: Type, value: Value): boolean {
  switch (type.kind) {
    case "param":
      return true;
    case "list":
      return isList(value);
    case "map":
      return isMap(value);
    case "type":
      return value instanceof TypeValue;
    case "opaque":
    case "object":
      return type.name === "optional_type" ? value instanceof Optional : value instanceof Custom && value.type === type;
    case "simple":
      return type.name === "dyn" || SIMPLE_VALUES[type.name] === typeOf(value);
  }
}

const SIMPLE_VALUES: Readonly<Record<string, string>> = {
  null: "null_type",
  bool: "bool",
  int: "int",
  uint: "uint",
  double: "double",
  string: "string",
  bytes: "bytes",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
};
