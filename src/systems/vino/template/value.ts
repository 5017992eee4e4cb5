/** Values of a template, and how Go prints and tests them. Pure. */
export type Value = string | number | boolean | null | undefined | readonly Value[] | Dict;
export interface Dict {
  [key: string]: Value;
}

/** Whether it has keys. */
export function isObject(value: Value): value is Dict {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What an `if` takes for false. */
export function isEmpty(value: Value): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === "" || value === 0 || value === false;
}

/** As it is written. Lists have commas, unlike Go's: YAML reads them as what they are. */
export function printed(value: Value): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return `[${value.map(printed).join(", ")}]`;
  if (isObject(value)) return JSON.stringify(value);
  return String(value);
}
