import { isRecord } from "../json/value.ts";
import { MAX_ERROR_CHARS } from "../model/field-errors.ts";
import type { Node } from "./node.ts";

/**
 * Drops, in place, the fields that the schema does not know, and returns their paths (`spec.foo`, `spec.list[0].bar`), those of the
 * metadata first, each in order. Of very many only some are reported.
 */
export function prune(node: Node, value: unknown): string[] {
  const dropped: Dropped = { paths: [], left: MAX_ERROR_CHARS };
  walk(node, value, "", dropped);
  const ofMetadata = (path: string): number => (path.startsWith("metadata.") ? 0 : 1);
  return dropped.paths.sort((a, b) => ofMetadata(a) - ofMetadata(b) || (a < b ? -1 : 1));
}

interface Dropped {
  paths: string[];
  /** How many characters of paths may still be reported. */
  left: number;
}

function walk(node: Node, value: unknown, path: string, dropped: Dropped): void {
  if (Array.isArray(value)) {
    if (node.items === undefined) return;
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      if (typeof item === "object" && item !== null) walk(node.items, item, `${path}[${i}]`, dropped);
    }
    return;
  }
  if (!isRecord(value)) return;
  for (const key in value) {
    const child = node.properties.get(key) ?? (typeof node.additional === "object" ? node.additional : undefined);
    if (child !== undefined) {
      const inner = value[key];
      if (typeof inner === "object" && inner !== null) walk(child, inner, below(path, key), dropped);
    } else if (node.additional === "none" && !node.open) {
      if (dropped.left > 0) report(dropped, below(path, key));
      delete value[key];
    }
  }
}

function report(dropped: Dropped, path: string): void {
  dropped.left -= path.length;
  dropped.paths.push(path);
}

function below(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
