import { readHead, Unreadable } from "../body/head.ts";
import type { Call } from "../core/call.ts";
import { canonicalJson } from "../json/canonical.ts";
import { isRecord } from "../json/value.ts";
import { invalid as invalidField } from "../model/field-error.ts";
import type { Body, FieldError } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { badRequest, invalid } from "../model/status.ts";
import { decodeWire, Undecodable } from "../wire/decode.ts";
import { wireTypeOf } from "../wire/wire-types.ts";

const META = wireTypeOf("meta", "ObjectMeta")!;
/**
 * A custom resource as upstream's unstructured decoder reads it: what it claims to be must be said, and its metadata must fit ObjectMeta.
 * Fields of the metadata that there are none of stay, to be reported. Throws `Unreadable`.
 */
export function readCustom({ text, core, resource }: Call, value: unknown): Body {
  const { apiVersion = "", kind } = readHead(value);
  if (kind === undefined) throw new Unreadable(`Object 'Kind' is missing in '${text ?? canonicalJson(value)}'`);
  const given = isRecord(value) ? value : {};
  const metadata = metadataOf(given.metadata);
  const object = { ...given, apiVersion, kind, metadata } as Body;
  const wrong = core.registry.compiled(resource).coerce(object);
  if (wrong !== undefined) throw new Unreadable(`${wrong.field}: ${wrong.message}`, true);
  return object;
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

const SUMMARY_BYTES = 30;

/** The refusal of a request whose body can't be read. */
export function unreadableBody(call: Call, { message, known }: Unreadable) {
  const { kind, version } = call.resource;
  const text = call.text ?? (call.body === undefined ? "" : canonicalJson(call.body));
  const said = isRecord(call.body) ? call.body : {};
  const as = typeof said.kind === "string" && said.kind !== "" ? said.kind : kind;
  const at =
    typeof said.apiVersion === "string" && said.apiVersion !== "" ? said.apiVersion.split("/").at(-1) : version;
  if (known) return badRequest(`${as} in version "${at}" cannot be handled as a ${kind}: ${message}`);
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${message} (${summary(text)})`);
}

/** The body's beginning; in hexadecimal where it is no object. */
function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = Buffer.from(text);
  const shown = bytes.subarray(0, SUMMARY_BYTES).toString(text.startsWith("{") ? "utf8" : "hex");
  return bytes.length > SUMMARY_BYTES ? `${shown} ...` : shown;
}
