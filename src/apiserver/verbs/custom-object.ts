import type { Call } from "../core.ts";
import { isRecord } from "../json-value.ts";
import { canonicalJson } from "../patch/json.ts";
import { apiVersionOf } from "../registry.ts";
import { invalid as invalidField } from "../schema/field-error.ts";
import type { Body, FieldError } from "../served.ts";
import { badRequest, invalid } from "../status.ts";
import { decodeWire, Undecodable } from "../wire/decode.ts";
import { wireTypeOf } from "../wire/wire-types.ts";

const META = wireTypeOf("meta", "ObjectMeta")!;
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

/**
 * A custom resource as upstream's unstructured decoder reads it: what it claims to be must be said, and its metadata must fit ObjectMeta.
 * Fields of the metadata that there are none of stay, to be told. Throws `Unreadable`.
 */
export function readCustom({ text }: Call, value: unknown): Body {
  if (!isRecord(value) && value !== null)
    throw new Unreadable(`couldn't get version/kind; json parse error: ${mistyped(value, `Go value of type ${HEAD}`)}`);
  const { apiVersion = "", kind = "" } = value ?? {};
  for (const [name, text] of Object.entries({ apiVersion, kind }))
    if (typeof text !== "string" && text !== null)
      throw new Unreadable(
        `couldn't get version/kind; json parse error: ${mistyped(text, `Go struct field .${name} of type string`)}`,
      );
  if (typeof apiVersion === "string" && apiVersion.split("/").length > 2)
    throw new Unreadable(`unexpected GroupVersion string: ${apiVersion}`);
  if (kind === "" || kind === null)
    throw new Unreadable(`Object 'Kind' is missing in '${text ?? canonicalJson(value)}'`);
  const metadata = metadataOf(value?.metadata);
  return { ...value, apiVersion, kind, metadata } as Body;
}

/** Refuses an object that claims to be of another kind or version, as `Invalid` and in its own name. */
export function checkType({ resource }: Call, { apiVersion, kind, metadata }: Body): void {
  const wanted = apiVersionOf(resource);
  const errors: FieldError[] = [];
  if (kind !== resource.kind) errors.push(invalidField("kind", kind, `must be ${resource.kind}`));
  if (apiVersion !== wanted) errors.push(invalidField("apiVersion", apiVersion, `must be ${wanted}`));
  if (errors.length === 0) return;
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  throw invalid({ group, plural: "", kind }, metadata.name ?? "", errors);
}

function metadataOf(given: unknown): Body["metadata"] {
  try {
    const { value, unknown } = decodeWire(META, given ?? {});
    const extra = isRecord(given) ? Object.fromEntries(unknown.map((name) => [name, given[name]])) : {};
    return { ...extra, ...(value as Body["metadata"]) };
  } catch (error) {
    if (error instanceof Undecodable) throw new Unreadable(error.message, true);
    throw error;
  }
}

function mistyped(value: unknown, into: string): string {
  const is = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return `json: cannot unmarshal ${is} into ${into}`;
}

const SUMMARY_BYTES = 30;

/** The refusal of a request whose body can't be read. */
export function unreadableBody(call: Call, { message, known }: Unreadable) {
  const { kind, version } = call.resource;
  const text = call.text ?? (call.body === undefined ? "" : canonicalJson(call.body));
  if (known) return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${message}`);
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${message} (${summary(text)})`);
}

/** The body's beginning; in hexadecimal where it is no object. */
function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = Buffer.from(text);
  const shown = bytes.subarray(0, SUMMARY_BYTES).toString(text.startsWith("{") ? "utf8" : "hex");
  return bytes.length > SUMMARY_BYTES ? `${shown} ...` : shown;
}
