/** The part of OpenAPI 3.0's schema object that the clouds' documents use. */
export interface Schema {
  $ref?: string;
  type?: string;
  nullable?: boolean;
  enum?: readonly unknown[];
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
}

export interface Check {
  resolve(ref: string): Schema;
  /** Fields the schema does not name are problems. For what we send; a server may answer more than its document says. */
  strict: boolean;
}

/**
 * What in `value` the schema does not allow, each with its path; nothing when it fits. References are followed as far as the
 * value goes, so schemas may be circular. Unknown keywords allow everything.
 */
export function problemsOf(value: unknown, schema: Schema, check: Check, path = "body"): string[] {
  const at = resolved(schema, check);
  if (value === null) return at.nullable === true || accepts(at, null, check) ? [] : [`${path}: null`];
  const out: string[] = [];
  if (at.enum !== undefined && !at.enum.includes(value))
    out.push(`${path}: ${JSON.stringify(value)} is not in the enum`);
  if (at.type !== undefined && !hasType(value, at.type)) return [...out, `${path}: not of type ${at.type}`];
  out.push(...boundProblems(value, at, path));
  for (const part of at.allOf ?? []) out.push(...problemsOf(value, part, { ...check, strict: false }, path));
  out.push(...choiceProblems(value, at.oneOf, check, path), ...choiceProblems(value, at.anyOf, check, path));
  if (Array.isArray(value)) {
    if (at.items !== undefined)
      out.push(...value.flatMap((item, i) => problemsOf(item, at.items!, check, `${path}[${i}]`)));
  } else if (typeof value === "object") out.push(...fieldProblems(value as Record<string, unknown>, at, check, path));
  return out;
}

function choiceProblems(value: unknown, choice: readonly Schema[] | undefined, check: Check, path: string): string[] {
  if (choice === undefined) return [];
  const tries = choice.map((one) => problemsOf(value, one, { ...check, strict: false }, path));
  if (tries.some((problems) => problems.length === 0)) return [];
  return [`${path}: fits none of the choices (${tries.flat()[0]})`];
}

function fieldProblems(value: Record<string, unknown>, schema: Schema, check: Check, path: string): string[] {
  const out = (schema.required ?? [])
    .filter((name) => value[name] === undefined)
    .map((name) => `${path}.${name}: missing`);
  const known = check.strict ? knownFields(schema, check) : undefined;
  for (const [name, item] of Object.entries(value)) {
    const field = schema.properties?.[name];
    if (item === undefined) continue;
    if (field !== undefined) out.push(...problemsOf(item, field, check, `${path}.${name}`));
    else if (typeof schema.additionalProperties === "object") {
      out.push(...problemsOf(item, schema.additionalProperties, check, `${path}.${name}`));
    } else if (schema.additionalProperties === false || (known !== undefined && !known.has(name))) {
      out.push(`${path}.${name}: not in the document`);
    }
  }
  return out;
}

/** The fields a schema names, in all its parts; undefined: it leaves them open. */
function knownFields(schema: Schema, check: Check): Set<string> | undefined {
  const at = resolved(schema, check);
  if (at.additionalProperties !== undefined && at.additionalProperties !== false) return undefined;
  const parts = [...(at.allOf ?? []), ...(at.oneOf ?? []), ...(at.anyOf ?? [])];
  if (at.properties === undefined && parts.length === 0) return undefined;
  const names = new Set(Object.keys(at.properties ?? {}));
  for (const part of parts) {
    const more = knownFields(part, check);
    if (more === undefined) return undefined;
    for (const name of more) names.add(name);
  }
  return names;
}

function resolved(schema: Schema, check: Check): Schema {
  let at = schema;
  while (at.$ref !== undefined) at = check.resolve(at.$ref);
  return at;
}

/** Whether some part of the schema allows the value: `nullable` may stand inside a choice. */
function accepts(schema: Schema, value: null, check: Check): boolean {
  const parts = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  if (parts.length > 0) return parts.some((part) => problemsOf(value, part, check).length === 0);
  return schema.type === undefined && (schema.enum === undefined || schema.enum.includes(null));
}

function boundProblems(value: unknown, schema: Schema, path: string): string[] {
  if (typeof value === "string") return textProblems(value, schema, path);
  if (Array.isArray(value)) return sizeProblems(value.length, schema.minItems, schema.maxItems, path);
  if (typeof value !== "number" || isWithin(value, schema.minimum, schema.maximum)) return [];
  return [`${path}: ${value} is out of bounds`];
}

function textProblems(value: string, { minLength, maxLength, pattern }: Schema, path: string): string[] {
  const out = sizeProblems([...value].length, minLength, maxLength, path);
  if (pattern !== undefined && !new RegExp(pattern, "u").test(value))
    out.push(`${path}: ${JSON.stringify(value)} does not match ${pattern}`);
  return out;
}

function sizeProblems(size: number, least = 0, most = Infinity, path: string): string[] {
  return isWithin(size, least, most) ? [] : [`${path}: of size ${size}`];
}

function isWithin(value: number, least = -Infinity, most = Infinity): boolean {
  return value >= least && value <= most;
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
    case "string":
    case "boolean":
      return typeof value === type;
    default:
      return true;
  }
}
