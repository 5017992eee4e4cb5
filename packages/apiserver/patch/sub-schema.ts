import type { Schema } from "../model/served.ts";

/** The schema of an object's member: declared, or the one for further members, or nothing known. */
export function memberSchema(schema: Schema | undefined, key: string): Schema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

/** Whether `key` is a declared member, not a free key of a map. */
export function isDeclared(schema: Schema | undefined, key: string): boolean {
  return schema?.properties !== undefined && Object.hasOwn(schema.properties, key);
}

/** Whether members that the schema does not name are kept. A schema that says nothing about members keeps all. `open`: those above keep them. */
export function keepsUnknown(schema: Schema | undefined, open: boolean): boolean {
  if (schema === undefined || schema["x-kubernetes-preserve-unknown-fields"] === true) return true;
  if (schema.additionalProperties !== undefined) return schema.additionalProperties !== false;
  return open || schema.properties === undefined;
}
