/**
 * Conversion between two versions of a kind by a table of fields that moved. What a version has no field for is kept in an annotation, with the
 * value that conversion alone would have given: it is put back only where that value still stands, so a later change wins.
 */
import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "@slipway/kube";
import type { VersionConversion } from "../kind.ts";
import { at, dropIfEmpty, isRecord, place, type Tree, take } from "./field-path.ts";

/** How a value is said in the stored version, and how in the other. Neither is asked about values that are absent. */
export interface ValueConversion {
  toStored(value: unknown, object: KubeObject): unknown;
  fromStored(value: unknown, object: KubeObject): unknown;
}

/** A field's path in this version and in the stored one. Undefined: that version has no such field. */
export type Move =
  | readonly [from: string, to: string | undefined, value?: ValueConversion]
  | readonly [from: undefined, to: string];

export interface FieldMap {
  /** In the order in which they are made on the way to the stored version; the way back takes them from the last to the first. */
  moves: readonly Move[];
  /** Paths in the stored version where an empty object or list stands for none. Inner ones come first. */
  neverEmpty?: readonly string[];
  /** Paths in the stored version where an empty text or 0 stands for none. */
  zeroIsUnset?: readonly string[];
  /** Fields that the stored version demands where their object is there. */
  defaults?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** What moves can't say. Each changes the object that was made of `from`, as its last step. */
  last?: { toStored(made: KubeObject & Tree, from: KubeObject): void; fromStored(made: KubeObject & Tree): void };
  /** Where fields are kept that the other version can't say. Default: those of v1beta1 beside v1beta2. */
  kept?: { onStored: string; onOther: string };
}

/** What the other version could not say of a value: `was` stands there after conversion, `is` is the value itself. Absent: no value. */
export interface Lost {
  at: readonly (string | number)[];
  was?: unknown;
  is?: unknown;
}

/** On stored objects: what only v1beta1 can say. */
export const V1BETA1_FIELDS = "slipway.dev/v1beta1-fields";
/** On objects as v1beta1 has them: what only v1beta2 can say. */
export const V1BETA2_FIELDS = "slipway.dev/v1beta2-fields";

/** The conversion that a map of fields describes. There and back again, in either direction, an object is what it was. */
export function losslessConversion(map: FieldMap): VersionConversion {
  const forth = (object: KubeObject) => moved(object, map);
  const back = (object: KubeObject) => movedBack(object, map);
  const { onStored, onOther } = map.kept ?? { onStored: V1BETA1_FIELDS, onOther: V1BETA2_FIELDS };
  return {
    toStored: (object) => converted(object, forth, back, { own: onOther, other: onStored }),
    fromStored: (object) => converted(object, back, forth, { own: onStored, other: onOther }),
  };
}

function converted(
  object: KubeObject,
  there: (object: KubeObject) => KubeObject,
  back: (object: KubeObject) => KubeObject,
  annotation: { own: string; other: string },
): KubeObject {
  const { bare, lost } = withoutAnnotation(object, annotation.own);
  const result = there(bare);
  for (const entry of lost) restore(result as unknown as Tree, entry);
  const missing = differences(bodyOf(bare), bodyOf(back(result)), []);
  if (missing.length === 0) return result;
  const annotations = { ...result.metadata.annotations, [annotation.other]: JSON.stringify(missing) };
  return { ...result, metadata: { ...result.metadata, annotations } };
}

const bodyOf = (object: KubeObject): Tree => {
  const { apiVersion: _, kind: __, metadata: ___, ...body } = object as KubeObject & Tree;
  return body;
};

function withoutAnnotation(object: KubeObject, name: string): { bare: KubeObject; lost: readonly Lost[] } {
  const { [name]: said, ...rest } = object.metadata.annotations ?? {};
  if (said === undefined) return { bare: object, lost: [] };
  const { annotations: _, ...metadata } = object.metadata;
  const bare = {
    ...object,
    metadata: { ...metadata, ...(Object.keys(rest).length > 0 && { annotations: rest }) },
  } as KubeObject;
  return { bare, lost: lostFields(said) };
}

/** What an annotation keeps. One that is damaged holds nothing. */
export function lostFields(said: string | undefined): readonly Lost[] {
  if (said === undefined) return [];
  try {
    const entries = JSON.parse(said) as unknown;
    return Array.isArray(entries) ? entries.filter((entry) => isRecord(entry) && Array.isArray(entry.at)) : [];
  } catch {
    return [];
  }
}

/** A copy that fields can be moved in; none moves in the metadata. A real API server asks for a conversion with every write, and `structuredClone` takes several times as long. */
function copyOf(object: KubeObject): KubeObject & Tree {
  const { apiVersion, kind, metadata, ...body } = object as KubeObject & Tree;
  return { apiVersion, kind, metadata: { ...metadata }, ...(copied(body) as Tree) };
}

function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, copied(held)]));
}

function moved(object: KubeObject, map: FieldMap): KubeObject {
  const result = copyOf(object);
  for (const [from, to, value] of map.moves)
    if (from !== undefined) move(result, from, to, (of) => value?.toStored(of, object) ?? of);
  for (const path of map.zeroIsUnset ?? []) if (["", 0].includes(at(result, path) as string)) take(result, path);
  for (const path of map.neverEmpty ?? []) dropIfEmpty(result, path);
  for (const [path, fields] of Object.entries(map.defaults ?? {})) {
    const held = at(result, path);
    if (isRecord(held)) place(result, path, { ...fields, ...held });
  }
  map.last?.toStored(result, object);
  return result;
}

function movedBack(object: KubeObject, map: FieldMap): KubeObject {
  const result = copyOf(object);
  for (const path of map.neverEmpty ?? []) dropIfEmpty(result, path);
  for (const [from, to, value] of map.moves.toReversed())
    if (to !== undefined) move(result, to, from, (of) => value?.fromStored(of, object) ?? of);
  map.last?.fromStored(result);
  return result;
}

/** Moves a value, and drops what was only there to hold it. */
function move(tree: Tree, from: string, to: string | undefined, convert: (value: unknown) => unknown): void {
  const value = take(tree, from);
  if (from !== to) dropHolders(tree, from);
  if (value !== undefined && to !== undefined) place(tree, to, convert(value));
}

function dropHolders(tree: Tree, path: string): void {
  const steps = path.split(".");
  for (let depth = steps.length - 1; depth >= 2; depth--) dropIfEmpty(tree, steps.slice(0, depth).join("."));
}

function differences(is: unknown, was: unknown, path: readonly (string | number)[]): Lost[] {
  if (isDeepStrictEqual(is, was)) return [];
  if (isRecord(is) && isRecord(was))
    return [...new Set([...Object.keys(is), ...Object.keys(was)])].flatMap((key) =>
      differences(is[key], was[key], [...path, key]),
    );
  if (Array.isArray(is) && Array.isArray(was) && is.length === was.length)
    return is.flatMap((item, index) => differences(item, was[index], [...path, index]));
  return [{ at: path, ...(was !== undefined && { was }), ...(is !== undefined && { is }) }];
}

function restore(tree: Tree, { at: path, was, is }: Lost): void {
  const last = path.at(-1);
  let holder: unknown = tree;
  for (const step of path.slice(0, -1))
    holder = isRecord(holder) || Array.isArray(holder) ? (holder as Tree)[step] : undefined;
  if (last === undefined || !(isRecord(holder) || Array.isArray(holder))) return;
  if (!isDeepStrictEqual((holder as Tree)[last], was)) return;
  if (is === undefined) delete (holder as Tree)[last];
  else (holder as Tree)[last] = is;
}
