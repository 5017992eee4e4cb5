import { setMember } from "../json/members.ts";
import { Pace, type Passes } from "../json/turns.ts";
import { copyJson, isRecord } from "../json/value.ts";
import type { Node } from "./node.ts";

/**
 * Fills in the schema's defaults, in place. A null where the schema allows none counts as absent: the default takes its
 * place, or it is dropped where there is no default (structural defaulting of apiextensions v1).
 */
export function* defaultsInPasses(node: Node, value: unknown, pace: Pace = new Pace()): Passes<void> {
  if (Array.isArray(value)) yield* intoItems(node, value, pace);
  else if (isRecord(value)) yield* intoFields(node, value, pace);
}

function* intoFields(node: Node, value: Record<string, unknown>, pace: Pace): Passes<void> {
  if (node.hasDefaults) {
    for (const [name, child] of node.properties) {
      if (pace.isOver()) yield;
      if (child.schema.default === undefined) continue;
      const present = Object.hasOwn(value, name) ? value[name] : undefined;
      if (present === undefined || (present === null && !child.nullable))
        setMember(value, name, copyJson(child.schema.default));
    }
  }
  for (const key of Object.keys(value)) {
    if (pace.isOver()) yield;
    const child = node.properties.get(key) ?? (typeof node.additional === "object" ? node.additional : undefined);
    if (child === undefined) continue;
    let inner = value[key];
    if (inner === null && !child.nullable) {
      if (child.schema.default === undefined) {
        delete value[key];
        continue;
      }
      inner = copyJson(child.schema.default);
      setMember(value, key, inner);
    }
    if (typeof inner === "object" && inner !== null) yield* defaultsInPasses(child, inner, pace);
  }
}

function* intoItems(node: Node, list: unknown[], pace: Pace): Passes<void> {
  const { items } = node;
  if (items === undefined) return;
  for (let i = 0; i < list.length; i++) {
    if (pace.isOver()) yield;
    if (list[i] === null && !items.nullable && items.schema.default !== undefined)
      list[i] = copyJson(items.schema.default);
    const item = list[i];
    if (typeof item === "object" && item !== null) yield* defaultsInPasses(items, item, pace);
  }
}
