/** JSON values as the server handles them: copied on the way in, compared, reached by dotted paths. */

const MAX_DEPTH = 512;
const MAX_NODES = 2_000_000;

/** A value that is nested or branched beyond what the server walks. */
export class Unbounded extends Error {}

/**
 * A copy of a JSON value as a round trip through text would give it (`undefined` fields vanish), bounded in depth and size
 * so that YAML aliases can't blow it up. Throws `Unbounded`.
 */
export function copyJson<T>(value: T): T {
  return copy(value, 0, { left: MAX_NODES }) as T;
}

function copy(value: unknown, depth: number, budget: { left: number }): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? Number(value) : value;
  if (depth > MAX_DEPTH) throw new Unbounded(`nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    budget.left -= value.length;
    if (budget.left < 0) throw new Unbounded(`more than ${MAX_NODES} values`);
    return value.map((item) => (item === undefined ? null : copy(item, depth + 1, budget)));
  }
  if (value instanceof Date) return value.toISOString();
  const out: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[name];
    if (item === undefined || typeof item === "function") continue;
    if (--budget.left < 0) throw new Unbounded(`more than ${MAX_NODES} values`);
    // An own `__proto__` would turn into a prototype at the first careless assignment.
    if (name !== "__proto__") out[name] = copy(item, depth + 1, budget);
  }
  return out;
}

/** Whether two JSON values say the same; the order of fields does not count, absent and `undefined` are one. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => sameJson(item, b[i]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  // A field may be called `constructor`: only an object's own count.
  for (const name of Object.keys(left))
    if (!sameJson(left[name], Object.hasOwn(right, name) ? right[name] : undefined)) return false;
  for (const name of Object.keys(right)) if (right[name] !== undefined && !Object.hasOwn(left, name)) return false;
  return true;
}

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
