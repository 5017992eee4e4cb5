import { isRecord } from "../json/value.ts";
import { duplicate, invalid, required, tooMany } from "../model/field-error.ts";
import { followFieldPath } from "../model/field-path.ts";
import type { FieldError, Schema } from "../model/served.ts";

const MAX_FIELDS = 8;

/** What is wrong with the fields that a definition lets be selected by. */
export function selectableErrors(fields: readonly unknown[], schema: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, field] of fields.entries()) {
    const at = `${path}[${i}].jsonPath`;
    const jsonPath = isRecord(field) && typeof field.jsonPath === "string" ? field.jsonPath : "";
    if (jsonPath === "") {
      errors.push(required(at));
      continue;
    }
    const found = followFieldPath(jsonPath, isRecord(schema) ? (schema as Schema) : {}, { arrays: false });
    if ("wrong" in found) {
      errors.push(invalid(at, jsonPath, `is an invalid path: ${found.wrong}`));
      continue;
    }
    errors.push(...targetFaults(found).map((why) => invalid(at, jsonPath, why)));
    const key = found.steps.join(".");
    if (seen.has(key)) errors.push(duplicate(at, jsonPath));
    seen.add(key);
  }
  if (seen.size > MAX_FIELDS) errors.push(tooMany(path, seen.size, MAX_FIELDS));
  return errors;
}

function targetFaults({ schema, steps }: { schema: Schema; steps: readonly string[] }): string[] {
  const faults = steps[0] === "metadata" ? ["must not point to fields in metadata"] : [];
  if (!["string", "boolean", "integer"].includes(schema.type ?? ""))
    faults.push(
      "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
    );
  return faults;
}
