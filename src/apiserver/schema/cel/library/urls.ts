/** Kubernetes' URL functions. */
import type { Functions } from "../functions.ts";
import { goQuoted } from "../go-text.ts";
import type { Type } from "../types.ts";
import { CelError, Custom, type Value } from "../values.ts";

const TYPE: Type = { kind: "object", name: "kubernetes.URL", of: [] };

/** An absolute URL or an absolute path, as Go's `url.ParseRequestURI` takes them. */
class Url extends Custom {
  readonly type = TYPE;
  readonly scheme: string;
  readonly parsed: URL;
  constructor(text: string) {
    super();
    const absolute = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text);
    const wrong =
      text === ""
        ? "empty url"
        : /\p{Cc}/u.test(text)
          ? "net/url: invalid control character in URL"
          : !absolute && !text.startsWith("/")
            ? "invalid URI for request"
            : undefined;
    if (wrong !== undefined)
      throw new CelError(`URL parse error during conversion from string: parse ${goQuoted(text)}: ${wrong}`);
    this.scheme = absolute?.[1]?.toLowerCase() ?? "";
    try {
      this.parsed = new URL(text, "http://none.invalid");
    } catch {
      throw new CelError(
        `URL parse error during conversion from string: parse ${goQuoted(text)}: invalid port or host`,
      );
    }
    if (!absolute) this.parsed.hostname = "none.invalid";
    this.authority = /^[^:]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/.exec(text)?.[1] ?? "";
  }
  /** Host and port as they are written. */
  readonly authority: string;
  equals(other: Url): boolean {
    return this.scheme === other.scheme && this.parsed.href === other.parsed.href && this.authority === other.authority;
  }
}

export function registerUrls(functions: Functions): void {
  const name = "kubernetes.URL";
  functions
    .type(TYPE)
    .add("url", "string_to_url", `(string) -> ${name}`, (text: string) => new Url(text))
    .add("isURL", "is_url_string", "(string) -> bool", (text: string) => {
      try {
        return new Url(text).type === TYPE;
      } catch {
        return false;
      }
    })
    .add("getScheme", "url_get_scheme", `${name}.() -> string`, (url: Url) => url.scheme)
    .add("getHost", "url_get_host", `${name}.() -> string`, (url: Url) => url.authority)
    .add("getHostname", "url_get_hostname", `${name}.() -> string`, (url: Url) =>
      url.authority.replace(/:\d*$/, "").replace(/^\[|\]$/g, ""),
    )
    .add("getPort", "url_get_port", `${name}.() -> string`, (url: Url) => /:(\d*)$/.exec(url.authority)?.[1] ?? "")
    .add("getEscapedPath", "url_get_escaped_path", `${name}.() -> string`, (url: Url) => url.parsed.pathname)
    .add("getQuery", "url_get_query", `${name}.() -> map(string, list(string))`, (url: Url) => {
      const query = new Map<Value, Value>();
      for (const key of new Set(url.parsed.searchParams.keys())) query.set(key, url.parsed.searchParams.getAll(key));
      return query;
    });
}
