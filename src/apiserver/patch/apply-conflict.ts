import type { Fault } from "../../base/fault.ts";
import { type FieldSet, pathsOf } from "./field-set.ts";
import { refusal } from "./json.ts";
import type { Manager } from "./managers.ts";
import { printPath } from "./path-element.ts";

/** Fields that another manager owns and the configuration would change. */
export interface ApplyConflict {
  manager: Manager;
  fields: FieldSet;
}

/** The 409 that tells of conflicts, in kube-apiserver's words; one cause per field. */
export function conflictFault(conflicts: readonly ApplyConflict[], on: string): Fault {
  const sorted = [...conflicts].sort((a, b) => (print(a.manager) < print(b.manager) ? -1 : 1));
  const causes = sorted.flatMap(({ manager, fields }) =>
    pathsOf(fields).map((path) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${print(manager)}`,
      field: printPath(path),
    })),
  );
  return refusal("Conflict", on, messageOf(sorted, causes), causes);
}

function messageOf(conflicts: readonly ApplyConflict[], causes: { message: string; field: string }[]): string {
  const [only, ...more] = causes;
  if (only !== undefined && more.length === 0) return `Apply failed with 1 conflict: ${only.message}: ${only.field}`;
  const texts = conflicts.map(({ manager, fields }) => {
    const paths = pathsOf(fields).map((path) => `- ${printPath(path)}`);
    return `conflicts with ${print(manager)}:\n${paths.join("\n")}`;
  });
  return `Apply failed with ${causes.length} conflicts: ${texts.join("\n")}`;
}

function print({ name, operation, apiVersion, subresource }: Manager): string {
  const through = subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(name)}${through}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}
