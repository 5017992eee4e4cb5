import { type FieldSet, isEmptySet, ONE_FIELD } from "./field-set.ts";
import { isObject, type JsonObject, refusal, setMember } from "./json.ts";
import { canonicalElement, compareElements, type PathElement } from "./path-element.ts";

/** The member `.` of a FieldsV1 node: the path to the node is itself in the set. A node without members says so too. */
const SELF = ".";

/** A set of paths as FieldsV1, the notation of `metadata.managedFields` (structured-merge-diff's `fieldpath` serialisation). */
export function toFieldsV1(set: FieldSet): JsonObject {
  const node: JsonObject = {};
  if (set.member && set.below.size > 0) node[SELF] = {};
  for (const [element, child] of [...set.below].sort(([a], [b]) => compareElements(a, b))) {
    if (!isEmptySet(child)) setMember(node, element, toFieldsV1(child));
  }
  return node;
}

/** Reads FieldsV1. What is none is a `BadRequest` naming the place; elements come out in their canonical spelling. */
export function fromFieldsV1(json: unknown): FieldSet {
  return { member: false, below: readNode(json, "fieldsV1").below };
}

function readNode(json: unknown, path: string): FieldSet {
  if (!isObject(json)) throw refusal("BadRequest", "managedFields", `${path}: must be an object`);
  const keys = Object.keys(json);
  // Most nodes are leaves.
  if (keys.length === 0) return ONE_FIELD;
  const below = new Map<PathElement, FieldSet>();
  let self = false;
  for (const key of keys) {
    if (key === SELF) {
      self = true;
      continue;
    }
    const element = canonicalElement(key);
    if (element === undefined)
      throw refusal("BadRequest", "managedFields", `${path}: ${JSON.stringify(key)} is no path element`);
    below.set(element, readNode(json[key], `${path}.${key}`));
  }
  return { member: self, below };
}
