import type { Call } from "../core/call.ts";
import { forbidden, invalid, notSupported, required, tooLong } from "../model/field-error.ts";
import type { FieldError } from "../model/served.ts";
import { invalid as refused } from "../model/status.ts";

const FIELD_VALIDATIONS = ["", "Ignore", "Strict", "Warn"];
const MAX_MANAGER_BYTES = 128;
const GROUP = "meta.k8s.io";

/**
 * Checks the options that a write carries in its query (apimachinery `ValidatePatchOptions` and its like). Throws Invalid, naming the kind
 * of options.
 */
export function checkWriteOptions(call: Call, kind: "CreateOptions" | "UpdateOptions" | "PatchOptions", apply = false) {
  const { query } = call;
  const errors: FieldError[] = [];
  const manager = query.get("fieldManager") ?? "";
  if (kind === "PatchOptions") {
    if (apply && manager === "") errors.push(required("fieldManager", "is required for apply patch"));
    if (!apply && query.has("force")) errors.push(forbidden("force", "may not be specified for non-apply patch"));
  }
  errors.push(...managerErrors(manager, "fieldManager"), ...dryRunErrors(query.getAll("dryRun")));
  const validation = query.get("fieldValidation") ?? "";
  if (!FIELD_VALIDATIONS.includes(validation))
    errors.push(notSupported("fieldValidation", validation, FIELD_VALIDATIONS));
  if (errors.length > 0) throw invalidOptions(kind, errors);
}

/** The refusal of a request's options; `kind`: CreateOptions, UpdateOptions or PatchOptions. */
export function invalidOptions(kind: string, errors: readonly FieldError[]) {
  return refused({ group: GROUP, plural: "", kind }, "", errors);
}

/** What is wrong with values of `dryRun`: `All` is the only one. */
export function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  return dryRun.every((value) => value === "All") ? [] : [notSupported("dryRun", dryRun, ["All"])];
}

/** What is wrong with the name of a manager at `field`. */
export function managerErrors(manager: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) errors.push(tooLong(field, MAX_MANAGER_BYTES));
  let at = 0;
  for (const rune of manager) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(rune)) {
      const code = rune.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
      errors.push(invalid(field, manager, `invalid character U+${code} (at position ${at})`));
    }
    at += Buffer.byteLength(rune);
  }
  return errors;
}

/** A boolean of the query: only `0` and `false` say no (apimachinery `Convert_Slice_string_To_bool`). */
export function readBoolean(text: string | null): boolean {
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}
