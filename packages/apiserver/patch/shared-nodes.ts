import type { JsonObject } from "../json/members.ts";
import type { FieldSet } from "./field-set.ts";

/** So many different nodes are remembered; then the oldest makes place. */
const MOST_NODES = 2048;
/** A node with more members is hardly like another one. */
const MOST_MEMBERS = 64;

/** What stands for a path with nothing below it, in all objects: most of what is written of owners is leaves. */
export const LEAF: JsonObject = Object.freeze({});

/** Nodes by their members and the numbers of what lies below those. */
const nodes = new Map<string, JsonObject>();
const numbers = new WeakMap<JsonObject, number>([[LEAF, 0]]);
const sets = new WeakMap<JsonObject, FieldSet>();
let last = 0;

/**
 * The one node of FieldsV1 for all that have the same members: objects of a kind are owned alike, and what says so would be a third
 * of what thousands of them hold. Frozen where it is shared. The nodes below it were shared before.
 */
export function sharedNode(node: JsonObject): JsonObject {
  const elements = Object.keys(node);
  if (elements.length > MOST_MEMBERS) return node;
  let key = "";
  for (const element of elements) {
    const below = numbers.get(node[element] as JsonObject);
    if (below === undefined) return node;
    key += `${element.length}:${element}${below};`;
  }
  const known = nodes.get(key);
  if (known !== undefined) return known;
  if (nodes.size >= MOST_NODES) for (const oldest of nodes.keys()) if (nodes.delete(oldest)) break;
  nodes.set(key, Object.freeze(node));
  numbers.set(node, ++last);
  return node;
}

/** The set that a node was read as, `read` where it is new. What is shared is read once. */
export function setOfNode(node: JsonObject, read: (node: JsonObject) => FieldSet): FieldSet {
  const known = sets.get(node);
  if (known !== undefined) return known;
  const set = read(node);
  if (numbers.has(node)) sets.set(node, set);
  return set;
}
