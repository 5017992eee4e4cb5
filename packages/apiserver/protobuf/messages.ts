/**
 * The messages that clients of typed Go code send as protobuf: what each field number is. A line is a message; its words are its fields:
 *
 *   number:name:type   number?:name:type (zero says nothing)   number:+:type (the field's members stand in its place)
 *
 * Types: `s` text, `i` integer, `d` double, `b` boolean, `x` bytes, `time`, `microtime`, `duration`, `quantity`, `intorstring`, `json` (JSON as text),
 * `items` (a list of texts in a message of its own), `schemaor…` (the unions of JSONSchemaProps), else a message of this section or
 * of `section.Name`; `[]` before it: repeated, `{`: a map by name.
 */
import { CORE_MESSAGES } from "./messages-core.ts";
import { GROUP_MESSAGES } from "./messages-groups.ts";

export interface MessageField {
  /** Empty: the members of the field's message are the members of the one it stands in. */
  name: string;
  form: "one" | "list" | "map";
  /** A word of the notation, or `section.Name`. */
  type: string;
  /** Go writes zero values always; JSON does not show them. */
  zeroIsNothing: boolean;
}

export type Message = ReadonlyMap<number, MessageField>;

const WORD = /^(\d+)(\??):([^:]*):(\[\]|\{)?(.+)$/;

const messages = new Map<string, Message>();
let lines: Map<string, string> | undefined;

/** The message of a kind's objects; undefined for kinds that are not read as protobuf. */
export function messageOf(apiVersion: string, kind: string): string | undefined {
  const [version, group = ""] = apiVersion.split("/").reverse();
  // Every group sends the options of a deletion under its own name.
  const section = kind === "DeleteOptions" ? "meta" : group === "" ? "core" : group.split(".")[0]!;
  const name = `${section}.${kind}`;
  return (version === "v1" || section === "meta") && allLines().has(name) ? name : undefined;
}

/** The fields of `section.Name`. */
export function fieldsOf(message: string): Message {
  let found = messages.get(message);
  if (found === undefined) {
    found = read(message.split(".")[0]!, allLines().get(message) ?? "");
    messages.set(message, found);
  }
  return found;
}

function allLines(): Map<string, string> {
  if (lines !== undefined) return lines;
  lines = new Map();
  let section = "";
  for (const line of `${CORE_MESSAGES}${GROUP_MESSAGES}`.split("\n")) {
    if (line.startsWith("# ")) section = line.slice(2);
    else if (line !== "") lines.set(`${section}.${line.split(" ", 1)[0]}`, line);
  }
  return lines;
}

function read(section: string, line: string): Message {
  const fields = new Map<number, MessageField>();
  for (const word of line.split(" ").slice(1)) {
    const [, number, mark, name, form, type] = WORD.exec(word)!;
    fields.set(Number(number), {
      name: name === "+" ? "" : name!,
      form: form === "[]" ? "list" : form === "{" ? "map" : "one",
      type: /^[A-Z]/.test(type!) ? `${section}.${type}` : type!,
      zeroIsNothing: mark === "?",
    });
  }
  return fields;
}
