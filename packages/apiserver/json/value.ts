/** JSON values as the server handles them: copied on the way in, compared, reached by dotted paths. */

/** How many objects and lists may stand in one another. */
export const MAX_LEVELS = 513;
const MAX_NODES = 2_000_000;

/** A value that is nested or branched beyond what the server walks. */
export class Unbounded extends Error {}

/** What has more values than it may. */
export class TooManyValues extends Unbounded {
  constructor(most: number) {
    super(`more than ${most} values`);
  }
}

/** The error for values that are nested too deeply. */
export function tooDeep(): Unbounded {
  return new Unbounded(`nested deeper than ${MAX_LEVELS - 1} levels`);
}

/**
 * A copy of a JSON value as a round trip through text would give it (`undefined` fields vanish), bounded in depth and size
 * so that YAML aliases can't blow it up. Throws `Unbounded`.
 */
export function copyJson<T>(value: T, most?: number): T {
  return copy(value, 0, newBudget(most)) as T;
}

/** So many values, and so many letters in their texts and names, for one object of several parts. */
export function newBudget(most = MAX_NODES, maxChars = Number.POSITIVE_INFINITY): Budget {
  return { most, left: most, chars: maxChars };
}

/** Counts a part that need not be copied. Throws `Unbounded` as a copy would. */
export function spendAll(budget: Budget, value: unknown): void {
  if (typeof value === "string") spend(budget, value);
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    budget.left -= value.length;
    for (const item of value) spendAll(budget, item);
  } else
    for (const name in value) {
      budget.left--;
      spend(budget, name);
      spendAll(budget, (value as Record<string, unknown>)[name]);
    }
  if (budget.left < 0) throw new TooManyValues(budget.most);
}

export interface Budget {
  most: number;
  left: number;
  chars: number;
}

function copy(value: unknown, depth: number, budget: Budget): unknown {
  if (typeof value === "string") {
    spend(budget, value);
    return value;
  }
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? Number(value) : value;
  if (depth >= MAX_LEVELS) throw tooDeep();
  if (Array.isArray(value)) {
    spendValues(budget, value.length);
    return value.map((item) => (item === undefined ? null : copy(item, depth + 1, budget)));
  }
  if (value instanceof Date) return value.toISOString();
  const out: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[name];
    if (item === undefined || typeof item === "function") continue;
    spendValues(budget, 1);
    spend(budget, name);
    // Most values are texts.
    if (typeof item === "string" && name !== "__proto__") {
      spend(budget, item);
      out[name] = item;
      continue;
    }
    // An own `__proto__` would turn into a prototype at the first careless assignment.
    if (name !== "__proto__") out[name] = copy(item, depth + 1, budget);
  }
  return out;
}

/** Counts values that are copied. Throws `TooManyValues`. */
export function spendValues(budget: Budget, values: number): void {
  budget.left -= values;
  if (budget.left < 0) throw new TooManyValues(budget.most);
}

/** Counts the letters of a text or name that is copied. Throws `Unbounded`. */
export function spend(budget: Budget, text: string): void {
  budget.chars -= text.length;
  if (budget.chars < 0) throw new Unbounded("longer than an object may be");
}

/** Whether a value holds more than so many others. Looks at no more than that, and some. */
export function hasMoreThan(most: number, value: unknown): boolean {
  let left = most;
  const walk = (at: unknown): void => {
    if (typeof at !== "object" || at === null || left < 0) return;
    if (Array.isArray(at)) {
      left -= at.length;
      if (left >= 0) for (const one of at) walk(one);
    } else
      for (const name in at) {
        if (--left < 0) return;
        walk((at as Record<string, unknown>)[name]);
      }
  };
  walk(value);
  return left < 0;
}

/** How many members all objects in a value have. */
export function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countKeys(item);
  else
    for (const name in value) {
      count++;
      const item = (value as Record<string, unknown>)[name];
      if (typeof item === "object") count += countKeys(item);
    }
  return count;
}

/** Whether a JSON value is an object: no list, no null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a simple path such as `.spec.replicas`; undefined where a step is missing. */
export function valueAt(object: unknown, path: string): unknown {
  let at = object;
  for (const step of path.split(".").filter((s) => s !== "")) at = isRecord(at) ? at[step] : undefined;
  return at;
}

/** A copy of `object` with `value` at a simple path; objects on the way are made. */
export function withValueAt<T>(object: T, path: string, value: unknown): T {
  const [step, ...rest] = path.split(".").filter((s) => s !== "");
  if (step === undefined) return value as T;
  const base: Record<string, unknown> = isRecord(object) ? object : {};
  return { ...base, [step]: withValueAt(base[step], rest.join("."), value) } as T;
}
