import { type JsonObject, setMember } from "../json/members.ts";
import { isRecord } from "../json/value.ts";
import type { Schema } from "../model/served.ts";
import type { FieldSet } from "./field-set.ts";
import { memberElement, memberName, type PathElement } from "./path-element.ts";
import { isDeclared, memberSchema } from "./sub-schema.ts";
import { isAssociative, isAtomicMap, itemElement } from "./typed-list.ts";

/** The value without the fields of `gone`, whatever lies below them. What is emptied, but not gone itself, becomes null, as upstream has it. */
export function removeFields(value: unknown, gone: FieldSet, schema: Schema | undefined): unknown {
  if (gone.below.size === 0) return value;
  if (Array.isArray(value) && value.length > 0 && isAssociative(schema)) {
    const kept = value.flatMap((item) => {
      const element = itemElement(schema, item);
      const below = element === undefined ? undefined : gone.below.get(element);
      if (below === undefined) return [item];
      return below.member ? [] : [removeFields(item, below, schema?.items)];
    });
    return kept.length === 0 ? null : kept;
  }
  if (!isRecord(value) || Object.keys(value).length === 0 || isAtomicMap(schema)) return value;
  const left: JsonObject = {};
  for (const [name, inner] of Object.entries(value)) {
    const below = gone.below.get(memberElement(name));
    if (below?.member === true) continue;
    setMember(left, name, below === undefined ? inner : removeFields(inner, below, memberSchema(schema, name)));
  }
  return Object.keys(left).length === 0 ? null : left;
}

/**
 * The set with the declared members on the way to its paths (structured-merge-diff's `EnsureNamedFieldsAreMembers`): who owns
 * `spec.a.b` has a say in whether `spec.a` stays.
 */
export function withNamedParents(set: FieldSet, schema: Schema | undefined): FieldSet {
  const below = new Map<PathElement, FieldSet>();
  for (const [element, child] of set.below) {
    const named = withNamedParents(child, schemaBelow(schema, element));
    const name = memberName(element);
    const isParent = name !== undefined && child.below.size > 0 && isDeclared(schema, name);
    below.set(element, isParent ? { ...named, member: true } : named);
  }
  return { member: set.member, below };
}

function schemaBelow(schema: Schema | undefined, element: string): Schema | undefined {
  const name = memberName(element);
  return name === undefined ? schema?.items : memberSchema(schema, name);
}
