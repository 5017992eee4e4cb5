/** Reading what a BMC answers. Nothing in it is sure: a property may be absent, null, or of another type than the schema says. */

export type Body = Readonly<Record<string, unknown>>;

/** The value at a path of property names. */
export function at(body: unknown, ...names: readonly string[]): unknown {
  let value: unknown = body;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Body)[name];
  }
  return value;
}

/** Text that is not empty, without spaces around it. */
export function textAt(body: unknown, ...names: readonly string[]): string | undefined {
  const value = at(body, ...names);
  const trimmed = typeof value === "string" ? value.trim() : "";
  return trimmed === "" ? undefined : trimmed;
}

/** The texts of a list; undefined where there is no list. */
export function textsAt(body: unknown, ...names: readonly string[]): readonly string[] | undefined {
  const value = at(body, ...names);
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : undefined;
}

const MOST_LISTED = 16;
const LONGEST_LISTED = 128;

/** What a BMC offers, for a person: as much of it as is read. */
export function listed(texts: readonly string[]): string {
  const more = texts.length > MOST_LISTED ? `, and ${texts.length - MOST_LISTED} more` : "";
  return (
    texts
      .slice(0, MOST_LISTED)
      .map((one) => one.slice(0, LONGEST_LISTED))
      .join(", ") + more
  );
}

/** Where a link leads. */
export function linkAt(body: unknown, ...names: readonly string[]): string | undefined {
  return textAt(body, ...names, "@odata.id");
}

/** Where the links of a list lead. */
export function linksAt(body: unknown, ...names: readonly string[]): readonly string[] {
  const value = at(body, ...names);
  return Array.isArray(value) ? value.flatMap((one) => linkAt(one) ?? []) : [];
}

/** The name of the resource's type without namespace and version: `ComputerSystem` of `#ComputerSystem.v1_20_0.ComputerSystem`. */
export function typeOf(body: unknown): string | undefined {
  return textAt(body, "@odata.type")?.split(".").at(-1)?.replace(/^#/, "");
}
