import { type Code, Fault } from "@slipway/base";
import type { Status } from "./core.ts";
import type { ApiAnswer } from "./transport.ts";

/** `metav1.StatusReason` → code. A reason that is not listed is judged by its HTTP status. */
const BY_REASON: Readonly<Record<string, Code>> = {
  NotFound: "NotFound",
  AlreadyExists: "AlreadyExists",
  Conflict: "Conflict",
  Gone: "Gone",
  Expired: "Gone",
  Invalid: "Invalid",
  BadRequest: "BadRequest",
  Forbidden: "Forbidden",
  Unauthorized: "Unauthorized",
  MethodNotAllowed: "MethodNotAllowed",
  NotAcceptable: "NotAcceptable",
  UnsupportedMediaType: "UnsupportedMediaType",
  RequestEntityTooLarge: "TooLarge",
  TooManyRequests: "Throttled",
  Timeout: "Timeout",
  ServerTimeout: "Timeout",
  ServiceUnavailable: "Unavailable",
  InternalError: "Internal",
};

const BY_STATUS: Readonly<Record<number, Code>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  408: "Timeout",
  409: "Conflict",
  410: "Gone",
  413: "TooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "Throttled",
  502: "Unavailable",
  503: "Unavailable",
  504: "Timeout",
};

const REMEDIES: Partial<Record<Code, string>> = {
  Unauthorized: "check the credentials of the connection to the Kubernetes API",
  Forbidden: "check the RBAC rules of this identity",
};

const LONGEST_MESSAGE = 2048;

/**
 * An error answer as a fault. Its details are the `Status` object, causes included.
 * For Secrets the server's text is left out, since validation messages quote the refused value.
 */
export function faultOf(answer: Pick<ApiAnswer, "status" | "headers" | "body">, on: string): Fault {
  const status = statusOf(answer.body);
  const code = codeOf(answer.status, status?.reason);
  const secret = on.startsWith("Secret/");
  const text = status?.message ?? (typeof answer.body === "string" ? answer.body : undefined);
  const message = secret ? fieldsOnly(answer.status, status) : (text ?? `the API answered ${answer.status}`);
  const retryAfterMs = retryAfter(answer.headers, status);
  const remedy = REMEDIES[code];
  return new Fault(code, on, message.slice(0, LONGEST_MESSAGE).trim(), {
    ...(status !== undefined && !secret ? { details: status } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(remedy === undefined ? {} : { remedy }),
  });
}

/** The fault that an ERROR event of a watch carries. */
export function watchFault(object: unknown, on: string): Fault {
  const status = statusOf(object);
  return faultOf({ status: status?.code ?? 500, headers: {}, body: object }, on);
}

/** Whether an eviction was refused because of a disruption budget, which waiting inside a call does not help. */
export function forbiddenByBudget(fault: Fault): boolean {
  const status = statusOf(fault.details);
  return fault.code === "Throttled" && status?.details?.causes?.some((c) => c.reason === "DisruptionBudget") === true;
}

function codeOf(httpStatus: number, reason: string | undefined): Code {
  const known = reason === undefined ? undefined : BY_REASON[reason];
  return known ?? BY_STATUS[httpStatus] ?? (httpStatus >= 500 ? "Internal" : "BadRequest");
}

function statusOf(body: unknown): Status | undefined {
  const is = typeof body === "object" && body !== null && (body as { kind?: unknown }).kind === "Status";
  return is ? (body as Status) : undefined;
}

function fieldsOnly(httpStatus: number, status: Status | undefined): string {
  const fields = (status?.details?.causes ?? []).map((cause) => cause.field).filter((f) => f !== undefined);
  const at = fields.length === 0 ? "" : ` at ${fields.join(", ")}`;
  return `the API answered ${httpStatus} ${status?.reason ?? ""}`.trimEnd() + at;
}

/** Retry-After in seconds (RFC 9110 §10.2.3; the API never sends its date form), or the Status object's own field. */
function retryAfter(headers: Readonly<Record<string, string>>, status: Status | undefined): number | undefined {
  const header = headers["retry-after"];
  if (header !== undefined && /^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const seconds = status?.details?.retryAfterSeconds;
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined;
}
