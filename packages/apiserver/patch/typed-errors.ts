import { goTypeOf, printGo, printGoSyntax } from "../json/go-print.ts";
import { Pace, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import { MAX_ERROR_CHARS } from "../model/field-errors.ts";
import type { Schema } from "../model/served.ts";
import { printPath } from "./path-element.ts";
import { isDeclared, keepsUnknown, memberSchema } from "./sub-schema.ts";
import { itemElement } from "./typed-list.ts";

/** A configuration, or an object, that can't be split into fields; the message is upstream's. */
export class Untyped extends Error {}

/**
 * What keeps a value from being split into fields by its schema (structured-merge-diff's validation), in upstream's words; undefined
 * when nothing does. Nulls fit everywhere. `allowDuplicates`: stored lists may hold what was allowed once.
 */
export function* typedErrors(
  value: unknown,
  schema: Schema,
  options: { allowDuplicates?: boolean } = {},
): Passes<string | undefined> {
  const errors: string[] = [];
  yield* check(value, schema, "", {
    errors,
    left: { chars: MAX_ERROR_CHARS },
    duplicates: options.allowDuplicates === true,
    open: false,
    pace: new Pace(),
  });
  return errors.length > 1 ? ["errors:", ...errors.map((e) => `  ${e}`)].join("\n") : errors[0];
}

interface Walk {
  errors: string[];
  /** How many errors are still collected. */
  left: { chars: number };
  duplicates: boolean;
  /** Unknown fields are kept from here on down. */
  open: boolean;
  pace: Pace;
}

function* check(value: unknown, schema: Schema | undefined, path: string, above: Walk): Passes<void> {
  if (value === null || value === undefined) return;
  const walk = schema?.["x-kubernetes-preserve-unknown-fields"] === true ? { ...above, open: true } : above;
  switch (formOf(schema)) {
    case "map":
      if (isRecord(value)) yield* members(value, schema, path, walk);
      else report(walk, path, `expected map, got &{${printGo(value)}}`);
      return;
    case "list":
      if (Array.isArray(value)) yield* items(value, schema, path, walk);
      else report(walk, path, `expected list, got &{${printGo(value)}}`);
      return;
    case "string":
      if (typeof value !== "string")
        report(walk, path, `expected string, got &value.valueUnstructured{Value:${printGoSyntax(value)}}`);
      return;
    case "number":
      if (typeof value !== "number") report(walk, path, `expected numeric (int or float), got ${goTypeOf(value)}`);
      return;
    case "boolean":
      if (typeof value !== "boolean") report(walk, path, `expected boolean, got &{${printGo(value)}}`);
      return;
    case "scalar":
      if (typeof value === "object") report(walk, path, `expected any scalar, got &{${printGo(value)}}`);
      return;
    default:
      return;
  }
}

/** Notes what is wrong at a path. */
function report({ errors, left }: Walk, path: string, what: string): void {
  if (left.chars <= 0) return;
  const text = path === "" ? what : `${path}: ${what}`;
  left.chars -= text.length;
  errors.push(text);
}

/** What a schema allows here; undefined: anything. */
function formOf(schema: Schema | undefined): "map" | "list" | "string" | "number" | "boolean" | "scalar" | undefined {
  if (schema?.["x-kubernetes-int-or-string"] === true || schema?.format === "int-or-string") return "scalar";
  switch (schema?.type) {
    case "object":
      return "map";
    case "array":
      return "list";
    case "string":
      return schema.format === undefined || schema.format === "byte" ? "string" : "scalar";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    default:
      return undefined;
  }
}

function* members(object: Record<string, unknown>, schema: Schema | undefined, path: string, walk: Walk): Passes<void> {
  for (const name of Object.keys(object)) {
    if (walk.pace.isOver()) yield;
    if (!isDeclared(schema, name) && !keepsUnknown(schema, walk.open)) {
      report(walk, `${path}.${name}`, "field not declared in schema");
      return;
    }
    const value = object[name];
    const inner = memberSchema(schema, name);
    // Most values are texts where texts are wanted.
    if (typeof value === "string" && inner?.type === "string") continue;
    yield* check(value, inner, `${path}.${name}`, walk);
  }
}

function* items(list: readonly unknown[], schema: Schema | undefined, path: string, walk: Walk): Passes<void> {
  const type = schema?.["x-kubernetes-list-type"];
  const seen = new Set<string>();
  for (const [i, item] of list.entries()) {
    if (walk.pace.isOver()) yield;
    let at = `[${i}]`;
    if (type === "set" || type === "map") {
      const { element, wrong } = identified(item, schema, type);
      if (element === undefined) return void report(walk, path, `element ${i}: ${wrong}`);
      at = printPath([element]);
      if (seen.has(element) && !walk.duplicates) report(walk, path, `duplicate entries for key ${at}`);
      seen.add(element);
    }
    if (isRightText(item, schema?.items)) continue;
    yield* check(item, schema?.items, path + at, walk);
  }
}

/** A text that may be one needs no look, as most items of sets. */
function isRightText(item: unknown, schema: Schema | undefined): boolean {
  return typeof item === "string" && formOf(schema) === "string";
}

/** What identifies an item of an associative list, or what is wrong with it. */
function identified(
  item: unknown,
  schema: Schema | undefined,
  type: "set" | "map",
): { element?: string | undefined; wrong?: string | undefined } {
  const element = itemElement(schema, item);
  const wrong = type === "set" ? notInSet(item) : unkeyed(item, schema, element);
  return wrong === undefined ? { element } : { wrong };
}

function notInSet(item: unknown): string | undefined {
  if (isRecord(item)) return "associative list without keys has an element that's a map type";
  if (Array.isArray(item)) return "not supported: associative list with lists as elements";
  return item === null ? "associative list without keys has an element that's an explicit null" : undefined;
}

function unkeyed(item: unknown, schema: Schema | undefined, element: string | undefined): string | undefined {
  if (item === null) return "associative list with keys may not have a null element";
  if (!isRecord(item)) return "associative list with keys may not have non-map elements";
  if (element !== undefined) return undefined;
  const keys = schema?.["x-kubernetes-list-map-keys"]?.map((key) => JSON.stringify(key)).join(" ");
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
}
