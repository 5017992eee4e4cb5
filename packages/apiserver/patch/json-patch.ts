import { refusal } from "../json/members.ts";
import { Pace, type Passes } from "../json/turns.ts";
import { parsePointer } from "./json-pointer.ts";
import { DoesNotApply, PatchedDocument } from "./patched-document.ts";

/** One operation. What is missing of it counts as kube-apiserver counts it: an absent value is null. */
export interface JsonPatchOperation {
  op?: unknown;
  path?: unknown;
  from?: unknown;
  value?: unknown;
}

/** What the copies of one patch may come to, as JSON: a few could double the document again and again (upstream's `JSONPatchMaxCopyBytes`). */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

/**
 * JSON Patch (RFC 6902) as kube-apiserver has it: all operations in order, or none. The target is not changed.
 *
 * Laxer than the RFC where its library is: `replace` and `copy` take an absent member for null, what stands before a path's
 * first slash is ignored, positions count from the end when negative. A patch that does not apply is an `Invalid` fault
 * whose text names the operation. An operation costs what it says itself, not what the document holds.
 */
export function* jsonPatch(target: unknown, ops: readonly JsonPatchOperation[]): Passes<unknown> {
  const { document, failed } = yield* patchedUntil(target, ops);
  yield;
  if (failed === undefined) return document.finished();
  const { number, error } = failed;
  if (!(error instanceof DoesNotApply)) throw error;
  throw refusal("Invalid", "JSON patch", `operation ${number} (${String(ops[number]!.op)}): ${error.message}`);
}

interface Patched {
  document: PatchedDocument;
  failed?: { number: number; error: unknown };
}

/** Applies operations in order up to the first that fails: the document as they leave it, and what failed. */
export function* patchedUntil(target: unknown, ops: readonly JsonPatchOperation[]): Passes<Patched> {
  const document = new PatchedDocument(target, MAX_COPIED_BYTES);
  const pace = new Pace();
  for (const [number, op] of ops.entries()) {
    if (pace.isOver()) yield;
    try {
      applyOne(document, op);
    } catch (error) {
      return { document, failed: { number, error } };
    }
  }
  return { document };
}

function applyOne(document: PatchedDocument, op: JsonPatchOperation): void {
  const value = op.value ?? null;
  switch (op.op) {
    case "add":
      document.add(pathOf(op, "path"), value);
      break;
    case "remove":
      document.remove(pathOf(op, "path"));
      break;
    case "replace":
      if (op.path === "") document.become(value);
      else document.replace(pathOf(op, "path"), value);
      break;
    case "test":
      if (!document.holds(op.path === "" ? [] : pathOf(op, "path"), value))
        throw new DoesNotApply(`testing value ${String(op.path)} failed`);
      break;
    case "copy": {
      const copy = document.copyOf(pathOf(op, "from")) ?? null;
      document.add(pathOf(op, "path"), copy);
      break;
    }
    case "move": {
      const from = pathOf(op, "from");
      const moved = document.at(from) ?? null;
      document.remove(from);
      document.add(pathOf(op, "path"), moved);
      break;
    }
    default:
      throw new DoesNotApply(`there is no operation ${JSON.stringify(op.op)}`);
  }
}

function pathOf(op: JsonPatchOperation, field: "path" | "from"): readonly string[] {
  const text = op[field];
  const path = typeof text === "string" ? parsePointer(text) : undefined;
  if (path === undefined) throw new DoesNotApply(`${field} names nothing inside the document: ${JSON.stringify(text)}`);
  return path;
}
