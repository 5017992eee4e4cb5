import { forbidden, invalid, notSupported, required } from "../model/field-error.ts";
import type { FieldError, Schema } from "../model/served.ts";

/** What `x-kubernetes-list-type`, its keys and `x-kubernetes-map-type` ask of the schema that has them. `path` is where that stands. */
export function listRules(s: Schema, path: string, errors: FieldError[]): void {
  const type = s["x-kubernetes-list-type"];
  const mapType = s["x-kubernetes-map-type"];
  const keys = s["x-kubernetes-list-map-keys"] ?? [];
  if (mapType !== undefined) {
    ofTypeFor("x-kubernetes-map-type", s, path, errors);
    if (!["atomic", "granular"].includes(mapType))
      errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  }
  if (type !== undefined) {
    if (s.type !== "array") ofTypeFor("x-kubernetes-list-type", s, path, errors);
    else if (type === "set") setRules(s.items, path, errors);
    if (!["atomic", "set", "map"].includes(type))
      errors.push(notSupported(`${path}.x-kubernetes-list-type`, type, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && type !== "map") {
    const why = "must be map if x-kubernetes-list-map-keys is non-empty";
    const at = `${path}.x-kubernetes-list-type`;
    errors.push(type === undefined ? required(at, why) : invalid(at, type, why));
  }
  if (type === "map") mapRules(s, keys, path, errors);
  if (type === "set" || type === "map") itemRules(s, path, errors);
}

/** Of which type a schema is that has the word. */
const TYPE_FOR = { "x-kubernetes-map-type": "object", "x-kubernetes-list-type": "array" } as const;

function ofTypeFor(word: keyof typeof TYPE_FOR, { type }: Schema, path: string, errors: FieldError[]): void {
  const wanted = TYPE_FOR[word];
  if (type === wanted) return;
  const why = `must be ${wanted} if ${word} is specified`;
  errors.push(type === undefined ? required(`${path}.type`, why) : invalid(`${path}.type`, type, why));
}

function setRules(items: Schema | undefined, path: string, errors: FieldError[]): void {
  const why = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items?.["x-kubernetes-list-type"];
  if (items?.type === "array" && listType !== undefined && listType !== "atomic")
    errors.push(invalid(`${path}.items.x-kubernetes-list-type`, listType, why));
  // Upstream shows the list type here, which is none.
  if (items?.type === "object" && items["x-kubernetes-map-type"] !== "atomic")
    errors.push({
      field: `${path}.items.x-kubernetes-map-type`,
      reason: "FieldValueInvalid",
      message: `Invalid value: null: ${why}`,
    });
}

function mapRules({ items }: Schema, keys: readonly string[], path: string, errors: FieldError[]): void {
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(at, "must not be empty if x-kubernetes-list-type is map"));
  if (items === undefined)
    return void errors.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
  if (items.type !== "object") {
    const why = "must be object if parent array's x-kubernetes-list-type is map";
    return void errors.push(invalid(`${path}.items.type`, items.type ?? "", why));
  }
  const stranger = invalid(at, keys, "entries must all be names of item properties");
  const repeated = invalid(at, keys, "must not contain duplicate entries");
  const met = new Set<string>();
  for (const key of keys) {
    const property = items.properties?.[key];
    if (property === undefined) errors.push(stranger);
    else if (property.type === "object" || property.type === "array") {
      const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalid(`${path}.items.properties[${key}].type`, items.type, why));
    }
    if (met.has(key)) errors.push(repeated);
    met.add(key);
  }
}

/** Items of owned lists can't be null, and what identifies them is always there. */
function itemRules(list: Schema, path: string, errors: FieldError[]): void {
  const { items, "x-kubernetes-list-type": type } = list;
  if (items === undefined) return;
  if (items.nullable === true)
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${type}`));
  if (type !== "map") return;
  const why = "this property is in x-kubernetes-list-map-keys, so it";
  const mandatory = new Set(items.required);
  for (const key of list["x-kubernetes-list-map-keys"] ?? []) {
    const property = items.properties?.[key];
    const at = `${path}.items.properties[${key}]`;
    if (property === undefined) continue;
    if (property.default === undefined && !mandatory.has(key))
      errors.push(required(`${at}.default`, `${why} must have a default or be a required property`));
    if (property.nullable === true) errors.push(forbidden(`${at}.nullable`, `${why} cannot be nullable`));
  }
}
