import type { Checked } from "../checker.ts";
import type { Call, Expression, Issue } from "../expression.ts";
import { DYN, heldBy, type Type, typeName } from "../types.ts";
import { CLAUSE, CLAUSES } from "./format-texts.ts";

/** What is wrong with a template that is written out, by the types of what it formats. */
export function templateIssues({ at, target, args: [list] }: Call, checked: Checked): Issue[] {
  if (target?.kind !== "literal" || typeof target.value !== "string" || list?.kind !== "list") return [];
  const values = list.items.map(({ value }) => value);
  let next = 0;
  for (const [clause, , verb = ""] of target.value.matchAll(CLAUSE)) {
    if (clause === "%%") continue;
    if (verb === "") return [{ at, message: "unexpected end of string" }];
    const value = values[next++];
    if (value === undefined) return [{ at, message: `index ${next - 1} out of range` }];
    const known = CLAUSES[verb];
    if (known === undefined)
      return [{ at, message: `could not parse formatting clause: unrecognized formatting clause "${verb}"` }];
    const wrong = misfit(value, known.types, checked);
    if (wrong === undefined) continue;
    const given = runtimeName(checked.typeOf(wrong));
    return [{ at: wrong.at, message: `error during formatting: ${known.refusal}, was given ${given}` }];
  }
  if (values.length <= next) return [];
  return [{ at, message: `too many arguments supplied to string.format (expected ${next}, got ${values.length})` }];
}

/** The value, or the part of a list or map that is written out, that a clause can't show. */
function misfit(value: Expression, types: readonly string[], checked: Checked): Expression | undefined {
  const type = checked.typeOf(value);
  if (type !== DYN && !types.includes(type.kind === "simple" ? type.name : type.kind)) return value;
  const parts =
    value.kind === "list"
      ? value.items.map((item) => item.value)
      : value.kind === "map"
        ? value.entries.flatMap((entry) => [entry.key, entry.value])
        : [];
  for (const part of parts) {
    const wrong = misfit(part, types, checked);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function runtimeName(type: Type): string {
  if (heldBy(type) !== undefined) return "optional_type";
  return type.kind === "simple" ? (type.name === "null" ? "null_type" : type.name) : typeName(type);
}
