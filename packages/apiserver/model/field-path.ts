import type { Schema } from "./served.ts";

/** A path such as `.spec.list`, followed into a schema: the schema it leads to, or why it leads nowhere (apiextensions `ValidFieldPath`). */
export function followFieldPath(
  text: string,
  schema: Schema,
  { arrays = true }: { arrays?: boolean } = {},
): { schema: Schema; steps: string[] } | { wrong: string } {
  let at: Schema | undefined = schema;
  const steps: string[] = [];
  let rest = text;
  while (rest !== "") {
    const first = rest[0]!;
    let step: string;
    if (first === ".") {
      const name = /^\.([^.[\]]+)/.exec(rest);
      if (name === null) return { wrong: "unexpected end of JSON path" };
      step = name[1]!;
      rest = rest.slice(name[0].length);
    } else if (first === "[") {
      if (!arrays) return { wrong: "array notation is not allowed" };
      const name = /^\['((?:[^'\\]|\\.)*)'\]/.exec(rest);
      if (name === null) return { wrong: "expected single quoted string" };
      step = name[1]!.replace(/\\(.)/g, "$1");
      rest = rest.slice(name[0].length);
    } else return { wrong: `expected [ or . but got: ${/^[^.[\]]+/.exec(rest)?.[0] ?? rest}` };
    steps.push(step);
    const { properties, additionalProperties } = at as Schema;
    const next: Schema | undefined =
      properties?.[step] ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
    if (next === undefined) return { wrong: "does not refer to a valid field" };
    at = next;
  }
  return { schema: at, steps };
}
