import { allPasses, type Passes } from "../json/turns.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { blankOf, decodeWire } from "../wire/decode.ts";
import type { WireType } from "../wire/go-type.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import { type CompiledSchema, compile } from "./compile.ts";

/** The Go type that a resource's objects are decoded as; undefined for custom resources, which are decoded as they come. */
export function typeOfResource({ builtIn, group, kind }: ServedResource): WireType | undefined {
  return builtIn ? wireTypeOf(group, kind) : undefined;
}

/** A built-in kind's object with nothing set; undefined for kinds without a Go type. */
export function blankObject(resource: ServedResource): Body | undefined {
  const type = typeOfResource(resource);
  return type === undefined ? undefined : (blankOf(type) as Body);
}

/** A schema that says nothing. */
const ANYTHING = compile({});

/**
 * A built-in kind's schema at work: its Go type decides what is known and what stands, its schema and `setDefaults` fill in. Nothing is
 * validated by schema: upstream's rules for these kinds are written by hand, and so are they here.
 */
export function compileWire(resource: ServedResource, type: WireType): CompiledSchema {
  const schema = compile(resource.schema);
  const fill = function* (value: unknown): Passes<void> {
    yield* schema.fill(value);
    yield;
    resource.setDefaults?.(value as Body);
    yield;
    rewritten(type, value);
  };
  return {
    coerce: () => undefined,
    prune: (value) => rewritten(type, value),
    applyDefaults: (value) => allPasses(fill(value)),
    fill,
    nullErrors: () => [],
    validate: () => [],
    judge: ANYTHING.judge,
    isLarge: false,
  };
}

/** Brings an object into the form in which upstream writes it, in place. Returns the paths of unknown fields. Throws `Undecodable`. */
function rewritten(type: WireType, value: unknown, stored = false): string[] {
  const decoded = decodeWire(type, value, { stored });
  const object = value as Record<string, unknown>;
  for (const name of Object.keys(object)) delete object[name];
  Object.assign(object, decoded.value);
  return decoded.unknown;
}

/** Brings an object of a built-in kind into the form in which upstream stores it, in place; others stay as they are. */
export function writeOut(resource: ServedResource, object: Body): void {
  const type = typeOfResource(resource);
  if (type !== undefined) rewritten(type, object, true);
}
