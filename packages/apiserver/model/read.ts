/** Reading of JSON objects whose shape nobody has checked: what is absent or of another type reads as empty. */

/** The value at a dotted path of plain names; undefined where the path leads nowhere. */
export function at(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** The text at a path; empty where there is none. */
export function textAt(object: unknown, path: string): string {
  const value = at(object, path);
  return typeof value === "string" ? value : "";
}

/** The number at a path; 0 where there is none. */
export function numberAt(object: unknown, path: string): number {
  const value = at(object, path);
  return typeof value === "number" ? value : 0;
}

/** The objects of a list. */
export function objectsAt(object: unknown, path: string): Record<string, unknown>[] {
  const value = at(object, path);
  if (!Array.isArray(value)) return [];
  return value.filter((item) => typeof item === "object" && item !== null && !Array.isArray(item));
}

/** The texts of a list. */
export function textsAt(object: unknown, path: string): string[] {
  const value = at(object, path);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The members of an object. */
export function membersAt(object: unknown, path: string): Record<string, unknown> {
  const value = at(object, path);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
