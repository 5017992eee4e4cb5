/** Kubernetes' URL functions. */
import type { Functions } from "../functions.ts";
import { goQuoted } from "../go-text.ts";
import type { Type } from "../types.ts";
import { CelError, Custom } from "../values.ts";
import { type GoUrl, parseUrl, queryValues } from "./go-url.ts";

const TYPE: Type = { kind: "object", name: "kubernetes.URL", of: [] };

/** An absolute URL or an absolute path. */
class Url extends Custom {
  readonly type = TYPE;
  readonly text: string;
  readonly parts: GoUrl;
  constructor(text: string) {
    super();
    this.text = text;
    try {
      this.parts = parseUrl(text);
    } catch (error) {
      const wrong = `parse ${goQuoted(text)}: ${(error as Error).message}`;
      throw new CelError(`URL parse error during conversion from string: ${wrong}`);
    }
  }
  get port(): string | undefined {
    return /:(\d*)$/.exec(this.parts.host)?.[1];
  }
  get hostname(): string {
    return this.parts.host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/s, "$1");
  }
  equals(other: Url): boolean {
    return this.text === other.text;
  }
}

/** Adds Kubernetes' `url` library. */
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
    .add("getScheme", "url_get_scheme", `${name}.() -> string`, (url: Url) => url.parts.scheme)
    .add("getHost", "url_get_host", `${name}.() -> string`, (url: Url) => url.parts.host)
    .add("getHostname", "url_get_hostname", `${name}.() -> string`, (url: Url) => url.hostname)
    .add("getPort", "url_get_port", `${name}.() -> string`, (url: Url) => url.port ?? "")
    .add("getEscapedPath", "url_get_escaped_path", `${name}.() -> string`, (url: Url) => url.parts.path)
    .add("getQuery", "url_get_query", `${name}.() -> map(string, list(string))`, (url: Url) =>
      queryValues(url.parts.query),
    );
}
