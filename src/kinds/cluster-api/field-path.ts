/** Values in objects of unknown shape, by paths such as `spec.template.spec.version`. */

export type Tree = Record<string | number, unknown>;

/** Whether a value is an object with fields. */
export const isRecord = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a path. */
export function at(tree: unknown, path: string): unknown {
  let value: unknown = tree;
  for (const step of path.split(".")) value = isRecord(value) ? value[step] : undefined;
  return value;
}

/** Removes the value at a path and gives it. */
export function take(tree: Tree, path: string): unknown {
  const [holder, last] = holderOf(path);
  const held = holder === "" ? tree : at(tree, holder);
  if (!isRecord(held)) return undefined;
  const value = held[last];
  delete held[last];
  return value;
}

/** Puts a value at a path, and what must hold it. */
export function place(tree: Tree, path: string, value: unknown): void {
  const steps = path.split(".");
  let held = tree;
  for (const step of steps.slice(0, -1)) {
    if (!isRecord(held[step])) held[step] = {};
    held = held[step] as Tree;
  }
  held[steps.at(-1)!] = value;
}

/** Removes the object or list at a path if there is nothing in it. */
export function dropIfEmpty(tree: Tree, path: string): void {
  const value = at(tree, path);
  const isEmpty = Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
  if (isEmpty) take(tree, path);
}

function holderOf(path: string): [holder: string, last: string] {
  const dot = path.lastIndexOf(".");
  return [path.slice(0, Math.max(dot, 0)), path.slice(dot + 1)];
}
