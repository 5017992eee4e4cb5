type Fields = Readonly<Record<string, unknown>>;

/** Whether two JSON values say the same; the order of fields does not count, absent and `undefined` are one. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (!Array.isArray(a) && !Array.isArray(b)) return sameFields(a as Fields, b as Fields);
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((item, i) => sameJson(item, b[i]));
}

function sameFields(left: Fields, right: Fields): boolean {
  // A field may be called `constructor`: only an object's own count.
  let shared = 0;
  for (const name of Object.keys(left)) {
    const isShared = Object.hasOwn(right, name);
    if (isShared) shared++;
    if (!sameJson(left[name], isShared ? right[name] : undefined)) return false;
  }
  if (Object.keys(right).length === shared) return true;
  for (const name of Object.keys(right)) if (right[name] !== undefined && !Object.hasOwn(left, name)) return false;
  return true;
}
