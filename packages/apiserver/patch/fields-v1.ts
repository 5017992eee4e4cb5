import { type JsonObject, refusal, setMember } from "../json/members.ts";
import { Pace, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import { type FieldSet, ONE_FIELD, sortedElements } from "./field-set.ts";
import { canonicalElement, type PathElement } from "./path-element.ts";
import { LEAF, setOfNode, sharedNode } from "./shared-nodes.ts";

/** The member `.` of a FieldsV1 node: the path to the node is itself in the set. A node without members says so too. */
const SELF = ".";

/** What stored sets were read from: those that a write leaves as they are need not be written, nor compared, again. */
const stored = new WeakMap<FieldSet, JsonObject>();

/** A set of paths as FieldsV1, the notation of `metadata.managedFields` (structured-merge-diff's `fieldpath` serialisation). */
export function* toFieldsV1(set: FieldSet): Passes<JsonObject> {
  return stored.get(set) ?? (yield* written(set, new Pace()));
}

/** Reads what `toFieldsV1` wrote. Of a set that it has read, `toFieldsV1` gives the same object again: it may not be changed. */
export function fromStoredFieldsV1(json: unknown): FieldSet {
  if (!isRecord(json)) return setFrom(json, storedElement);
  const set = setOfNode(json, (node) => setFrom(node, storedElement));
  stored.set(set, json);
  return set;
}

function* written(set: FieldSet, pace: Pace): Passes<JsonObject> {
  const node: JsonObject = {};
  if (set.member && set.below.size > 0) node[SELF] = LEAF;
  for (const element of sortedElements(set)) {
    if (pace.isOver()) yield;
    const child = set.below.get(element)!;
    if (child.below.size > 0) setMember(node, element, yield* written(child, pace));
    else if (child.member) node[element] = LEAF;
  }
  return sharedNode(node);
}

/** Reads FieldsV1. What is none is a `BadRequest` naming the place; elements come out in their canonical spelling. */
export function fromFieldsV1(json: unknown): FieldSet {
  return setFrom(json, canonicalElement);
}

/** The element of a key; undefined: it is none. */
type ElementOf = (key: string) => PathElement | undefined;

/** Of what was written here, the spelling is canonical. */
const storedElement: ElementOf = (key) => (/^[fkvi]:/.test(key) ? key : undefined);

function setFrom(json: unknown, elementOf: ElementOf): FieldSet {
  return { member: false, below: readNode(json, elementOf, undefined).below };
}

/** Where the reader stands: its name is put together only for a complaint. */
interface Place {
  above: Place | undefined;
  key: string;
}

function nameOf(place: Place | undefined): string {
  return place === undefined ? "fieldsV1" : `${nameOf(place.above)}.${place.key}`;
}

function readNode(json: unknown, elementOf: ElementOf, place: Place | undefined): FieldSet {
  if (!isRecord(json)) throw refusal("BadRequest", "managedFields", `${nameOf(place)}: must be an object`);
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
    const element = elementOf(key);
    if (element === undefined)
      throw refusal("BadRequest", "managedFields", `${nameOf(place)}: ${JSON.stringify(key)} is no path element`);
    const child = json[key];
    below.set(element, child === LEAF ? ONE_FIELD : readNode(child, elementOf, { above: place, key }));
  }
  return { member: self, below };
}
