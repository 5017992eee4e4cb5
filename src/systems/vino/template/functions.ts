/** Functions of templates: Go's own and those of sprig that network data need. Pure; each throws with what its arguments lack. */
import { isEmpty, isObject, printed, type Value } from "./value.ts";

type Fn = (...args: Value[]) => Value;

function dictOf(value: Value): Record<string, Value> {
  if (isObject(value)) return value;
  throw new Error("it takes a dict");
}

function keyOf(value: Value): string {
  if (typeof value === "string" && value !== "__proto__") return value;
  throw new Error("it takes the name of a key");
}

function textOf(value: Value): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  if (value === undefined || value === null) return "";
  throw new Error("it takes a text");
}

function numberOf(value: Value): number {
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number === "number" && Number.isFinite(number)) return number;
  throw new Error("it takes a number");
}

function listOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value as readonly Value[];
  throw new Error("it takes a list");
}

function at(value: Value, key: Value): Value {
  if (Array.isArray(value)) {
    const index = numberOf(key);
    if (index < 0 || index >= value.length) throw new Error(`there is no item ${index}`);
    return (value as readonly Value[])[index];
  }
  const dict = dictOf(value);
  const name = keyOf(key);
  return Object.hasOwn(dict, name) ? dict[name] : undefined;
}

function lengthOf(value: Value): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  return isObject(value) ? Object.keys(value).length : listOf(value).length;
}

const compared = (a: Value, b: Value): number =>
  typeof a === "string" && typeof b === "string" ? (a < b ? -1 : Number(a > b)) : numberOf(a) - numberOf(b);

export const FUNCTIONS: Readonly<Record<string, Fn>> = {
  and: (...args) => args.find((arg, i) => isEmpty(arg) || i === args.length - 1),
  or: (...args) => args.find((arg, i) => !isEmpty(arg) || i === args.length - 1),
  not: (value) => isEmpty(value),
  eq: (first, ...others) => others.some((other) => other === first),
  ne: (a, b) => a !== b,
  lt: (a, b) => compared(a, b) < 0,
  le: (a, b) => compared(a, b) <= 0,
  gt: (a, b) => compared(a, b) > 0,
  ge: (a, b) => compared(a, b) >= 0,
  len: lengthOf,
  index: (value, ...keys) => keys.reduce<Value>(at, value),
  print: (...args) => args.map(printed).join(""),
  printf(format, ...args) {
    let next = 0;
    return textOf(format).replace(/%([svdq%])/g, (_, verb: string) => {
      if (verb === "%") return "%";
      const arg = args[next++];
      return verb === "q" ? JSON.stringify(printed(arg)) : printed(arg);
    });
  },
  dict(...args) {
    if (args.length % 2 === 1) throw new Error("each key needs a value");
    const out: Record<string, Value> = {};
    for (let i = 0; i < args.length; i += 2) out[keyOf(args[i])] = args[i + 1];
    return out;
  },
  set(dict, key, value) {
    dictOf(dict)[keyOf(key)] = value;
    return dict;
  },
  unset(dict, key) {
    delete dictOf(dict)[keyOf(key)];
    return dict;
  },
  get: (dict, key) => at(dictOf(dict), key) ?? "",
  hasKey: (dict, key) => Object.hasOwn(dictOf(dict), keyOf(key)),
  keys: (dict) => Object.keys(dictOf(dict)),
  list: (...args) => args,
  first: (list) => listOf(list)[0],
  last: (list) => listOf(list).at(-1),
  has: (item, list) => listOf(list).includes(item),
  append: (list, item) => [...listOf(list), item],
  default: (usual, value) => (isEmpty(value) ? usual : value),
  ternary: (yes, no, test) => (isEmpty(test) ? no : yes),
  empty: (value) => isEmpty(value),
  quote: (...args) => args.map((arg) => JSON.stringify(printed(arg))).join(" "),
  squote: (...args) => args.map((arg) => `'${printed(arg)}'`).join(" "),
  join: (separator, list) => listOf(list).map(printed).join(textOf(separator)),
  splitList: (separator, text) => textOf(text).split(textOf(separator)),
  replace: (from, to, text) => textOf(text).replaceAll(textOf(from), textOf(to)),
  lower: (text) => textOf(text).toLowerCase(),
  upper: (text) => textOf(text).toUpperCase(),
  trim: (text) => textOf(text).trim(),
  trimPrefix: (prefix, text) =>
    textOf(text).startsWith(textOf(prefix)) ? textOf(text).slice(textOf(prefix).length) : textOf(text),
  trimSuffix: (suffix, text) =>
    textOf(suffix) !== "" && textOf(text).endsWith(textOf(suffix))
      ? textOf(text).slice(0, -textOf(suffix).length)
      : textOf(text),
  contains: (part, text) => textOf(text).includes(textOf(part)),
  hasPrefix: (part, text) => textOf(text).startsWith(textOf(part)),
  hasSuffix: (part, text) => textOf(text).endsWith(textOf(part)),
  indent: (spaces, text) => textOf(text).replace(/^/gm, " ".repeat(Math.min(100, Math.max(0, numberOf(spaces))))),
  toString: (value: Value) => printed(value),
  int: (value) => Math.trunc(numberOf(value)),
  add: (...args) => args.reduce<number>((sum, arg) => sum + numberOf(arg), 0),
  sub: (a, b) => numberOf(a) - numberOf(b),
  toJson: (value) => JSON.stringify(value ?? null),
};
