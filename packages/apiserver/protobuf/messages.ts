/** The messages that clients of typed Go code send as protobuf: the fields of Go types by their numbers. */
import type { Declared, Struct } from "../wire/go-type.ts";
import { wireTypeOf } from "../wire/wire-types.ts";

/** A message: its fields by number. */
export type Message = ReadonlyMap<number, Declared>;

const messages = new WeakMap<Struct, Message>();

/** The type of a kind's objects; undefined for kinds that are not read as protobuf. */
export function messageOf(apiVersion: string, kind: string): Struct | undefined {
  const [version, group = ""] = apiVersion.split("/").reverse() as [string, string?];
  // Every group sends the options of a deletion under its own name.
  if (kind === "DeleteOptions") return wireTypeOf("meta", kind);
  return version === "v1" ? wireTypeOf(group, kind) : undefined;
}

/** A message's fields by number. */
export function fieldsOf(message: Struct): Message {
  let found = messages.get(message);
  if (found === undefined) {
    found = new Map(message.declared.map((field) => [field.number, field]));
    messages.set(message, found);
  }
  return found;
}

/** Go writes a zero of such a field always; JSON does not show it. */
export function zeroIsNothing({ type, written }: Declared): boolean {
  return written === "unlessEmpty" && ["string", "bool", "int32", "int64", "float64"].includes(type.is);
}
