import type { Call } from "../core/call.ts";
import { isRecord } from "../json/value.ts";
import type { Body } from "../model/served.ts";
import { badRequest } from "../model/status.ts";
import { decodeWire, Undecodable } from "../wire/decode.ts";
import { wireTypeOf } from "../wire/wire-types.ts";

/**
 * The call's body as an object of a kind that is not kept, such as a Scale or an Eviction, in the form in which upstream's Go types hold it.
 * Throws BadRequest.
 */
export function readTyped(
  { body }: Call,
  { group, version, kind }: { group: string; version: string; kind: string },
): Body {
  const type = wireTypeOf(group, kind);
  const value = isRecord(body) ? body : {};
  const given = String(value.kind ?? kind);
  const as = `${given} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`;
  if (given !== kind)
    throw badRequest(`${as}: converting (${version}.${given}) to (${internal(group)}.${kind}): unknown conversion`);
  try {
    return decodeWire(type!, value).value as Body;
  } catch (error) {
    if (error instanceof Undecodable) throw badRequest(`${as}: ${error.message}`);
    throw error;
  }
}

function internal(group: string): string {
  return group === "" ? "core" : group.split(".")[0]!;
}
