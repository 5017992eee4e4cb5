/** Whether two CEL values are equal, for library functions that search lists. */
export function sameCel(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === "bigint" || typeof b === "bigint")
    return (typeof a === "number" || typeof b === "number") && a === b;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameCel(item, b[i]));
  const prototype = Object.getPrototypeOf(a) as unknown;
  if (prototype !== Object.getPrototypeOf(b)) return false;
  if (prototype !== Object.prototype) return a.valueOf() !== a && a.valueOf() === b.valueOf();
  const keys = Object.keys(a);
  const right = b as Record<string, unknown>;
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameCel((a as Record<string, unknown>)[key], right[key]))
  );
}
