/**
 * JSON Patch (RFC 6902) for configurations that users patch without seeing them. Laxer than the RFC, since Kamaji's tenants have patches that
 * were written against every field of its own version: `replace` of what is missing adds it, `remove` of what is missing does nothing (the
 * usual way to drop a field that an older kubelet doesn't know), and missing objects on the way are made.
 */
import { isDeepStrictEqual } from "node:util";
import { Fault } from "@slipway/base";

export interface JsonPatchOperation {
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string;
  from?: string | undefined;
  value?: unknown;
}

type Container = Record<string, unknown> | unknown[];

/** What is put at a place of the document. */
interface Put {
  value: unknown;
  /** In a list: before the member at the index, or instead of it. */
  how: "insert" | "overwrite";
}

/** The document with the operations applied, in order. The argument is not changed. Throws `Invalid`, naming the operation that can't be applied. */
export function patched(document: object, operations: readonly JsonPatchOperation[]): object {
  const root = { document: structuredClone(document) as unknown };
  for (const [number, operation] of operations.entries()) apply(root, operation, number);
  if (typeof root.document !== "object" || root.document === null || Array.isArray(root.document))
    throw new Fault("Invalid", "configurationJSONPatches", "they leave no configuration");
  return root.document;
}

function apply(root: { document: unknown }, operation: JsonPatchOperation, number: number): void {
  const refuse = (why: string): never => {
    throw new Fault("Invalid", `configurationJSONPatches[${number}]`, `${operation.op} ${operation.path}: ${why}`);
  };
  const path = keysOf(operation.path) ?? refuse("a path begins with a slash");
  const from = (): string[] => keysOf(operation.from ?? "") ?? refuse("from begins with a slash");
  switch (operation.op) {
    case "add":
      put(root, path, { value: structuredClone(operation.value ?? null), how: "insert" }, refuse);
      break;
    case "replace":
      put(root, path, { value: structuredClone(operation.value ?? null), how: "overwrite" }, refuse);
      break;
    case "remove":
      take(root, path);
      break;
    case "copy":
    case "move": {
      const value = structuredClone(at(root, from()) ?? refuse(`there is nothing at ${operation.from}`));
      if (operation.op === "move") take(root, from());
      put(root, path, { value, how: "insert" }, refuse);
      break;
    }
    case "test":
      if (!isDeepStrictEqual(at(root, path) ?? null, operation.value ?? null)) refuse("another value is there");
      break;
    default:
      refuse("there is no such operation");
  }
}

/** Keys from the root on, which is itself a member, so that a patch may change the whole document. */
function keysOf(pointer: string): string[] | undefined {
  if (pointer !== "" && !pointer.startsWith("/")) return undefined;
  const keys = pointer.split("/").slice(1);
  return ["document", ...keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))];
}

function at(root: Container, path: readonly string[]): unknown {
  let value: unknown = root;
  for (const key of path) value = isContainer(value) ? member(value, key) : undefined;
  return value;
}

function put(root: Container, path: readonly string[], what: Put, refuse: (why: string) => never): void {
  let parent: Container = root;
  for (const key of path.slice(0, -1)) {
    let next = member(parent, key);
    if (next === undefined || next === null) {
      next = {};
      place(parent, key, { value: next, how: "overwrite" }, refuse);
    }
    parent = isContainer(next) ? next : refuse(`${key} is no object`);
  }
  place(parent, path.at(-1)!, what, refuse);
}

function place(parent: Container, key: string, { value, how }: Put, refuse: (why: string) => never): void {
  if (!Array.isArray(parent)) {
    // A plain assignment to __proto__ would set no member.
    Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  const index = key === "-" ? parent.length : indexOf(key);
  if (index === undefined || index > parent.length) refuse(`the list has ${parent.length} members`);
  else parent.splice(index, how === "overwrite" ? 1 : 0, value);
}

function take(root: Container, path: readonly string[]): void {
  const parent = at(root, path.slice(0, -1));
  const key = path.at(-1)!;
  if (!isContainer(parent) || member(parent, key) === undefined) return;
  if (Array.isArray(parent)) parent.splice(indexOf(key)!, 1);
  else delete parent[key];
}

function member(parent: Container, key: string): unknown {
  if (!Array.isArray(parent)) return Object.hasOwn(parent, key) ? parent[key] : undefined;
  const index = indexOf(key);
  return index === undefined ? undefined : parent[index];
}

function indexOf(key: string): number | undefined {
  return /^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : undefined;
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}
