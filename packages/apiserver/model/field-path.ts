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
    const first = firstStep(rest, arrays);
    if ("wrong" in first) return first;
    const { step } = first;
    rest = rest.slice(first.length);
    steps.push(step);
    const { properties, additionalProperties } = at as Schema;
    const next: Schema | undefined =
      properties?.[step] ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
    if (next === undefined) return { wrong: "does not refer to a valid field" };
    at = next;
  }
  return { schema: at, steps };
}

/** The step that a path begins with, and how long it is in the path. */
function firstStep(path: string, arrays: boolean): { step: string; length: number } | { wrong: string } {
  if (path.startsWith(".")) {
    const name = /^\.([^.[\]]+)/.exec(path);
    return name === null ? { wrong: "unexpected end of JSON path" } : { step: name[1]!, length: name[0].length };
  }
  if (!path.startsWith("[")) return { wrong: `expected [ or . but got: ${/^[^.[\]]+/.exec(path)?.[0] ?? path}` };
  if (!arrays) return { wrong: "array notation is not allowed" };
  const name = /^\['((?:[^'\\]|\\.)*)'\]/.exec(path);
  if (name === null) return { wrong: "expected single quoted string" };
  return { step: name[1]!.replace(/\\(.)/g, "$1"), length: name[0].length };
}
