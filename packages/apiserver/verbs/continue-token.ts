import { badRequest } from "../model/status.ts";

/** Where a list by pages goes on. */
export interface Page {
  /** The version that all pages show; -1: each page shows the present. */
  version: number;
  /** Lower bound of the keys, below the list's prefix. */
  from: string;
}

const FORMAT = "meta.k8s.io/v1";

/** The token of upstream's shape, so that tools which look into it find what they know. */
export function encodeToken({ version, from }: Page): string {
  return Buffer.from(JSON.stringify({ v: FORMAT, rv: version, start: from })).toString("base64url");
}

/** Reads what `encodeToken` wrote. Throws BadRequest that names the wrong part. */
export function decodeToken(token: string): Page {
  const { v: format = "", rv: version, start: from } = parse(token);
  if (format !== FORMAT) throw refused(`: server does not recognize this encoded version ${format}`);
  if (typeof version !== "number" || version === 0)
    throw refused(`: incorrect encoded start resourceVersion (version ${FORMAT})`);
  if (typeof from !== "string" || from === "") throw refused(`: encoded start key empty (version ${FORMAT})`);
  if (from.split("/").some((part, at) => part === "." || part === ".." || (part === "" && at > 0)))
    throw refused(`: ${from}`);
  return { version, from: from.replace(/^\//, "") };
}

function parse(token: string): { v?: unknown; rv?: unknown; start?: unknown } {
  const wrong = /[^\w-]/.exec(token)?.index ?? (token.length % 4 === 1 ? token.length - 1 : undefined);
  if (wrong !== undefined) throw refused(`: illegal base64 data at input byte ${wrong}`);
  try {
    return Object(JSON.parse(Buffer.from(token, "base64url").toString("utf8")));
  } catch {
    throw refused("");
  }
}

function refused(why: string) {
  return badRequest(`invalid continue token: continue key is not valid${why}`);
}
