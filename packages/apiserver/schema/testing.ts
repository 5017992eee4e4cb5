/** A definition to bend, and what is refused of it, for tests. */
import assert from "node:assert/strict";
import { allPasses } from "../json/turns.ts";
import type { Body } from "../model/served.ts";
import { defaultCrd, validateCrd } from "./crd.ts";

// biome-ignore lint/suspicious/noExplicitAny: definitions are bent at will here
export type Json = any;

/** A definition whose spec is of these schemas; `change` bends the rest. */
export function definition(properties: Json, change: (crd: Json) => void = () => {}): Body {
  const schema = { openAPIV3Schema: { type: "object", properties } };
  const crd: Json = {
    ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
    metadata: { name: "boats.sea.example.org" },
    spec: {
      ...{ group: "sea.example.org", scope: "Namespaced", names: { plural: "boats", kind: "Boat" } },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
  change(crd);
  defaultCrd(crd);
  return crd;
}

/** The refusals, as `field: message`. */
export const lines = (crd: Body, old?: Body): string[] =>
  allPasses(validateCrd(crd, old)).map(({ field, message }) => `${field}: ${message}`);
/** Compares by whole lines; one that ends in `…` is the beginning of its line. */
export function assertLines(found: readonly string[], wanted: readonly string[], what: unknown): void {
  const shown = found.map((line, i) => (wanted[i]?.endsWith("…") ? `${line.slice(0, wanted[i].length - 1)}…` : line));
  assert.deepEqual(shown, wanted, JSON.stringify(what));
}

/** Schemas of one line. */
export const object = (properties: Json, more: Json = {}) => ({ type: "object", properties, ...more });
/** A list of items that have this schema. */
export const list = (items: Json, more: Json = {}) => ({ type: "array", items, ...more });
export const text = { type: "string" };
