/** What is known of a Go type: how its JSON is decoded and written, its numbers in protobuf, how it merges. */

/** A Go type. `go`: its name as Go's decoder writes it. */
export type WireType =
  | { is: "string" | "bool" | "int32" | "int64" | "float64"; go: string }
  | { is: "bytes" | "Quantity" | "Time" | "MicroTime" | "IntOrString" | "Raw"; go: string }
  /** A schema, or what stands for one: a list of schemas, whether anything is allowed, a list of names. Each has a decoder of its own. */
  | { is: "SchemaOrArray" | "SchemaOrBool" | "SchemaOrStrings"; of: WireType; go: string }
  | { is: "pointer" | "list" | "map"; of: WireType; go: string }
  | Struct;

/** A Go struct. */
export interface Struct {
  is: "struct";
  go: string;
  /** Without the group: `Pod`. */
  name: string;
  /** With the group's short name, as the table has it: `core.Pod`. */
  fullName: string;
  /** Whether it is an object with `apiVersion` and `kind`. */
  isObject: boolean;
  /** Whether apply owns it as a whole. */
  isAtomic: boolean;
  /** Its fields as they are declared; embedded structs are one each. */
  declared: readonly Declared[];
  /** Its fields by their names in JSON, those of embedded structs and an object's `kind` and `apiVersion` included. */
  fields: ReadonlyMap<string, WireField>;
}

/** A field, or an embedded struct. */
export interface Declared {
  /** In JSON; of an embedded struct the name in Go. */
  name: string;
  isEmbedded: boolean;
  type: WireType;
  /** In protobuf. */
  number: number;
  /** Whether OpenAPI demands it. */
  isRequired: boolean;
  /** Whether zero values are written: always, not when empty (structs are never), or not when zero. */
  written: "always" | "unlessEmpty" | "unlessZero";
  merging: Merging;
}

/** How a field's value merges. */
export interface Merging {
  /** Of a list: `atomic`, `set`, `map`; of a map: `atomic`, `granular`. Unset: as is usual for its type. */
  as?: string;
  /** What identifies the items of a `map`. */
  keys?: readonly string[];
  /** Strategic merge patch: `merge`, `retainKeys`, `merge,retainKeys`, `replace`. */
  strategy?: string;
  /** What identifies items in a strategic merge patch. */
  mergeKey?: string;
}

/** A field where it stands in JSON. */
export interface WireField extends Pick<Declared, "type" | "written"> {
  /** Embedded Go structs that the field comes through: part of the path in a decoder's complaint. */
  through: readonly string[];
}
