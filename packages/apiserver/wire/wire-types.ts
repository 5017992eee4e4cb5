/**
 * How built-in kinds travel: the Go types behind their JSON. They decide what a decoder refuses and in which words, which zero values are
 * written, and what an object looks like with nothing set.
 */
import { CORE_TYPES } from "./types-core.ts";
import { GROUP_TYPES } from "./types-groups.ts";

export type WireType =
  | { is: "string" | "bool" | "int32" | "int64" | "float64"; go: string }
  | { is: "bytes" | "Quantity" | "Time" | "MicroTime" | "Duration" | "IntOrString" | "Raw"; go: string }
  /** A schema, or what stands for one: read by a decoder of its own, which knows nothing of what stands above and tells no unknown fields. */
  | { is: "SchemaOrArray" | "SchemaOrBool"; of: WireType; go: string }
  | { is: "pointer" | "list" | "map"; of: WireType; go: string }
  | { is: "struct"; go: string; name: string; fields: ReadonlyMap<string, WireField> };

export interface WireField {
  type: WireType;
  /** Embedded Go structs that the field comes through: part of the path in a decoder's complaint. */
  through: readonly string[];
  /** Whether zero values are written: always, not when empty (structs are never), or not when zero. */
  written: "always" | "unlessEmpty" | "unlessZero";
}

type Struct = Extract<WireType, { is: "struct" }>;

const structs = new Map<string, Struct>();
let lines: Map<string, string> | undefined;

/** The type of a kind's objects (`apps`, `Deployment`; the core group is `core`); undefined for kinds that have none. apiVersion and kind are no fields of it. */
export function wireTypeOf(group: string, kind: string): WireType | undefined {
  const section = group === "" ? "core" : group.split(".")[0]!;
  const name = `${section}.${kind}`;
  return allLines().has(name) ? struct(name) : undefined;
}

function allLines(): Map<string, string> {
  if (lines !== undefined) return lines;
  lines = new Map();
  let section = "";
  for (const line of `${CORE_TYPES}${GROUP_TYPES}`.split("\n")) {
    if (line.startsWith("# ")) section = line.slice(2);
    else if (line !== "") lines.set(`${section}.${line.split(" ", 1)[0]}`, line);
  }
  return lines;
}

/** Fields are read on first use, since types contain themselves. */
function struct(name: string): Struct {
  let found = structs.get(name);
  if (found !== undefined) return found;
  const [section, own] = name.split(".") as [string, string];
  let fields: ReadonlyMap<string, WireField> | undefined;
  found = {
    is: "struct",
    go: `v1.${own}`,
    name: own,
    get fields() {
      fields ??= fieldsOf(section, allLines().get(name) ?? "");
      return fields;
    },
  };
  structs.set(name, found);
  return found;
}

const WRITTEN = new Map<string, WireField["written"]>([
  ["?", "unlessEmpty"],
  ["~", "unlessZero"],
]);

/** `Probe +ProbeHandler:ProbeHandler periodSeconds?:int32`: `+` embeds, `?` is omitempty, `~` omitzero. */
function fieldsOf(section: string, line: string): Map<string, WireField> {
  const fields = new Map<string, WireField>();
  for (const word of line.split(" ").slice(1)) {
    const colon = word.indexOf(":");
    const type = typeOf(section, word.slice(colon + 1));
    let name = word.slice(0, colon);
    if (name.startsWith("+")) {
      const inner = type.is === "struct" ? type.fields : new Map<string, WireField>();
      for (const [member, field] of inner) fields.set(member, { ...field, through: [name.slice(1), ...field.through] });
      continue;
    }
    const mark = name.at(-1) ?? "";
    const written = WRITTEN.get(mark) ?? "always";
    if (written !== "always") name = name.slice(0, -1);
    fields.set(name, { type, through: [], written });
  }
  return fields;
}

/**
 * `*T` pointer, `[]T` list, `{K}T` map (no key: string), `<Name>T` a list or map with a name of its own, `$Name` a string with one, a decoder's
 * name, a plain type, or a struct of this section or of `section.Name`.
 */
function typeOf(section: string, text: string): WireType {
  if (text.startsWith("*")) {
    const of = typeOf(section, text.slice(1));
    return { is: "pointer", of, go: of.go };
  }
  if (text.startsWith("[]")) {
    const of = typeOf(section, text.slice(2));
    return { is: "list", of, go: `[]${of.is === "pointer" ? "*" : ""}${of.go}` };
  }
  if (text.startsWith("{")) {
    const end = text.indexOf("}");
    const of = typeOf(section, text.slice(end + 1));
    const key = end === 1 ? "string" : `v1.${text.slice(1, end)}`;
    return { is: "map", of, go: `map[${key}]${of.go}` };
  }
  if (text.startsWith("<")) {
    const end = text.indexOf(">");
    return { ...typeOf(section, text.slice(end + 1)), go: `v1.${text.slice(1, end)}` };
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
    case "Duration":
      return { is: text, go: `v1.${text}` };
    case "Raw":
    case "FieldsV1":
      return { is: "Raw", go: text };
    case "SchemaOrArray":
    case "SchemaOrBool":
      return { is: text, go: text, of: struct(`${section}.JSONSchemaProps`) };
    default:
      return struct(text.includes(".") ? text : `${section}.${text}`);
  }
}
