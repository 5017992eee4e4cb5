import { invalid, required } from "../model/field-error.ts";
import type { FieldError } from "../model/served.ts";
import { subdomainRule } from "../rules/metadata.ts";
import type { ClientConfig } from "./target.ts";

const FORM = "; desired format: https://host[/path]";

/** What is wrong with the `url` or `service` of a clientConfig at `path`; that there is exactly one is the caller's rule. */
export function addressErrors(config: ClientConfig, path: string): FieldError[] {
  if (config.url !== undefined) return urlErrors(config.url, `${path}.url`);
  return config.service === undefined ? [] : serviceErrors(config.service, `${path}.service`);
}

/** RFC 3986 appendix B, the authority split at its user. */
const URL_PARTS = /^(?:([^:/?#]+):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/;

function urlErrors(url: string, path: string): FieldError[] {
  const [, scheme = "", user, host = "", query = "", fragment = ""] = URL_PARTS.exec(url) ?? [];
  const errors: FieldError[] = [];
  if (scheme !== "https") errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (host === "") errors.push(invalid(path, host, `host must be specified${FORM}`));
  if (user !== undefined) errors.push(invalid(path, user, "user information is not permitted in the URL"));
  if (fragment !== "") errors.push(invalid(path, fragment, "fragments are not permitted in the URL"));
  if (query !== "") errors.push(invalid(path, query, "query parameters are not permitted in the URL"));
  return errors;
}

function serviceErrors(service: NonNullable<ClientConfig["service"]>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!service.name) errors.push(required(`${path}.name`));
  if (!service.namespace) errors.push(required(`${path}.namespace`));
  const { port = 443 } = service;
  if (port < 1 || port > 65535)
    errors.push(invalid(`${path}.port`, port, "port is not valid: must be between 1 and 65535, inclusive"));
  return [...errors, ...pathErrors(service.path ?? "", `${path}.path`)];
}

function pathErrors(path: string, field: string): FieldError[] {
  if (path === "" || path === "/") return [];
  if (path === "//") return [invalid(field, path, "segment[0] may not be empty")];
  const errors: FieldError[] = [];
  if (!path.startsWith("/")) errors.push(invalid(field, path, "must start with a '/'"));
  // As upstream: the first character counts as the slash, whatever it is.
  for (const [i, segment] of path.slice(1).replace(/\/$/, "").split("/").entries()) {
    const wrong = segment === "" ? " may not be empty" : prefixed(subdomainRule(segment));
    if (wrong !== undefined) errors.push(invalid(field, path, `segment[${i}]${wrong}`));
  }
  return errors;
}

const prefixed = (rule: string | undefined): string | undefined => (rule === undefined ? undefined : `: ${rule}`);
