/**
 * Objects in the shape that the views expect. The API checks what it serves against the kinds that are installed, which may be foreign or of another
 * release: a field of another type counts as missing.
 */
import { isRecord } from "../kinds/cluster-api/field-path.ts";

/** What a field is to be: a value of a type, a list of such, or an object in which these fields are such. Of others nothing is said. */
export type Shape = "text" | "number" | "flag" | readonly [Shape] | { readonly [field: string]: Shape };

const TYPES = { text: "string", number: "number", flag: "boolean" } as const;

/** The value without what has not this shape; undefined: it has not itself. The same value, where all of it has. Pure. */
export function conformed(value: unknown, shape: Shape): unknown {
  if (typeof shape === "string") return typeof value === TYPES[shape] ? value : undefined;
  return Array.isArray(shape) ? listOf(value, shape[0]) : recordOf(value, shape as { readonly [field: string]: Shape });
}

function listOf(value: unknown, shape: Shape): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value.map((item) => conformed(item, shape));
  return items.every((item, at) => item === value[at]) ? value : items.filter((item) => item !== undefined);
}

function recordOf(value: unknown, shape: { readonly [field: string]: Shape }): object | undefined {
  if (!isRecord(value)) return undefined;
  let made: Record<string, unknown> | undefined;
  for (const [field, of] of Object.entries(shape)) {
    const held = Object.hasOwn(value, field) ? value[field] : undefined;
    const good = held === undefined ? undefined : conformed(held, of);
    if (good === held) continue;
    made ??= { ...value };
    if (good === undefined) delete made[field];
    else made[field] = good;
  }
  return made ?? value;
}

/** Remembers what was made of an object. */
export function conforming<T extends object>(shape: Shape): (object: object) => T {
  const made = new WeakMap<object, T>();
  return (object) => {
    let one = made.get(object);
    if (one === undefined) {
      one = (conformed(object, shape) ?? {}) as T;
      made.set(object, one);
    }
    return one;
  };
}
