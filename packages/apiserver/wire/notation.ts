/**
 * The notation of `data/kubernetes-types.json`. A struct is a line of words: `object` (it has apiVersion and kind), `atomic` (apply owns it as a
 * whole), and a word for each field:
 *
 *   6:ports?:[]ContainerPort;map(containerPort,protocol);patch=merge@containerPort
 *
 * The number in protobuf; the name in JSON (`+Name`: an embedded struct); `!` when OpenAPI demands it; `?` omitempty or `~` omitzero; the type;
 * how lists and maps merge on apply; the strategy and key of strategic merge patches.
 *
 * Types: `*T` pointer, `[]T` list, `{K}T` map (no key: string), `<Name>T` a list or map with a name of its own, `$Name` a string with one,
 * a decoder's name, a plain type, or a struct of this section or of `section.Name`.
 */
import type { Declared, Merging, Struct, WireType } from "./go-type.ts";

const FIELD = /^(\d+):(\+?)([^:!?~]+)(!?)([?~]?):([^;]+)(.*)$/;
const PATCH = /^patch=([^@]+)(?:@(.+))?$/;
const AS = /^([a-z]+)(?:\((.+)\))?$/;

/** Reads a field's word. Throws on one that is not in the notation. */
export function fieldOf(word: string, type: (text: string) => WireType): Declared {
  const parts = FIELD.exec(word);
  if (parts === null) throw new Error(`not a field: ${word}`);
  const [, number, plus, name, required, mark, text, merging] = parts;
  return {
    name: name!,
    isEmbedded: plus === "+",
    type: type(text!),
    number: Number(number),
    isRequired: required === "!",
    written: mark === "?" ? "unlessEmpty" : mark === "~" ? "unlessZero" : "always",
    merging: mergingOf(merging!.split(";").slice(1)),
  };
}

function mergingOf(words: readonly string[]): Merging {
  const merging: Merging = {};
  for (const word of words) {
    const patch = PATCH.exec(word);
    const [, as, keys] = AS.exec(word) ?? [];
    if (patch?.[1] !== undefined) merging.strategy = patch[1];
    if (patch?.[2] !== undefined) merging.mergeKey = patch[2];
    if (as !== undefined) merging.as = as;
    if (keys !== undefined) merging.keys = keys.split(",");
  }
  return merging;
}

/** Reads a type's text. `struct` gives the struct of a full name. */
export function typeOf(text: string, section: string, struct: (fullName: string) => Struct): WireType {
  const inner = (rest: string): WireType => typeOf(rest, section, struct);
  if (text.startsWith("*")) {
    const of = inner(text.slice(1));
    return { is: "pointer", of, go: of.go };
  }
  if (text.startsWith("[]")) {
    const of = inner(text.slice(2));
    return { is: "list", of, go: `[]${of.is === "pointer" ? "*" : ""}${of.go}` };
  }
  if (text.startsWith("{")) {
    const end = text.indexOf("}");
    const of = inner(text.slice(end + 1));
    const key = end === 1 ? "string" : `v1.${text.slice(1, end)}`;
    return { is: "map", of, go: `map[${key}]${of.go}` };
  }
  if (text.startsWith("<")) {
    const end = text.indexOf(">");
    return { ...inner(text.slice(end + 1)), go: `v1.${text.slice(1, end)}` };
  }
  if (text.startsWith("$")) return { is: "string", go: text.includes(".") ? text.slice(1) : `v1.${text.slice(1)}` };
  switch (text) {
    case "string":
    case "bool":
    case "int32":
    case "int64":
    case "float64":
      return { is: text, go: text };
    case "bytes":
      return { is: text, go: "[]uint8" };
    case "Quantity":
      return { is: text, go: "resource.Quantity" };
    case "IntOrString":
      return { is: text, go: "intstr.IntOrString" };
    case "Time":
    case "MicroTime":
      return { is: text, go: `v1.${text}` };
    case "Raw":
    case "FieldsV1":
      return { is: "Raw", go: text };
    case "SchemaOrArray":
    case "SchemaOrBool":
    case "SchemaOrStrings":
      return { is: text, go: text, of: struct(`${section}.JSONSchemaProps`) };
    default:
      return struct(text.includes(".") ? text : `${section}.${text}`);
  }
}
