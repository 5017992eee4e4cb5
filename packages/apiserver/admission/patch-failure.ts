import { allPasses } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import { type JsonPatchOperation, patchedUntil } from "../patch/json-patch.ts";
import { CopiesTooMuch } from "../patch/patched-document.ts";

type Operation = Readonly<Record<string, unknown>>;

/** Why a patch does not apply, in the words of kube-apiserver's library, which it hands on where the patch is a webhook's. */
export function whyNot(document: unknown, operations: readonly JsonPatchOperation[]): string {
  const { document: left, failed } = allPasses(patchedUntil(document, operations));
  if (failed === undefined || failed.error instanceof CopiesTooMuch) return "invalid state detected";
  return reason(left.finished(), operations[failed.number] as unknown as Operation);
}

const MISSING = "missing value";

function reason(document: unknown, { op, path, from }: Operation): string {
  const [to, of] = [String(path), String(from)];
  const hasParent = parentAt(document, to) !== undefined;
  switch (op) {
    case "add":
      return hasParent
        ? `error in add for path: '${to}': ${member(document, to)}`
        : `add operation does not apply: doc is missing path: "${to}": ${MISSING}`;
    case "remove":
      return hasParent
        ? `error in remove for path: '${to}': ${member(document, to)}`
        : `remove operation does not apply: doc is missing path: "${to}": ${MISSING}`;
    case "replace":
      return `replace operation does not apply: doc is missing ${hasParent ? "key" : "path"}: ${to}: ${MISSING}`;
    case "test":
      return hasParent
        ? `testing value ${to} failed: test failed`
        : `test operation does not apply: is missing path: ${to}: ${MISSING}`;
    case "move":
    case "copy":
      return parentAt(document, of) === undefined
        ? `${op} operation does not apply: doc is missing from path: ${of}: ${MISSING}`
        : `${op} operation does not apply: doc is missing destination path: ${to}: ${MISSING}`;
    default:
      return `Unexpected kind: ${String(op)}`;
  }
}

/** What stands in the way of a last step whose parent is there. */
function member(document: unknown, path: string): string {
  const last = steps(path).at(-1) ?? "";
  return Array.isArray(parentAt(document, path))
    ? `Unable to access invalid index: ${last}: invalid index referenced`
    : `Unable to remove nonexistent key: ${last}: ${MISSING}`;
}

function parentAt(document: unknown, path: string): unknown {
  let at = document;
  for (const step of steps(path).slice(0, -1))
    at = Array.isArray(at) ? at[Number(step)] : isRecord(at) ? at[step] : undefined;
  return Array.isArray(at) || isRecord(at) ? at : undefined;
}

const steps = (path: string): string[] =>
  path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
