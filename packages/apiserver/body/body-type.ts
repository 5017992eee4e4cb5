import type { ServerRequest } from "../model/request.ts";
import { refusal } from "../model/status.ts";
import { mediaType, unsupported } from "./body.ts";

const OBJECTS = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const PATCHES = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
const STRATEGIC = "application/strategic-merge-patch+json";
/** A media type with its parameters (RFC 9110 §8.3.1), as Go's `mime` reads it. */
const WHOLE =
  /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(\s*;\s*[\w!#$%&'*+.^`|~-]+=([\w!#$%&'*+.^`|~-]+|"[^"]*"))*\s*;?\s*$/;

/**
 * Refuses bodies of unknown types, unread: for patches of built-in kinds as upstream's router does, else as its handlers do.
 * A request without a Content-Type is taken for JSON, but for a patch.
 */
export function checkBodyType({ method, headers, body }: ServerRequest, builtIn: boolean): void {
  const given = headers["content-type"] ?? "";
  if (method === "PATCH") {
    const type = mediaType(given);
    if (PATCHES.includes(type) || (builtIn && type === STRATEGIC)) return;
    throw builtIn ? refusal("UnsupportedMediaType", "415: Unsupported Media Type", {}) : unsupported(PATCHES);
  }
  const carries = method === "POST" || method === "PUT" || (method === "DELETE" && body !== undefined && body !== "");
  if (!carries || given === "") return;
  if (!WHOLE.test(given) || !OBJECTS.includes(mediaType(given))) throw unsupported(OBJECTS);
}
