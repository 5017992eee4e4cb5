/** A kernel command line read as the Harvester installer reads it. */

/** Words of the line: split at white space that does not stand in double quotes, quotes removed. */
export function words(line: string): string[] {
  return (line.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).map((word) => word.replaceAll('"', ""));
}

/** The value of `name=value`, the last one if repeated; empty for a bare word; undefined when absent. */
export function argument(line: string, name: string): string | undefined {
  const found = words(line).findLast((word) => word === name || word.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

type Tree = { [key: string]: string | string[] | Tree };

/**
 * `harvester.<path>=value` arguments as a tree. A repeated key makes a list, a bare key is `true`.
 * Where one argument is a value and another a path below it, the first one stays.
 */
export function harvesterArguments(line: string): Tree {
  const root: Tree = {};
  for (const word of words(line)) {
    const at = word.indexOf("=");
    const [prefix, ...path] = (at < 0 ? word : word.slice(0, at)).split(".");
    if (prefix !== "harvester" || path.length === 0 || path.some((p) => p === "" || p === "__proto__")) continue;
    put(root, path, at < 0 ? "true" : word.slice(at + 1));
  }
  return root;
}

function put(root: Tree, path: readonly string[], value: string): void {
  let tree = root;
  for (const key of path.slice(0, -1)) {
    if (!Object.hasOwn(tree, key)) tree[key] = {};
    const next = tree[key]!;
    if (typeof next === "string" || Array.isArray(next)) return;
    tree = next;
  }
  const last = path.at(-1)!;
  const present = Object.hasOwn(tree, last) ? tree[last] : undefined;
  if (present === undefined) tree[last] = value;
  else if (typeof present === "string") tree[last] = [present, value];
  else if (Array.isArray(present)) present.push(value);
}
