import { createHash } from "node:crypto";
import type { HttpAnswer } from "@slipway/base";
import { COMMON } from "./messages.ts";

/** A resource: where it is, what it is, and what it says. */
export interface Described {
  "@odata.id": string;
  "@odata.type": string;
  [property: string]: unknown;
}

/** An answer with a resource, its ETag and its schema. Equal content has an equal ETag. */
export function resource(body: Described, status = 200, headers: Record<string, string> = {}): HttpAnswer {
  const etag = etagOf(body);
  const schema = body["@odata.type"].replace(/^#/, "").split(".").slice(0, -1).join(".");
  return {
    status,
    headers: {
      ...COMMON,
      "content-type": "application/json",
      etag,
      link: `<https://redfish.dmtf.org/schemas/v1/${schema}.json>; rel=describedby`,
      ...headers,
    },
    body: JSON.stringify({ ...body, "@odata.etag": etag }),
  };
}

/** A strong ETag (RFC 9110 §8.8.3) of what a resource says. */
export function etagOf(body: object): string {
  return `"${createHash("sha256").update(JSON.stringify(body)).digest("base64url").slice(0, 22)}"`;
}

/** A collection of links. */
export function collection(path: string, type: string, name: string, members: readonly string[]): Described {
  return {
    "@odata.id": path,
    "@odata.type": `#${type}.${type}`,
    Name: name,
    "Members@odata.count": members.length,
    Members: members.map((member) => ({ "@odata.id": member })),
  };
}

/** A reference to another resource (DSP0266, `@odata.id`). */
export function link(path: string): { "@odata.id": string } {
  return { "@odata.id": path };
}

/** An answer without a body. */
export function nothing(status = 204, headers: Record<string, string> = {}): HttpAnswer {
  return { status, headers: { ...COMMON, ...headers }, body: "" };
}
