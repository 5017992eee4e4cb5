/**
 * The Go types behind the JSON of built-in kinds: the one table that decoding, protobuf and schemas go by. They decide what a decoder
 * refuses and in which words, which zero values are written, what an object looks like with nothing set, and how lists merge.
 */
import sections from "../data/kubernetes-types.json" with { type: "json" };
import type { Declared, Struct, WireField, WireType } from "./go-type.ts";
import { fieldOf, typeOf } from "./notation.ts";

const TABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = sections;

const TEXT: WireField = { type: { is: "string", go: "string" }, written: "unlessEmpty", through: ["TypeMeta"] };
/** What an object within another one claims to be. */
const TYPE_META: readonly [string, WireField][] = [
  ["kind", TEXT],
  ["apiVersion", TEXT],
];

const structs = new Map<string, Struct>();

/** The type of a kind's objects (`apps`, `Deployment`; the core group is `core`); undefined for kinds that have none. Who decodes an object keeps its own apiVersion and kind out of it. */
export function wireTypeOf(group: string, kind: string): Struct | undefined {
  const section = group === "" ? "core" : group.split(".")[0]!;
  const isThere = Object.hasOwn(TABLE, section) && Object.hasOwn(TABLE[section]!, kind);
  return isThere ? structOf(`${section}.${kind}`) : undefined;
}

/** The struct `section.Name`, which has to be in the table. What is in it is read on first use, since types contain themselves. */
function structOf(fullName: string): Struct {
  let found = structs.get(fullName);
  if (found !== undefined) return found;
  const [section, name] = fullName.split(".") as [string, string];
  const words = TABLE[section]![name]!.split(" ").filter((word) => word !== "");
  const type = (text: string): WireType => typeOf(text, section, structOf);
  let declared: readonly Declared[] | undefined;
  let fields: ReadonlyMap<string, WireField> | undefined;
  found = {
    is: "struct",
    go: `v1.${name}`,
    name,
    fullName,
    isObject: words.includes("object"),
    isAtomic: words.includes("atomic"),
    get declared() {
      declared ??= words.filter((word) => word.includes(":")).map((word) => fieldOf(word, type));
      return declared;
    },
    get fields() {
      fields ??= new Map([...(this.isObject ? TYPE_META : []), ...this.declared.flatMap(inJson)]);
      return fields;
    },
  };
  structs.set(fullName, found);
  return found;
}

function inJson({ name, isEmbedded, type, written }: Declared): [string, WireField][] {
  if (!isEmbedded) return [[name, { type, through: [], written }]];
  const inner = type.is === "struct" ? [...type.fields] : [];
  return inner.map(([member, field]) => [member, { ...field, through: [name, ...field.through] }]);
}
