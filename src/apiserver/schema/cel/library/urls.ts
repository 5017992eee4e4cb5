/** Kubernetes' URL functions. */
import type { Environment } from "@marcbachmann/cel-js";

/** An absolute URL or an absolute path, as Go's `url.ParseRequestURI` takes them. */
class Url {
  readonly scheme: string;
  readonly parsed: URL;
  constructor(text: string) {
    const absolute = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text);
    if (/[\s\p{Cc}]/u.test(text) || (!absolute && !text.startsWith("/")))
      throw new TypeError(
        `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
      );
    this.scheme = absolute?.[1]?.toLowerCase() ?? "";
    this.parsed = new URL(text, "http://none.invalid");
    if (!absolute) this.parsed.hostname = "none.invalid";
  }
  get host(): string {
    return this.scheme === "" ? "" : this.parsed.host;
  }
}

export function registerUrls(environment: Environment): void {
  environment
    .registerType("Url", Url)
    .registerFunction("url(string): Url", (text: string) => new Url(text))
    .registerFunction("isURL(string): bool", (text: string) => {
      try {
        return new Url(text).scheme !== "" || text.startsWith("/");
      } catch {
        return false;
      }
    })
    .registerFunction("Url.getScheme(): string", (url: Url) => url.scheme)
    .registerFunction("Url.getHost(): string", (url: Url) => url.host)
    .registerFunction("Url.getHostname(): string", (url: Url) =>
      url.scheme === "" ? "" : url.parsed.hostname.replace(/^\[|\]$/g, ""),
    )
    .registerFunction("Url.getPort(): string", (url: Url) => (url.scheme === "" ? "" : url.parsed.port))
    .registerFunction("Url.getEscapedPath(): string", (url: Url) => url.parsed.pathname)
    .registerFunction("Url.getQuery(): map<string, dyn>", (url: Url) => {
      const query: Record<string, string[]> = {};
      for (const key of new Set(url.parsed.searchParams.keys())) query[key] = url.parsed.searchParams.getAll(key);
      return query;
    })
    .registerOperator("Url == Url", (a: Url, b: Url) => a.parsed.href === b.parsed.href && a.scheme === b.scheme);
}
