import { sameJson } from "@slipway/base";
import { Pace, type Passes } from "../json/turns.ts";
import { forbidden, immutable, invalid, required } from "../model/field-error.ts";
import { at, membersAt, textAt } from "../model/read.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";
import { age, column, serve } from "./serve.ts";

/** The sum of all values of a Secret or ConfigMap. */
const MAX_BYTES = 1024 * 1024;
const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Keys that a Secret of a type must have. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

const BASIC_AUTH = "kubernetes.io/basic-auth";
/** Types whose data is JSON, and its key. */
const DOCKER_CONFIGS: ReadonlyMap<string, string> = new Map([
  ["kubernetes.io/dockercfg", ".dockercfg"],
  ["kubernetes.io/dockerconfigjson", ".dockerconfigjson"],
]);
const ACCOUNT_TOKEN = "kubernetes.io/service-account-token";
const ACCOUNT_NAME = "kubernetes.io/service-account.name";

export const secret: ServedResource = serve({
  apiVersion: "v1",
  kind: "Secret",
  description: "Confidential data.",
  namespaced: true,
  selectableFields: { type: (object) => textAt(object, "type") },
  columns: [
    column("Type", (object) => textAt(object, "type")),
    column("Data", (object) => Object.keys(membersAt(object, "data")).length),
    age,
  ],
  setDefaults: fillIn,
  validate: validateSecret,
});

export const configMap: ServedResource = serve({
  apiVersion: "v1",
  kind: "ConfigMap",
  description: "Configuration data.",
  shortNames: ["cm"],
  namespaced: true,
  columns: [
    column(
      "Data",
      (object) => Object.keys({ ...membersAt(object, "data"), ...membersAt(object, "binaryData") }).length,
    ),
    age,
  ],
  validate: validateConfigMap,
});

function* validateConfigMap(object: Body, old?: Body): Passes<FieldError[]> {
  const pace = new Pace();
  return [
    ...(yield* validateKeys(object, "data", pace)),
    ...Object.keys(membersAt(object, "binaryData"))
      .filter((key) => Object.hasOwn(membersAt(object, "data"), key))
      .map((key) => invalid(`data[${key}]`, key, "duplicate of key present in binaryData")),
    ...(yield* validateKeys(object, "binaryData", pace)),
    ...validateSize(sizeOf(object, "data", "utf8") + sizeOf(object, "binaryData", "base64"), "[]"),
    ...validateImmutable(object, old, ["data", "binaryData"]),
  ];
}

/** Writes `stringData` into `data` and names the type. */
function fillIn(object: Body): void {
  object.type ||= "Opaque";
  const texts = membersAt(object, "stringData");
  delete object.stringData;
  if (Object.keys(texts).length === 0) return;
  const encoded = Object.entries(texts).map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]);
  object.data = { ...membersAt(object, "data"), ...Object.fromEntries(encoded) };
}

function* validateSecret(object: Body, old?: Body): Passes<FieldError[]> {
  const errors = [
    ...(yield* validateKeys(object, "data", new Pace())),
    ...validateSize(sizeOf(object, "data", "base64"), "data"),
  ];
  const type = textAt(object, "type");
  for (const key of REQUIRED_KEYS[type] ?? []) {
    if (!Object.hasOwn(membersAt(object, "data"), key)) errors.push(required(`data[${key}]`));
  }
  const data = membersAt(object, "data");
  if (type === BASIC_AUTH && data.username === undefined && data.password === undefined)
    errors.push(required("data[username]"), required("data[password]"));
  const config = DOCKER_CONFIGS.get(type);
  if (config !== undefined && typeof data[config] === "string")
    errors.push(...validateJson(data[config], `data[${config}]`));
  if (type === ACCOUNT_TOKEN && !object.metadata.annotations?.[ACCOUNT_NAME])
    errors.push(required(`metadata.annotations[${ACCOUNT_NAME}]`));
  if (old !== undefined && type !== textAt(old, "type")) errors.push(immutable("type", type));
  return [...errors, ...validateImmutable(object, old, ["data"])];
}

/** Errors name keys and lengths, never the content. */
function validateJson(base64: string, field: string): FieldError[] {
  const text = Buffer.from(base64, "base64").toString("utf8");
  let why: string;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && !Array.isArray(value)) return [];
    const is = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    why = `json: cannot unmarshal ${is} into Go value of type map[string]interface {}`;
  } catch {
    why = "unexpected end of JSON input";
  }
  return [invalid(field, "<secret contents redacted>", why)];
}

function* validateKeys(object: Body, field: string, pace: Pace): Passes<FieldError[]> {
  const errors: FieldError[] = [];
  for (const key of Object.keys(membersAt(object, field))) {
    if (pace.isOver()) yield;
    if (key.length <= 253 && !key.startsWith(".") && KEY.test(key)) continue;
    for (const rule of brokenBy(key)) errors.push(invalid(`${field}[${key}]`, key, rule));
  }
  return errors;
}

/** The rules that a key breaks. */
function brokenBy(key: string): string[] {
  return [
    ...(key.length > 253 ? ["must be no more than 253 characters"] : []),
    ...(KEY.test(key) ? [] : [KEY_RULE]),
    ...(key === "." || key === ".."
      ? [`must not be '${key}'`]
      : key.startsWith("..")
        ? ["must not start with '..'"]
        : []),
  ];
}

function validateSize(size: number, field: string): FieldError[] {
  if (size <= MAX_BYTES) return [];
  return [{ field, reason: "FieldValueTooLong", message: `Too long: may not be more than ${MAX_BYTES} bytes` }];
}

function sizeOf(object: Body, field: string, encoding: "utf8" | "base64"): number {
  const members = membersAt(object, field);
  let sum = 0;
  for (const key in members) {
    const value = members[key];
    if (typeof value === "string") sum += Buffer.byteLength(value, encoding);
  }
  return sum;
}

function validateImmutable(object: Body, old: Body | undefined, fields: readonly string[]): FieldError[] {
  if (old?.immutable !== true) return [];
  const errors: FieldError[] = [];
  const why = "field is immutable when `immutable` is set";
  if (at(object, "immutable") !== true) errors.push(forbidden("immutable", why));
  for (const field of fields) {
    if (!sameJson(object[field] ?? {}, old[field] ?? {})) errors.push(forbidden(field, why));
  }
  return errors;
}
