/** URLs as Go reads them: nothing is tidied. */
import { goQuoted } from "../go-text.ts";

export interface GoUrl {
  readonly scheme: string;
  /** With its port. */
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

/** The parts of an absolute URL or path. Throws an `Error` with Go's words for what is none. */
export function parseUrl(text: string): GoUrl {
  // Kubernetes reads it twice: as a request's, which must be absolute, and as any, which ends at its fragment.
  checkRequestUri(text);
  const [, url = "", fragment = ""] = /^([^#]*)#?(.*)$/s.exec(text)!;
  unescaped(fragment);
  return partsOf(url, false);
}

/** Throws an `Error` with Go's words for a text that is no absolute URL or path. */
export function checkRequestUri(text: string): void {
  partsOf(text, true);
}

function partsOf(text: string, isRequest: boolean): GoUrl {
  if (/[\p{Cc}--[\u{80}-\u{9f}]]/v.test(text)) throw new Error("net/url: invalid control character in URL");
  if (text === "") throw new Error("empty url");
  if (text === "*") return { scheme: "", host: "", path: "*", query: "" };
  if (text.startsWith(":")) throw new Error("missing protocol scheme");
  const named = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text);
  const scheme = named?.[1]?.toLowerCase() ?? "";
  const [, rest = "", query = ""] = /^([^?]*)(?:\?(.*))?$/su.exec(text.slice(named?.[0].length ?? 0))!;
  if (!rest.startsWith("/")) {
    if (scheme === "") throw new Error("invalid URI for request");
    return { scheme, host: "", path: "", query };
  }
  const hasHost = scheme !== "" || !(isRequest || rest.startsWith("///"));
  const [, authority, path = ""] = !hasHost ? ["", undefined, rest] : /^(?:\/\/([^/]*))?(.*)$/s.exec(rest)!;
  return { scheme, host: authority === undefined ? "" : hostIn(authority), path: escapedPath(path), query };
}

const PORT = /^(?::\d*)?$/;

function hostIn(authority: string): string {
  const at = authority.lastIndexOf("@");
  const user = authority.slice(0, Math.max(at, 0));
  const host = authority.slice(at + 1);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new Error("net/url: invalid userinfo");
  unescaped(user);
  const bracket = host.startsWith("[") ? host.lastIndexOf("]") : undefined;
  if (bracket === -1) throw new Error("missing ']' in host");
  const colon = host.lastIndexOf(":");
  const port = bracket !== undefined ? host.slice(bracket + 1) : colon < 0 ? "" : host.slice(colon);
  if (!PORT.test(port)) throw new Error(`invalid port ${goQuoted(port)} after host`);
  const odd = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u.exec(host);
  const wrong = /%(?!25|[89A-Fa-f][0-9A-Fa-f]).{0,2}/su.exec(host);
  if (wrong !== null && (odd === null || wrong.index < odd.index)) throw wrongEscape(wrong[0]);
  if (odd !== null) throw new Error(`invalid character ${goQuoted(odd[0])} in host name`);
  return unescaped(host).toString();
}

/** A path with what must be escaped so, and as it is if it is right. */
function escapedPath(path: string): string {
  const bytes = unescaped(path);
  if (/^[A-Za-z0-9\-._~$&+,/:;=@!'()*[\]%]*$/.test(path)) return path;
  return [...bytes]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9\-._~$&+,/:;=@]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

function unescaped(text: string): Buffer {
  const wrong = /%(?![0-9A-Fa-f]{2}).{0,2}/su.exec(text);
  if (wrong !== null) throw wrongEscape(wrong[0]);
  const parts = text.split(/(%[0-9A-Fa-f]{2})/);
  return Buffer.concat(parts.map((part, i) => (i % 2 === 0 ? Buffer.from(part) : Buffer.from(part.slice(1), "hex"))));
}

const wrongEscape = (written: string): Error => new Error(`invalid URL escape ${goQuoted(written)}`);

/** The values of a query by their names; what is not written rightly is left out. */
export function queryValues(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const [, key = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(pair)!;
    try {
      const [name, held] = [key, value].map((part) => unescaped(part.replaceAll("+", " ")).toString()) as [
        string,
        string,
      ];
      values.set(name, [...(values.get(name) ?? []), held]);
    } catch {
      // Not a pair.
    }
  }
  return values;
}
