import { equalJson, isObject, type JsonObject, member, refusal, setMember } from "./json.ts";
import { listIndex, parsePointer } from "./json-pointer.ts";

/** One operation. What is missing of it counts as kube-apiserver counts it: an absent value is null. */
export interface JsonPatchOperation {
  op?: unknown;
  path?: unknown;
  from?: unknown;
  value?: unknown;
}

/** A patch of copies can double the document with each operation; beyond this it is an attack. */
const MAX_COPIED_VALUES = 1_000_000;

/**
 * JSON Patch (RFC 6902) as kube-apiserver has it: all operations in order, or none. The target is not changed.
 *
 * Laxer than the RFC where its library is: `replace` and `copy` take an absent member for null, what stands before a path's
 * first slash is ignored, positions count from the end when negative. A patch that does not apply is an `Invalid` fault
 * whose text names the operation.
 */
export function jsonPatch(target: unknown, ops: readonly JsonPatchOperation[]): unknown {
  let document = target;
  let budget = MAX_COPIED_VALUES;
  for (const [number, op] of ops.entries()) {
    try {
      if (op.op === "copy") budget -= sizeOf(lookUp(document, pathOf(op, "from")), budget);
      document = applyOne(document, op);
    } catch (error) {
      if (!(error instanceof DoesNotApply)) throw error;
      throw refusal("Invalid", "JSON patch", `operation ${number} (${String(op.op)}): ${error.message}`);
    }
  }
  return document;
}

class DoesNotApply extends Error {}

function applyOne(document: unknown, op: JsonPatchOperation): unknown {
  const value = op.value ?? null;
  switch (op.op) {
    case "add":
      return add(document, pathOf(op, "path"), value);
    case "remove":
      return remove(document, pathOf(op, "path"));
    case "replace":
      return op.path === "" ? whole(value) : replace(document, pathOf(op, "path"), value);
    case "test": {
      const found = op.path === "" ? document : (lookUp(document, pathOf(op, "path")) ?? null);
      if (!equalJson(found, value)) throw new DoesNotApply(`testing value ${String(op.path)} failed`);
      return document;
    }
    case "copy":
      return add(document, pathOf(op, "path"), lookUp(document, pathOf(op, "from")) ?? null);
    case "move": {
      const from = pathOf(op, "from");
      return add(remove(document, from), pathOf(op, "path"), lookUp(document, from) ?? null);
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

function whole(value: unknown): unknown {
  if (typeof value !== "object" || value === null) throw new DoesNotApply("a document is an object or a list");
  return value;
}

/** The value at a path; undefined where the last member is absent. All before it must be there. */
function lookUp(document: unknown, path: readonly string[]): unknown {
  let at = document;
  for (const token of path) at = child(at, token);
  return at;
}

function child(at: unknown, token: string): unknown {
  if (Array.isArray(at)) return at[index(token, at.length)];
  if (!isObject(at)) throw new DoesNotApply(`nothing lies below ${JSON.stringify(token)}`);
  return member(at, token);
}

/** A position in a list of `length`: those from the end count from -1. */
function index(token: string, length: number): number {
  const found = listIndex(token, length);
  if (found === undefined) throw new DoesNotApply(`${JSON.stringify(token)} is no index of a list of ${length}`);
  return found;
}

function add(document: unknown, path: readonly string[], added: unknown): unknown {
  return edit(document, path, {
    list: (list, token) => list.splice(token === "-" ? list.length : index(token, list.length + 1), 0, added),
    object: (object, token) => setMember(object, token, added),
  });
}

function replace(document: unknown, path: readonly string[], put: unknown): unknown {
  return edit(document, path, {
    list: (list, token) => list.splice(index(token, list.length), 1, put),
    object: (object, token) => setMember(object, token, put),
  });
}

function remove(document: unknown, path: readonly string[]): unknown {
  return edit(document, path, {
    list: (list, token) => list.splice(index(token, list.length), 1),
    object: (object, token) => {
      if (!Object.hasOwn(object, token)) throw new DoesNotApply(`there is no member ${JSON.stringify(token)}`);
      delete object[token];
    },
  });
}

interface Edit {
  list(list: unknown[], token: string): void;
  object(object: JsonObject, token: string): void;
}

/** Copies the containers along the path and changes the last one. */
function edit(document: unknown, path: readonly string[], change: Edit): unknown {
  const [token, ...rest] = path as [string, ...string[]];
  if (rest.length > 0) {
    const below = edit(child(document, token), rest, change);
    if (Array.isArray(document)) return document.with(index(token, document.length), below);
    const copy = { ...(document as JsonObject) };
    setMember(copy, token, below);
    return copy;
  }
  if (Array.isArray(document)) {
    const copy = [...document];
    change.list(copy, token);
    return copy;
  }
  if (!isObject(document)) throw new DoesNotApply(`nothing lies below ${JSON.stringify(token)}`);
  const copy = { ...document };
  change.object(copy, token);
  return copy;
}

/** Counts values up to `limit`; throws beyond it. */
function sizeOf(at: unknown, limit: number): number {
  if (limit <= 0) throw new DoesNotApply("the copies grow beyond all bounds");
  if (typeof at !== "object" || at === null) return 1;
  let size = 1;
  for (const below of Object.values(at)) size += sizeOf(below, limit - size);
  return size;
}
