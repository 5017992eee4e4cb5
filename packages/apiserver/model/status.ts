import { type Code, Fault } from "@slipway/base";
import { Unbounded } from "../json/value.ts";
import { reportedErrors } from "./field-errors.ts";
import type { FieldError } from "./served.ts";

/** Refusals as `meta/v1` Status objects, worded as kube-apiserver words them, since people and programs match on the text. */
export interface Status {
  kind: "Status";
  apiVersion: "v1";
  metadata: Record<string, unknown>;
  status: "Success" | "Failure";
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: { reason?: string; message?: string; field?: string }[];
  retryAfterSeconds?: number;
}

/** A resource as Status messages name it: `pods`, `instancepools.equinix.harvesterhci.io`. */
export interface Named {
  group: string;
  plural: string;
  kind: string;
}

const HTTP_CODE: Partial<Record<Code, number>> = {
  NotFound: 404,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Invalid: 422,
  BadRequest: 400,
  Forbidden: 403,
  Unauthorized: 401,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  UnsupportedMediaType: 415,
  TooLarge: 413,
  Throttled: 429,
  Timeout: 504,
  Unavailable: 503,
};

const REASON: Partial<Record<Code, string>> = {
  Gone: "Expired",
  TooLarge: "RequestEntityTooLarge",
  Throttled: "TooManyRequests",
  Unavailable: "ServiceUnavailable",
  Internal: "InternalError",
};

/** `PLURAL` or `PLURAL.GROUP`, as messages name a resource. */
export function resourceName(resource: Named): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** A fault that carries the Status to answer with. */
export function refusal(code: Code, message: string, details?: StatusDetails, metadata = {}): Fault {
  const status = statusOf(code, message, details, metadata);
  return new Fault(code, "request", message, { details: status });
}

function statusOf(code: Code, message: string, details?: StatusDetails, metadata = {}): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata,
    status: "Failure",
    message,
    reason: REASON[code] ?? (code in HTTP_CODE ? code : "InternalError"),
    ...(details === undefined ? {} : { details }),
    code: HTTP_CODE[code] ?? 500,
  };
}

/** Any thrown thing as the Status that answers the request. What is not a fault is a defect and says no more than that. */
export function statusOfError(error: unknown): Status {
  if (error instanceof Unbounded)
    return statusOf("TooLarge", `Request entity too large: the object is ${error.message}`);
  if (!(error instanceof Fault))
    return statusOf("Internal", "Internal error occurred: the server met a defect of its own");
  const details = error.details as Partial<Status> & StatusDetails;
  if (details?.kind === "Status") return details as Status;
  const prefix = `${error.on}: `;
  const message = error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
  return statusOf(error.code, message, details?.causes === undefined ? undefined : { causes: details.causes });
}

function about(resource: Named, name: string, by: "kind" | "plural" = "plural"): StatusDetails {
  const kind = resource[by];
  return {
    ...(name !== "" && { name }),
    ...(resource.group !== "" && { group: resource.group }),
    ...(kind !== "" && { kind }),
  };
}

/** 404: no such object. */
export function notFound(resource: Named, name: string): Fault {
  return refusal("NotFound", `${resourceName(resource)} "${name}" not found`, about(resource, name));
}

/** 409: there is an object of that name. */
export function alreadyExists(resource: Named, name: string): Fault {
  return refusal("AlreadyExists", `${resourceName(resource)} "${name}" already exists`, about(resource, name));
}

/** 409: the object was changed meanwhile, or a precondition does not hold. */
export function conflict(resource: Named, name: string, why: string): Fault {
  const message = `Operation cannot be fulfilled on ${resourceName(resource)} "${name}": ${why}`;
  return refusal("Conflict", message, about(resource, name));
}

export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

/** 403, by the API's own rules or for missing rights. `causes`: for programs. */
export function forbidden(resource: Named, name: string, why: string, causes?: StatusDetails["causes"]): Fault {
  const object = name === "" ? resourceName(resource) : `${resourceName(resource)} "${name}"`;
  const details = { ...about(resource, name), ...(causes === undefined ? {} : { causes }) };
  return refusal("Forbidden", `${object} is forbidden: ${why}`, details);
}

/** 422 with one cause per field error, as far as `reportedErrors` goes. One error stands bare in the message, several stand in brackets. */
export function invalid(resource: Named, name: string, all: readonly FieldError[]): Fault {
  const errors = reportedErrors(all);
  const texts = [...new Set(errors.map((e) => (e.field === "" ? `<nil>: ${e.message}` : `${e.field}: ${e.message}`)))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const kind = resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`;
  const causes = errors.map((e) => ({
    reason: e.reason,
    message: e.message,
    field: e.field === "" ? "<nil>" : e.field,
  }));
  return refusal("Invalid", `${kind} "${name}" is invalid: ${list}`, { ...about(resource, name, "kind"), causes });
}

/** A failure that upstream has only a text for: 500 without a reason. */
export function unreasoned(message: string): Fault {
  const { reason: _, ...status } = statusOf("Internal", message);
  return new Fault("Internal", "request", message, { details: status });
}

/** 400: the request itself is wrong. */
export function badRequest(message: string): Fault {
  return refusal("BadRequest", message);
}

/** The path names nothing this server has. */
export function noSuchPath(): Fault {
  return refusal("NotFound", "the server could not find the requested resource", {});
}

/** The path is there, the method is not: what upstream's router says before it knows the resource. */
export function noSuchMethod(): Fault {
  return refusal("MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

/** 405: the resource does not have that verb. */
export function methodNotAllowed(resource: Named, verb: string): Fault {
  return refusal(
    "MethodNotAllowed",
    `${verb} is not supported on resources of kind "${resourceName(resource)}"`,
    about(resource, ""),
  );
}

/** 410: what a watch or a continued list asks for is no longer remembered. */
export function expired(message: string, continueToken?: string): Fault {
  return refusal("Gone", message, undefined, continueToken === undefined ? {} : { continue: continueToken });
}
