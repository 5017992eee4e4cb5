import { equalJson, isObject, type JsonObject, refusal, setMember } from "./json.ts";
import { arrayIndex, parsePointer } from "./json-pointer.ts";

export type JsonPatchOperation =
  | { op: "add" | "replace" | "test"; path: string; value: unknown }
  | { op: "remove"; path: string }
  | { op: "move" | "copy"; from: string; path: string };

/** kube-apiserver's bound on one patch. */
const MAX_OPERATIONS = 10_000;
/** A patch of copies can double the document with each operation; beyond this it is an attack. */
const MAX_COPIED_VALUES = 1_000_000;

/**
 * JSON Patch (RFC 6902): all operations in order, or none. The target is not changed.
 *
 * A patch that is no list of operations is a `BadRequest`; one that does not apply is `Invalid` with one cause naming
 * the operation. As with kube-apiserver, `test` with the value null also holds for a member that is absent.
 */
export function jsonPatch(target: unknown, ops: readonly JsonPatchOperation[]): unknown {
  const given: unknown = ops;
  if (!Array.isArray(given) || !given.every((op: unknown) => isObject(op))) {
    throw refusal("BadRequest", "JSON patch", "a JSON patch is a list of operations");
  }
  if (ops.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${ops.length}`;
    throw refusal("TooLarge", "JSON patch", message);
  }
  let document = target;
  let budget = MAX_COPIED_VALUES;
  for (const [number, op] of ops.entries()) {
    try {
      if (op.op === "copy") budget -= sizeOf(read(document, tokens(op.from, "from")), budget);
      document = applyOne(document, op);
    } catch (error) {
      if (!(error instanceof DoesNotApply)) throw error;
      throw doesNotApply(number, op, error.message);
    }
  }
  return document;
}

/** Why an operation does not apply; becomes the cause of the fault. */
class DoesNotApply extends Error {}

function doesNotApply(number: number, op: JsonPatchOperation, why: string) {
  const message = "the server rejected our request due to an error in our request";
  return refusal("Invalid", "JSON patch", message, [
    {
      reason: "FieldValueInvalid",
      message: `operation ${number} (${String(op.op)}): ${why}`,
      field: typeof op.path === "string" ? op.path : "",
    },
  ]);
}

function applyOne(document: unknown, op: JsonPatchOperation): unknown {
  const path = tokens(op.path, "path");
  switch (op.op) {
    case "add":
      return add(document, path, value(op));
    case "remove":
      return remove(document, path);
    case "replace":
      return replace(document, path, value(op));
    case "test": {
      const wanted = value(op);
      const found = wanted === null ? readOrNull(document, path) : read(document, path);
      if (!equalJson(found, wanted)) throw new DoesNotApply(`testing value ${op.path} failed`);
      return document;
    }
    case "copy":
      return add(document, path, read(document, tokens(op.from, "from")));
    case "move": {
      const from = tokens(op.from, "from");
      if (path.length > from.length && from.every((token, i) => token === path[i])) {
        throw new DoesNotApply(`${op.from} can't move into itself`);
      }
      return add(remove(document, from), path, read(document, from));
    }
    default:
      throw new DoesNotApply(`there is no operation ${JSON.stringify((op as { op?: unknown }).op)}`);
  }
}

function tokens(pointer: unknown, field: string): string[] {
  const parsed = typeof pointer === "string" ? parsePointer(pointer) : undefined;
  if (parsed === undefined) throw new DoesNotApply(`${field} is no JSON pointer: ${JSON.stringify(pointer)}`);
  return parsed;
}

function value(op: JsonPatchOperation): unknown {
  if (!("value" in op) || op.value === undefined) throw new DoesNotApply("the value is missing");
  return op.value;
}

function read(document: unknown, path: readonly string[]): unknown {
  let at = document;
  for (const token of path) at = child(at, token);
  return at;
}

function readOrNull(document: unknown, path: readonly string[]): unknown {
  if (path.length === 0) return document;
  const parent = read(document, path.slice(0, -1));
  const last = path.at(-1)!;
  if (isObject(parent) && !Object.hasOwn(parent, last)) return null;
  return child(parent, last);
}

function child(at: unknown, token: string): unknown {
  if (Array.isArray(at)) return at[index(token, at.length)];
  if (!isObject(at)) throw new DoesNotApply(`nothing lies below ${JSON.stringify(token)}`);
  if (!Object.hasOwn(at, token)) throw new DoesNotApply(`there is no member ${JSON.stringify(token)}`);
  return at[token];
}

function index(token: string, length: number): number {
  const found = arrayIndex(token, length);
  if (found === undefined) throw new DoesNotApply(`${JSON.stringify(token)} is no index of a list of ${length}`);
  return found;
}

function add(document: unknown, path: readonly string[], added: unknown): unknown {
  return edit(document, path, added, {
    list: (list, token) => list.splice(token === "-" ? list.length : index(token, list.length + 1), 0, added),
    object: (object, token) => setMember(object, token, added),
  });
}

function replace(document: unknown, path: readonly string[], put: unknown): unknown {
  return edit(document, path, put, {
    list: (list, token) => list.splice(index(token, list.length), 1, put),
    object: (object, token) => {
      child(object, token);
      setMember(object, token, put);
    },
  });
}

function remove(document: unknown, path: readonly string[]): unknown {
  return edit(document, path, null, {
    list: (list, token) => list.splice(index(token, list.length), 1),
    object: (object, token) => {
      child(object, token);
      delete object[token];
    },
  });
}

interface Edit {
  list(list: unknown[], token: string): void;
  object(object: JsonObject, token: string): void;
}

/** Copies the containers along the path and changes the last one. */
function edit(document: unknown, path: readonly string[], whole: unknown, change: Edit): unknown {
  const [token, ...rest] = path;
  if (token === undefined) return whole;
  if (rest.length > 0) {
    const below = edit(child(document, token), rest, whole, change);
    if (Array.isArray(document)) return document.with(Number(token), below);
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
