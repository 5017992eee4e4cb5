import type { Fault } from "@slipway/base";
import { refusal } from "../json/members.ts";
import { MAX_ERROR_CHARS } from "../model/field-errors.ts";
import { type FieldSet, pathsOf } from "./field-set.ts";
import type { Manager } from "./managers.ts";
import { printPath } from "./path-element.ts";

/** Fields that another manager owns and the configuration would change. */
export interface ApplyConflict {
  manager: Manager;
  fields: FieldSet;
}

/** The 409 that lists the conflicts, in kube-apiserver's words; one cause per field. */
export function conflictFault(conflicts: readonly ApplyConflict[], on: string): Fault {
  const sorted = [...conflicts].sort((a, b) => (print(a.manager) < print(b.manager) ? -1 : 1));
  const named = namedFields(sorted);
  const causes = named.flatMap(({ manager, fields }) =>
    fields.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${manager}`, field })),
  );
  return refusal("Conflict", on, messageOf(named, causes), causes);
}

interface NamedConflict {
  manager: string;
  fields: readonly string[];
}

/** The conflicts as they are reported: of very many fields, or of fields of very long names, the first. */
function namedFields(conflicts: readonly ApplyConflict[]): NamedConflict[] {
  let left = MAX_ERROR_CHARS;
  const named: NamedConflict[] = [];
  for (const conflict of conflicts) {
    const fields: string[] = [];
    for (const path of pathsOf(conflict.fields)) {
      if (left <= 0) break;
      const field = printPath(path);
      left -= field.length;
      fields.push(field);
    }
    if (fields.length > 0) named.push({ manager: print(conflict.manager), fields });
  }
  return named;
}

function messageOf(conflicts: readonly NamedConflict[], causes: { message: string; field: string }[]): string {
  const [only, ...more] = causes;
  if (only !== undefined && more.length === 0) return `Apply failed with 1 conflict: ${only.message}: ${only.field}`;
  const texts = conflicts.map(
    ({ manager, fields }) => `conflicts with ${manager}:\n${fields.map((field) => `- ${field}`).join("\n")}`,
  );
  return `Apply failed with ${causes.length} conflicts: ${texts.join("\n")}`;
}

function print({ name, operation, apiVersion, subresource }: Manager): string {
  const through = subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(name)}${through}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}
