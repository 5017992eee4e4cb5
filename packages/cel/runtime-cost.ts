import { characters } from "./code-points.ts";
import { PER_CHARACTER } from "./sizes.ts";
import { Custom, isList, isMap, Optional, type Value } from "./values.ts";

/** What a call cost that was made, in cel-go's units. */
export function callCost(fn: string, id: string, args: readonly Value[], result: Value): number {
  const size = (i: number): number => sizeOfValue(args[i] ?? null);
  const read = (i: number, factor = PER_CHARACTER): number => Math.ceil(size(i) * factor);
  switch (fn) {
    case "isSorted":
    case "sum":
    case "max":
    case "min":
    case "indexOf":
    case "lastIndexOf":
      return traversal(args[0] ?? null);
    case "url":
    case "lowerAscii":
    case "upperAscii":
    case "substring":
    case "trim":
    case "cidr":
    case "isIP":
    case "isCIDR":
    case "quantity":
    case "isQuantity":
    case "semver":
    case "isSemver":
      return read(0);
    case "ip":
      return id === "cidr_ip" ? 1 : read(0);
    case "replace":
    case "split":
    case "ip.isCanonical":
      return read(0, 2 * PER_CHARACTER);
    case "join":
      return Math.ceil(sizeOfValue(result) * 2 * PER_CHARACTER);
    case "find":
    case "findAll":
      return Math.ceil((1 + size(0)) * PER_CHARACTER) * read(1, 0.25);
    case "validate":
      return Math.ceil((1 + size(1)) * PER_CHARACTER) * 32;
    case "_==_":
      if (args[0] instanceof Custom) return 1;
  }
  switch (id) {
    case "starts_with_string":
    case "ends_with_string":
    case "string_to_bytes":
    case "bytes_to_string":
    case "strings_quote":
    case "string_format":
      return read(0);
    case "in_list":
      return size(1);
    case "equals":
    case "not_equals":
      return Math.ceil(Math.min(size(0), size(1)) * PER_CHARACTER);
    case "add_string":
    case "add_bytes":
      return Math.ceil((size(0) + size(1)) * PER_CHARACTER);
    case "matches_string":
      return Math.ceil((1 + size(0)) * PER_CHARACTER) * read(1, 0.25);
    case "contains_string":
      return read(0) * read(1);
    case "list_sets_contains_list":
    case "list_sets_intersects_list":
      return 1 + size(0) * size(1);
    case "list_sets_equivalent_list":
      return 1 + 2 * size(0) * size(1);
    case "list_distinct":
      return 11 + 2 * size(0) ** 2;
    case "list_flatten":
    case "list_reverse":
    case "list_slice":
    case "lists_range":
      return 11 + sizeOfValue(result);
  }
  if (/^(less|greater)(_equals)?_(string|bytes)$/.test(id))
    return Math.ceil(Math.min(size(0), size(1)) * PER_CHARACTER);
  return id.endsWith("_sort") || id.endsWith("_sortByAssociatedKeys") ? 11 + 2 * size(0) ** 2 : 1;
}

function sizeOfValue(value: Value): number {
  if (typeof value === "string") return characters(value);
  if (isList(value) || value instanceof Uint8Array) return value.length;
  if (isMap(value)) return value.size;
  return value instanceof Optional && value.held !== undefined ? sizeOfValue(value.held) : 1;
}

function traversal(value: Value): number {
  if (typeof value === "string") return Math.floor(Buffer.byteLength(value) * PER_CHARACTER);
  if (value instanceof Uint8Array) return Math.floor(value.length * PER_CHARACTER);
  if (isList(value)) return value.reduce<number>((sum, item) => sum + traversal(item), 0);
  if (isMap(value)) return [...value].reduce((sum, [key, item]) => sum + traversal(key) + traversal(item), 0);
  return 1;
}
