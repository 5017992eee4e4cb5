import assert from "node:assert/strict";
import { EXTRAS } from "../extras.ts";
import { allPasses } from "../json/turns.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { ownErrors } from "../rules/own.ts";
import { compileWire } from "../schema/compile-wire.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import { builtinResources } from "./resources.ts";

/** The core's kinds, and those of the extras. */
export const ALL_BUILTIN: readonly ServedResource[] = [
  ...builtinResources(),
  ...EXTRAS.flatMap(({ resources = [] }) => resources),
];

/** A built-in kind. For tests. */
export function builtin(kind: string, group?: string): ServedResource {
  const found = ALL_BUILTIN.find((one) => one.kind === kind && (group === undefined || one.group === group));
  return found ?? assert.fail(`no ${kind}`);
}

/** An object with its defaults, as it reaches the kind's rules. For tests. */
export function filledIn(resource: ServedResource, parts: object): Body {
  const metadata = { name: "x", namespace: "default", uid: "u-1" };
  const object = { apiVersion: "v1", kind: resource.kind, metadata, ...structuredClone(parts) } as unknown as Body;
  const schema = compileWire(resource, wireTypeOf(resource.group, resource.kind)!);
  schema.prune(object);
  schema.applyDefaults(object);
  return object;
}

/** A copy of an object with other values at paths such as `spec.ports.0.port`; undefined takes a member away. For tests. */
export function changed(base: object, changes: Readonly<Record<string, unknown>>): object {
  const copy = structuredClone(base) as Record<string, unknown>;
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split("/");
    const last = names.pop()!;
    let at = copy;
    for (const name of names) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
    if (value === undefined) delete at[last];
    else at[last] = value;
  }
  return copy;
}

/** What the kind's own rules find, a line each: the field and why. For tests. */
export function refusals(kind: string, parts: object, old?: object): string[] {
  const resource = builtin(kind);
  const before = old === undefined ? undefined : filledIn(resource, old);
  return allPasses(ownErrors(resource, filledIn(resource, parts), before)).map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

/** What is refused of a base with some changes: nothing, or these lines; one that ends in `…` is the beginning of its line. */
export type Refusal = readonly [changes: Readonly<Record<string, unknown>>, lines: readonly string[]];

/** Asserts that a base passes, and what is refused of it with each of the changes. For tests. */
export function assertRefusals(kind: string, base: object, cases: readonly Refusal[], old?: object): void {
  assert.deepEqual(refusals(kind, base, old), [], "the base is refused");
  for (const [changes, lines] of cases) {
    const found = refusals(kind, changed(base, changes), old);
    const shown = found.map((line, i) => (lines[i]?.endsWith("…") ? `${line.slice(0, lines[i].length - 1)}…` : line));
    assert.deepEqual(shown, lines, `${kind} with ${JSON.stringify(changes)}`);
  }
}
