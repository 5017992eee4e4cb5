/** Whether two CEL values are equal, for library functions that search lists. */
export function sameCel(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === "bigint" || typeof b === "bigint")
    return (typeof a === "number" || typeof b === "number") && a === b;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameCel(item, b[i]));
  if (a instanceof Map)
    return b instanceof Map && a.size === b.size && a.entries().every(([k, v]) => sameCel(v, b.get(k)));
  return a.constructor === b.constructor && a.valueOf() !== a && a.valueOf() === b.valueOf();
}
