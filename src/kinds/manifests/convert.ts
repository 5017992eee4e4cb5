/** A file of manifests, as today's versions have them: comments and order stay, and what is of today already stays word for word. */
import { Fault, isFault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { dump } from "js-yaml";
import type { Kind } from "../kind.ts";
import { commentsOf, type FindField, withComments } from "./comments.ts";
import { type ManifestDocument, manifestDocuments } from "./documents.ts";
import type { Problem } from "./problems.ts";
import { todaysManifest } from "./todays.ts";

export interface ConvertedFile {
  /** Documents as YAML, without the marks between them. */
  texts: readonly string[];
  objects: readonly KubeObject[];
  /** `FILE:LINE: Machine/NAME: FIELD: what became of it`. */
  notes: readonly string[];
  /** Manifests that were of an old version. */
  changed: number;
}

const FORMAT = { lineWidth: -1, noRefs: true } as const;

/** Throws a `Fault` (`Invalid`) that names each wrong field by file, line and path. */
export function convertedFile(text: string, source: string, kinds: readonly (readonly Kind[])[]): ConvertedFile {
  const done = manifestDocuments(text, source).map((document) => convertedDocument(document, source, kinds));
  return {
    texts: done.flatMap((one) => one.texts),
    objects: done.flatMap((one) => one.objects),
    notes: done.flatMap((one) => one.notes),
    changed: done.reduce((sum, one) => sum + one.changed, 0),
  };
}

function convertedDocument(
  document: ManifestDocument,
  source: string,
  kinds: readonly (readonly Kind[])[],
): ConvertedFile {
  const { value } = document;
  if (value === undefined) return { texts: [document.text], objects: [], notes: [], changed: 0 };
  if (isList(value)) {
    const items = value.items.map((item, at) => convertedObject(item, { document, source, kinds, at: ["items", at] }));
    const objects = items.flatMap((item) => item.objects);
    const texts = objects.map((object) => dump(object, FORMAT));
    return { texts, objects, notes: items.flatMap(({ notes }) => notes), changed: items.filter(hasChanged).length };
  }
  const one = convertedObject(value, { document, source, kinds, at: [] });
  if (!one.isOld) return { texts: [document.text], objects: one.objects, notes: [], changed: 0 };
  const comments = commentsOf(document);
  const texts = one.objects.map((object, at) => {
    const written = dump(object, FORMAT);
    const isItself = at === one.objects.length - 1;
    return isItself ? withComments(written, comments, fieldsOf(value as KubeObject, object)) : written;
  });
  return { texts, objects: one.objects, notes: one.notes, changed: 1 };
}

const hasChanged = ({ isOld }: { isOld: boolean }): boolean => isOld;

interface Place {
  document: ManifestDocument;
  source: string;
  kinds: readonly (readonly Kind[])[];
  /** Of the object in its document. */
  at: readonly PropertyKey[];
}

interface ConvertedObject {
  objects: readonly KubeObject[];
  notes: readonly string[];
  isOld: boolean;
}

function convertedObject(value: unknown, { document, source, kinds, at }: Place): ConvertedObject {
  const placed = (path: readonly PropertyKey[]) => `${source}:${document.lineOf([...at, ...path])}`;
  if (!isObject(value))
    throw new Fault("Invalid", placed([]), "apiVersion, kind or metadata.name is missing", {
      remedy: "write a Kubernetes object",
    });
  const on = `${value.kind}/${value.metadata.name ?? value.metadata.generateName}`;
  const line = ({ path, message }: Problem) => `${placed(path)}: ${on}: ${path.map(String).join(".")}: ${message}`;
  try {
    const todays = todaysManifest(value, kinds);
    if (todays === undefined) return { objects: [value], notes: [], isOld: false };
    return { objects: todays.objects, notes: todays.notes.map(line), isOld: true };
  } catch (error) {
    if (!isFault(error, "Invalid") || !Array.isArray(error.details)) throw error;
    const [first, ...rest] = error.details as Problem[];
    const said = ({ path, message }: Problem) => `${on}: ${path.map(String).join(".")}: ${message}`;
    const more = rest.map((problem) => `line ${document.lineOf([...at, ...problem.path])}, ${said(problem)}`);
    throw new Fault("Invalid", placed(first!.path), [said(first!), ...more].join("; "), {
      remedy: "correct the file",
      cause: error,
    });
  }
}

function isList(value: unknown): value is { items: unknown[] } {
  const { apiVersion, kind, items } = value as { apiVersion?: unknown; kind?: unknown; items?: unknown };
  return apiVersion === "v1" && kind === "List" && Array.isArray(items);
}

function isObject(value: unknown): value is KubeObject {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<KubeObject>;
  const name = metadata?.name ?? metadata?.generateName;
  return typeof apiVersion === "string" && typeof kind === "string" && typeof name === "string";
}

/** Where a field of the old object is in the new one: at its place, or where its value went, or else what is around it. */
function fieldsOf(before: KubeObject, after: KubeObject): FindField {
  const [old, now] = [fieldsIn(before), fieldsIn(after)];
  return (path) => {
    if (now.has(keyOf(path))) return path;
    const value = old.get(keyOf(path));
    const moved = typeof value === "object" ? [] : [...now].filter(([key, held]) => held === value && !old.has(key));
    if (moved.length === 1) return JSON.parse(moved[0]![0]) as string[];
    for (let length = path.length - 1; length > 0; length--)
      if (now.has(keyOf(path.slice(0, length)))) return path.slice(0, length);
    return [];
  };
}

const keyOf = (path: readonly string[]): string => JSON.stringify(path);

/** All fields, inner ones too. */
function fieldsIn(value: unknown, path: readonly string[] = []): Map<string, unknown> {
  const found = new Map<string, unknown>(path.length === 0 ? [] : [[keyOf(path), value]]);
  if (value === null || typeof value !== "object") return found;
  for (const [name, inner] of Object.entries(value))
    for (const entry of fieldsIn(inner, [...path, name])) found.set(...entry);
  return found;
}
