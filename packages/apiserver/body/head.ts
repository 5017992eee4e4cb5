import { isRecord } from "../json/value.ts";

/** The type by which upstream learns what a body claims to be. */
const HEAD = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** A body that can't be read. `known`: it says what it is, so the complaint names that. */
export class Unreadable extends Error {
  readonly known: boolean;
  constructor(message: string, known = false) {
    super(message);
    this.known = known;
  }
}

/** What a body claims to be; what it does not say is absent. Throws `Unreadable` where that can't be known. */
export function readHead(value: unknown): { apiVersion?: string; kind?: string } {
  if (!isRecord(value) && value !== null)
    throw new Unreadable(`couldn't get version/kind; json parse error: ${mistyped(value, `Go value of type ${HEAD}`)}`);
  const head: { apiVersion?: string; kind?: string } = {};
  for (const name of ["apiVersion", "kind"] as const) {
    const text = value?.[name] ?? "";
    if (typeof text !== "string")
      throw new Unreadable(
        `couldn't get version/kind; json parse error: ${mistyped(text, `Go struct field .${name} of type string`)}`,
      );
    if (text !== "") head[name] = text;
  }
  if ((head.apiVersion ?? "").split("/").length > 2)
    throw new Unreadable(`unexpected GroupVersion string: ${head.apiVersion}`);
  return head;
}

function mistyped(value: unknown, into: string): string {
  const is = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return `json: cannot unmarshal ${is} into ${into}`;
}
